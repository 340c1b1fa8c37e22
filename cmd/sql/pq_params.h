/* SPDX-License-Identifier: MIT */
/* pq_params.h - the values of a query's parameters as PostgreSQL's library takes them. */
#ifndef SQL_PQ_PARAMS_H
#define SQL_PQ_PARAMS_H

#include "query.h"

/* Their types as PostgreSQL numbers them, 0 for what it finds out: the caller frees them. */
unsigned *pq_params_types(const struct query *query);
/* A value's text, NULL for NULL; the caller frees it. */
char *pq_params_text(const json_t *value);

#endif
