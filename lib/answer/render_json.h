/* SPDX-License-Identifier: MIT */
/*
 * render_json.h - a cell's result as one JSON object, with CodeBoxMCP's keys and ptycell's, then
 * its images.
 */
#ifndef ANSWER_RENDER_JSON_H
#define ANSWER_RENDER_JSON_H

struct exec_result;
struct mcp_call;
struct wording;

enum { RENDER_ARTIFACTS_BYTES_MAX = 130000 /* of each list of files */ };

/* Ends the call with the result, once the session's files are listed. */
void render_json_finish(struct mcp_call *call, const struct wording *wording,
			const struct exec_result *result);

#endif
