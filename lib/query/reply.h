/* SPDX-License-Identifier: MIT */
/*
 * reply.h - checks what ptycell-sql (cmd/sql/main.c) replies to a query.
 *
 * A reply is treated as an attacker's data: the helper reads untrusted bytes and may be taken over.
 */
#ifndef QUERY_REPLY_H
#define QUERY_REPLY_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"

enum query_reply_kind {
	QUERY_REPLY_NOTHING, /* about another query */
	QUERY_REPLY_ROWS,
	QUERY_REPLY_SLOW,
	QUERY_REPLY_ANSWER,
	QUERY_REPLY_FAILED, /* or the reply is malformed */
};

struct query_reply {
	enum query_reply_kind kind;
	uint64_t rows;        /* so far */
	const char *slow;     /* why it takes so long */
	const json_t *answer; /* {"columns", "rows", "more", "row_count", ...}: each row as long
				 as the columns, but at most RESULT_RECORD_COLUMNS in "more"; no
				 number negative */
	struct err err;
};

/* Sets *ret, which borrows from `reply`. `query` is the number of the running query. */
void query_reply_read(const json_t *reply, json_int_t query, struct query_reply *ret);

#endif
