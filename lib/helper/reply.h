/* SPDX-License-Identifier: MIT */
/*
 * reply.h - parses the lines that a helper writes to its stdout.
 *
 *   {"progress": OBJECT}                              any number of these
 *   {"result": OBJECT}                                then one of these two, and nothing more
 *   {"error": {"code": "limit", "message": "..."}}    codes are those of err_code_name
 *
 * Hostile input may have taken a helper over. The size of a line and the total are therefore
 * bounded, and everything in them is data, never a path to open.
 */
#ifndef HELPER_REPLY_H
#define HELPER_REPLY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

enum { REPLY_LINE_MAX = 1 << 20, REPLY_TOTAL_MAX = 64 << 20 };

struct reply {
	struct buf line; /* the unfinished line */
	size_t total;
	bool broken;
	bool failed;    /* an "error" line was read; `error` holds it */
	json_t *result; /* of the "result" line; NULL before */
	struct err error;
	void (*progress)(struct reply *reply, const json_t *progress); /* may be NULL */
};

/* Prepares an empty reply. `progress` is called from reply_feed for each progress line. */
void reply_init(struct reply *reply, void (*progress)(struct reply *reply, const json_t *progress));
void reply_release(struct reply *reply);
/*
 * Adds bytes of the helper's output. Returns -1 and sets ERR_INTERNAL if they are malformed,
 * ERR_LIMIT past a maximum. After a failure it always returns ERR_INTERNAL.
 */
int reply_feed(struct reply *reply, const char *data, size_t len, struct err *err) MUST_CHECK;
/* Returns whether a result or an error was read. */
bool reply_complete(const struct reply *reply);

#endif
