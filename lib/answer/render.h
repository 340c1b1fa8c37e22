/* SPDX-License-Identifier: MIT */
/*
 * render.h - a cell's end as the answer of exec_code.
 *
 * Content blocks in this order: notice (if any); one text, what a person would have seen on the
 * terminal, then the last value or the traceback, then what to do next; images; resource links;
 * the status line, one line, always last. With RESULTS_JSON instead: one JSON object with
 * CodeBoxMCP's keys plus ours, then the images.
 */
#ifndef ANSWER_RENDER_H
#define ANSWER_RENDER_H

#include <jansson.h>

#include "config/settings.h"

struct cell;
struct exec_result;
struct mcp_call;
struct history;

enum {
	RENDER_IMAGES_MAX = 4,
	RENDER_ARTIFACTS_BYTES_MAX = 130000, /* of each list in a JSON result */
	RENDER_IMAGE_BASE64_MAX = 600000,    /* of all images together */
	RENDER_LINKS_MAX = 20,
};

/* Ends the call with the result. `history` gives what is recorded of it. */
void render_finish(struct mcp_call *call, enum settings_results results,
		   const struct history *history, const struct exec_result *result);

#endif
