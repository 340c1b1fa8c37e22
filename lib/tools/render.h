/* SPDX-License-Identifier: MIT */
/*
 * render.h - a cell's end as the answer of exec_code.
 *
 * Content blocks in this order: notice (if any); one text, what a person would have seen on the
 * terminal, then the last value or the traceback, then what to do next; images; resource links;
 * the status line, one line, always last. With RESULTS_JSON instead: one JSON object with
 * CodeBoxMCP's keys plus ours, then the images.
 */
#ifndef TOOLS_RENDER_H
#define TOOLS_RENDER_H

#include <jansson.h>

struct cell;
struct exec_result;
struct mcp_call;
struct service;

enum {
	RENDER_IMAGES_MAX = 4,
	RENDER_ARTIFACTS_BYTES_MAX = 130000, /* of each list in a JSON result */
	RENDER_IMAGE_BASE64_MAX = 600000,    /* of all images together */
	RENDER_LINKS_MAX = 20,
};

/* Ends the call. */
void render_finish(struct mcp_call *call, const struct service *service,
		   const struct exec_result *result);

#endif
