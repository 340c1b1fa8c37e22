/* SPDX-License-Identifier: MIT */
/*
 * query.h - one query as it was requested and, once it is checked, the statement in it. All members
 * are borrowed.
 */
#ifndef SQL_QUERY_H
#define SQL_QUERY_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct query {
	/* Set by the check: the whole text, NUL-terminated. Positions in messages refer to it. */
	const char *whole;
	const char *text; /* the whole text; after the check, the statement within `whole` */
	size_t len;
	const json_t *params; /* an array, or NULL */
	uint64_t timeout_ms;  /* when the server ends the query; 0: never */
	uint64_t rows_max;    /* how many rows are wanted at most */
};

#endif
