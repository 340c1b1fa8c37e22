/* SPDX-License-Identifier: MIT */
/* media.h - the images and sounds of a cell as blocks of an answer. */
#ifndef ANSWER_MEDIA_H
#define ANSWER_MEDIA_H

#include <jansson.h>
#include <stddef.h>

struct cell;
struct cell_image;

enum {
	MEDIA_IMAGES_MAX = 4,
	MEDIA_BASE64_MAX = 600000, /* of all images and sounds together */
};

/* The images of one answer. They belong to the cell. */
struct shown_images {
	const struct cell_image *images[MEDIA_IMAGES_MAX];
	size_t count;
	size_t left_out; /* others, which are stored in output/ */
	size_t bytes;    /* of all, as base64 */
};

/* Appends the images that fit; a later image may fit where an earlier one did not. */
struct shown_images media_add_images(json_t *content, const struct cell *cell);
/* Appends the sounds that fit beside images of so many bytes. */
void media_add_sounds(json_t *content, const struct cell *cell, size_t bytes);
/* Appends both. */
void media_add(json_t *content, const struct cell *cell);

#endif
