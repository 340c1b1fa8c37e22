/* SPDX-License-Identifier: MIT */
/*
 * requests.h - takes the lines that the driver writes while a cell runs: whether the cell traps
 * SIGINT. They may come between the lines of other messages.
 */
#ifndef RUNTIME_BASH_REQUESTS_H
#define RUNTIME_BASH_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { REQUEST_MAX = 4096 }; /* size that a pipe accepts at once */

/* Returns the first line of `text` that begins with `mark`, searched from offset `from` on. */
const char *requests_find_line(const char *text, size_t len, size_t from, const char *mark);

/*
 * Removes a complete line that begins between `from` and `limit` of the input and appends its
 * frame. Returns whether there was one.
 */
bool requests_take(struct buf *in, const char *nonce, size_t from, size_t limit,
		   struct buf *frames);

#endif
