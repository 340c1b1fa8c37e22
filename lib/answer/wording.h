/* SPDX-License-Identifier: MIT */
/* wording.h - the texts of an answer, made before a renderer puts them into their form. */
#ifndef ANSWER_WORDING_H
#define ANSWER_WORDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct exec_result;

struct wording {
	struct buf *earlier; /* one text for each of the result's earlier cells, in their order */
	size_t earlier_count;
	struct buf text;   /* output, value or traceback, then what happened and what to do next */
	struct buf links;  /* new links to results in the storage, for the user; mostly empty */
	struct buf status; /* the status line, without a newline */
	bool is_error;     /* the code failed or did not run */
};

/* Returns the texts of a result. The caller releases them. */
struct wording wording_make(const struct exec_result *result);
void wording_release(struct wording *wording);

#endif
