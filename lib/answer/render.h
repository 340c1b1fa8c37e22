/* SPDX-License-Identifier: MIT */
/*
 * render.h - a cell's result as the blocks of an answer.
 *
 * Their order: the notice; earlier cells with their images; one text; images and sounds, and how
 * many figures there are; resource links, links to the storage; the status line. All but the status
 * line may be missing. The text has what a terminal would show, the last value or the traceback,
 * and what to do next. Resource links are for the user alone, and name files that are not shown as
 * images.
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
