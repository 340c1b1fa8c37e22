/* SPDX-License-Identifier: MIT */
/*
 * said.h - what ptycell-sql says about a query (cmd/sql/main.c), as data of an attacker: it reads
 * foreign bytes and may have been taken over.
 */
#ifndef TOOLS_SAID_H
#define TOOLS_SAID_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"

enum said_kind {
	SAID_NOTHING, /* about another query */
	SAID_ROWS,
	SAID_SLOW,
	SAID_ANSWER,
	SAID_FAILED, /* also what is no answer */
};

struct said {
	enum said_kind kind;
	uint64_t rows;        /* so far */
	const char *slow;     /* why it takes so long */
	const json_t *answer; /* {"columns", "rows", "row_count", ...}: each row as long as the
				 columns, numbers not negative */
	struct err err;
};

/* `query` is the number of the one that runs; `said` is borrowed. */
void said_read(const json_t *said, json_int_t query, struct said *ret);

#endif
