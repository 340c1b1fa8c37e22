/* SPDX-License-Identifier: MIT */
/*
 * render.h - a cell's result as the answer of exec_code or interact.
 *
 * The content blocks have this order: the notice, if any; one text; images; resource links to the
 * files that are no images here, for the user alone; the status line, always last. The text has
 * what a terminal would show, the last value or the traceback, and what to do next. With
 * RESULTS_JSON there is one JSON object instead, with CodeBoxMCP's keys and ptycell's, then the
 * images.
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

/* Ends the call with the result. `history` has the record of the cell. */
void render_finish(struct mcp_call *call, enum settings_results results,
		   const struct history *history, const struct exec_result *result);

#endif
