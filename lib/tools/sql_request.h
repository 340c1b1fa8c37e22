/* SPDX-License-Identifier: MIT */
/* sql_request.h - the arguments of exec_sql. */
#ifndef TOOLS_SQL_REQUEST_H
#define TOOLS_SQL_REQUEST_H

#include <jansson.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct service;
struct settings;

/* Everything in it is borrowed from the arguments. */
struct sql_request {
	const char *query;
	size_t query_len;
	json_t *params;       /* an array, or NULL */
	const char *database; /* NULL: none is named */
};

/* Reads and checks the arguments. Returns -1 and sets *err, mostly to ERR_INVALID. */
int sql_request_read(const struct service *service, json_t *arguments, struct sql_request *ret,
		     struct err *err) MUST_CHECK;
/*
 * Appends the names of the user's databases if the query named none, and failed because the
 * session's files lack its table.
 */
void sql_request_put_databases(const struct sql_request *request, const struct settings *settings,
			       const struct err *err, struct buf *text);

#endif
