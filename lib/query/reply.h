/* SPDX-License-Identifier: MIT */
/*
 * said.h - what ptycell-sql says about a query (cmd/sql/main.c), as data of an attacker: it reads
 * foreign bytes and may have been taken over.
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
	QUERY_REPLY_FAILED, /* also what is no answer */
};

struct query_reply {
	enum query_reply_kind kind;
	uint64_t rows;        /* so far */
	const char *slow;     /* why it takes so long */
	const json_t *answer; /* {"columns", "rows", "schema_count", ...}: each row as long as the
				 columns, numbers not negative */
	struct err err;
};

/* `query` is the number of the one that runs; `said` is borrowed. */
void query_reply_read(const json_t *said, json_int_t query, struct query_reply *ret);

#endif
