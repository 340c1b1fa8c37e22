/* SPDX-License-Identifier: MIT */
/* mime.h - the type of a file: by its extension, and of images and sounds by their bytes. */
#ifndef TEXT_MIME_H
#define TEXT_MIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns the type by the extension, in any case; "application/octet-stream" if unknown. The result
 * is static.
 */
const char *mime_of_name(const char *filename);
/*
 * Returns the extension with its dot, "" if there is none (".bashrc" has none). Points into
 * `filename`.
 */
const char *mime_extension(const char *filename);
/* Returns whether the bytes of this type are text when they are valid UTF-8. */
bool mime_is_text(const char *mime);

/*
 * Recognises a PNG or JPEG by its signature and reads its dimensions from IHDR or the SOF marker.
 * Returns false if the bytes are no complete header of one. `ret_mime` is static.
 */
bool mime_image(const void *data, size_t len, const char **ret_mime, uint32_t *ret_width,
		uint32_t *ret_height);
/* Recognises WAV, MP3, Ogg and FLAC by their first bytes. Returns NULL for others. */
const char *mime_sound(const void *data, size_t len);

#endif
