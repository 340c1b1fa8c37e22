/* SPDX-License-Identifier: MIT */
/*
 * media.c - puts a cell's images and sounds into an answer.
 *
 * An answer is one line of the transport, so they share a budget of bytes. Those without room stay
 * in output/.
 */
#include "answer/media.h"

#include "json/make.h"
#include "mcp/server.h"
#include "runner/cell.h"
#include "text/base64.h"

struct shown_images media_add_images(json_t *content, const struct cell *cell)
{
	struct shown_images shown = { .left_out = cell->images_dropped_saved };

	list_for_each (const struct cell_image, image, &cell->images, node) {
		size_t len = base64_encoded_len(image->len);

		if (image->shown)
			continue;
		if (shown.count == MEDIA_IMAGES_MAX || shown.bytes + len > MEDIA_BASE64_MAX) {
			shown.left_out += image->file != NULL ? 1 : 0;
			continue;
		}
		json_append(content, mcp_image(image->data, image->len, image->mime));
		shown.images[shown.count++] = image;
		shown.bytes += len;
	}
	return shown;
}

void media_add_sounds(json_t *content, const struct cell *cell, size_t bytes)
{
	list_for_each (const struct cell_image, sound, &cell->sounds, node) {
		size_t len = base64_encoded_len(sound->len);

		if (sound->shown || bytes + len > MEDIA_BASE64_MAX)
			continue;
		json_append(content, mcp_audio(sound->data, sound->len, sound->mime));
		bytes += len;
	}
}

void media_add(json_t *content, const struct cell *cell)
{
	struct shown_images shown = media_add_images(content, cell);

	media_add_sounds(content, cell, shown.bytes);
}
