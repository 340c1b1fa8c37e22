/* SPDX-License-Identifier: MIT */
/*
 * render.h - a cell's result as the blocks of an answer.
 *
 * Their order: the notice, if any; one text; images; resource links to the files that are no images
 * here, for the user alone; the status line, always last. The text has what a terminal would show,
 * the last value or the traceback, and what to do next.
 */
#ifndef ANSWER_RENDER_H
#define ANSWER_RENDER_H

#include <jansson.h>

struct exec_result;
struct mcp_call;
struct wording;

enum { RENDER_LINKS_MAX = 20 };

/* Ends the call with the result. `record_own` is the cell's record, for the answer's _meta. */
void render_finish(struct mcp_call *call, const struct wording *wording, json_t *record_own,
		   const struct exec_result *result);

#endif
