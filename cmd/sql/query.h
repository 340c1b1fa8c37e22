/* SPDX-License-Identifier: MIT */
/*
 * query.h - one query, as it was ordered; once it is checked, the statement in it. Everything is
 * borrowed.
 */
#ifndef SQL_QUERY_H
#define SQL_QUERY_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct query {
	const char
		*whole;   /* once it is checked: all of it, NUL-terminated; places are told in it */
	const char *text; /* all of it; once it is checked, the statement in `whole` */
	size_t len;
	const json_t *params; /* an array, or NULL */
	uint64_t timeout_ms;  /* when the server stops it; 0: never */
	uint64_t rows_max;    /* how many rows are wanted at most */
};

#endif
