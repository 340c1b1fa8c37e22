/* SPDX-License-Identifier: MIT */
/* mime.h - what kind of file: by extension, and images by their bytes. */
#ifndef TEXT_MIME_H
#define TEXT_MIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By the extension, case-insensitive; "application/octet-stream" when unknown. Static storage. */
const char *mime_of_name(const char *filename);
/* The extension with its dot, "" when there is none (".bashrc" has none). Points into `filename`.
 */
const char *mime_extension(const char *filename);
/* True for types whose bytes are text when they are valid UTF-8. */
bool mime_is_text(const char *mime);

/*
 * A PNG or JPEG by its signature, with dimensions from IHDR or the SOF marker. Returns false
 * when the bytes are not a complete header of one. `ret_mime` is static storage.
 */
bool mime_image(const void *data, size_t len, const char **ret_mime, uint32_t *ret_width,
		uint32_t *ret_height);

#endif
