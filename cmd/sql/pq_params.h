/* SPDX-License-Identifier: MIT */
/* pq_params.h - a query's parameters in the form of PostgreSQL's library. */
#ifndef SQL_PQ_PARAMS_H
#define SQL_PQ_PARAMS_H

#include <jansson.h>

#include "base/err.h"
#include "query.h"

enum { PQ_REAL_SIZE = 32 };

/*
 * Returns the query with $1, $2, ... for its parameters. The caller frees it. They are set between
 * blanks, as "a$1" is a name and "$$1" begins a string. Returns NULL and sets *err for a numbered
 * parameter, ?1 or $1.
 */
char *pq_params_number(const struct query *query, struct err *err) MUST_CHECK;

/*
 * Returns their types by PostgreSQL's numbers, 0 for a type that it infers. The caller frees them.
 */
unsigned *pq_params_types(const json_t *params);
/* Returns a value's text, or NULL for NULL. The caller frees it. */
char *pq_params_text(const json_t *value);
/* Writes the shortest text with a point or an exponent that reads back as the same number. */
void pq_params_real(double value, char text[PQ_REAL_SIZE]);

#endif
