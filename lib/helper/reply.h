/* SPDX-License-Identifier: MIT */
/*
 * reply.h - what a helper says on its stdout, line by line.
 *
 *   {"progress": OBJECT}                                  any number of these
 *   {"result": OBJECT}                                    then one of these two, and nothing more
 *   {"error": {"code": "limit", "message": "..."}}        codes are those of err_code_name
 *
 * A helper may have been taken over by what it reads: lines and their sum are capped, and
 * everything in them is data, never a path to open.
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
	struct buf line; /* the unfinished one */
	size_t total;
	bool broken;
	bool failed;    /* it said "error": `error` holds it */
	json_t *result; /* it said "result" */
	struct err error;
	void (*progress)(struct reply *reply, const json_t *progress); /* may be NULL */
};

void reply_init(struct reply *reply, void (*progress)(struct reply *reply, const json_t *progress));
void reply_release(struct reply *reply);
/* ERR_INTERNAL for what is no reply, ERR_LIMIT past a cap; after a failure always ERR_INTERNAL. */
int reply_feed(struct reply *reply, const char *data, size_t len, struct err *err) MUST_CHECK;
/* True when a result or an error was read. */
bool reply_complete(const struct reply *reply);

#endif
