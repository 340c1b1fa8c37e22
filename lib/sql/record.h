/* SPDX-License-Identifier: MIT */
/*
 * record.h - a whole row as PostgreSQL writes it in one text: (1,"a, ""b""",,"").
 *
 * https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-IO-SYNTAX
 */
#ifndef SQL_RECORD_H
#define SQL_RECORD_H

#include <stddef.h>

struct record {
	char *at;  /* the next value, NULL behind the last one */
	char *end; /* the closing parenthesis */
};

struct record_value {
	char *s; /* NUL-terminated, in the text; NULL for NULL */
	size_t len;
};

/* `text`, which has room for a NUL behind it, is changed by reading. -1: not a row. */
int record_start(struct record *record, char *text, size_t len);
/* 1 with a value, 0 behind the last one, -1 for what is no row. */
int record_next(struct record *record, struct record_value *ret);

#endif
