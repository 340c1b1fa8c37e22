/* SPDX-License-Identifier: MIT */
/* pq_params.h - the values of a query's parameters as PostgreSQL's library takes them. */
#ifndef SQL_PQ_PARAMS_H
#define SQL_PQ_PARAMS_H

#include <jansson.h>

#include "base/err.h"
#include "query.h"

enum { PQ_REAL_SIZE = 32 };

/*
 * The query with $1, $2, ... in the places of its parameters, which the caller frees: between
 * blanks, as "a$1" is a name and "$$1" begins a string. NULL with `err` set where one has a number:
 * ?1 or $1.
 */
char *pq_params_number(const struct query *query, struct err *err) MUST_CHECK;

/* Their types as PostgreSQL numbers them, 0 for what it finds out: the caller frees them. */
unsigned *pq_params_types(const json_t *params);
/* A value's text, NULL for NULL; the caller frees it. */
char *pq_params_text(const json_t *value);
/* The shortest text with a point or an exponent that reads back as the same number. */
void pq_params_real(double value, char text[PQ_REAL_SIZE]);

#endif
