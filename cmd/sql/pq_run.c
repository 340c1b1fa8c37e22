/* SPDX-License-Identifier: MIT */
/*
 * pq_run.c - runs a query by libpq. The functions of libpq are found when they are first needed, in
 * the library that the driver has loaded. The query is prepared, described and sent in single-row
 * mode, so a result never fills memory. When no more rows are wanted the query is cancelled, but
 * its results are read to the end: only then the connection is free again.
 */
#include "pq_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "pq.h"
#include "pq_params.h"

/* Of libpq's ExecStatusType. */
enum { STATUS_COMMAND_OK = 1, STATUS_TUPLES_OK = 2, STATUS_SINGLE_TUPLE = 9 };
/* Fields of an error in the protocol. */
enum { FIELD_LEVEL = 'S', FIELD_STATE = 'C', FIELD_MESSAGE = 'M' };

static const char unnamed[] = "";

static struct {
	void *(*prepare)(void *connection, const char *name, const char *query, int count,
			 const unsigned *types);
	void *(*describe)(void *connection, const char *name);
	int (*send_prepared)(void *connection, const char *name, int count,
			     const char *const *values, const int *lengths, const int *formats,
			     int result_format);
	int (*set_single_row_mode)(void *connection);
	void *(*set_notice_receiver)(void *connection, void (*take)(void *, const void *),
				     void *data);
	void *(*get_result)(void *connection);
	int (*status)(const void *result);
	int (*column_count)(const void *result);
	char *(*column_name)(const void *result, int column);
	unsigned (*column_type)(const void *result, int column);
	int (*count)(const void *result);
	int (*is_null)(const void *result, int row, int column);
	char *(*value)(const void *result, int row, int column);
	int (*length)(const void *result, int row, int column);
	void (*clear)(void *result);
	char *(*connection_error)(const void *connection);
} lib;

bool pq_can_run(void)
{
	return pq_connection() != NULL && pq_find("PQprepare", &lib.prepare) &&
	       pq_find("PQdescribePrepared", &lib.describe) &&
	       pq_find("PQsendQueryPrepared", &lib.send_prepared) &&
	       pq_find("PQsetSingleRowMode", &lib.set_single_row_mode) &&
	       pq_find("PQsetNoticeReceiver", &lib.set_notice_receiver) &&
	       pq_find("PQgetResult", &lib.get_result) && pq_find("PQresultStatus", &lib.status) &&
	       pq_find("PQnfields", &lib.column_count) && pq_find("PQfname", &lib.column_name) &&
	       pq_find("PQftype", &lib.column_type) && pq_find("PQntuples", &lib.count) &&
	       pq_find("PQgetisnull", &lib.is_null) && pq_find("PQgetvalue", &lib.value) &&
	       pq_find("PQgetlength", &lib.length) && pq_find("PQclear", &lib.clear) &&
	       pq_find("PQerrorMessage", &lib.connection_error);
}

struct run {
	const struct pq_taker *taker;
	struct pq_value *values; /* of a row */
	int columns;
	char *state;
	bool full;
};

/* Sets *err to PostgreSQL's message, without text of psqlodbc. Always returns -1. */
static int fail_run(struct run *run, const void *result, struct err *err)
{
	const char *message = PQresultErrorField(result, FIELD_MESSAGE);
	const char *state = PQresultErrorField(result, FIELD_STATE);
	cleanup_free char *lost = NULL;

	if (message == NULL) {
		lost = xstrdup(lib.connection_error(pq_connection()));
		message = lost;
		state = "08006";
	}
	(void)snprintf(run->state, PQ_STATE_SIZE, "%s", state != NULL ? state : "HY000");
	return err_set(err, ERR_INVALID, "%s (SQLSTATE %s)", message, run->state);
}

static int take_rows(struct run *run, const void *result, struct err *err)
{
	for (int row = 0; row < lib.count(result) && !run->full; row++) {
		for (int i = 0; i < run->columns; i++)
			run->values[i] = (struct pq_value){
				.s = lib.is_null(result, row, i) ? NULL : lib.value(result, row, i),
				.len = (size_t)lib.length(result, row, i),
			};
		if (run->taker->row(run->taker->data, run->values, &run->full, err) < 0)
			return -1;
	}
	return 0;
}

static int take_result(struct run *run, const void *result, struct err *err)
{
	int status = lib.status(result);

	if (status != STATUS_TUPLES_OK && status != STATUS_SINGLE_TUPLE)
		return fail_run(run, result, err);
	return take_rows(run, result, err);
}

/* Reads all results: the connection is free again only then. An unwanted rest is cancelled. */
static int take_all(struct run *run, struct err *err)
{
	bool over = false;
	int failed = 0;
	void *result;

	while ((result = lib.get_result(pq_connection())) != NULL) {
		if (!over) {
			failed = take_result(run, result, err);
			over = failed < 0 || run->full;
			if (over)
				(void)pq_cancel();
		}
		lib.clear(result);
	}
	return failed;
}

/* ---- before the rows ---- */

static int prepare_query(struct run *run, const struct pq_query *query, struct err *err)
{
	cleanup_free unsigned *types = pq_params_types(query->params);
	void *result;
	int failed = 0;

	pq_sends(query->text);
	result = lib.prepare(pq_connection(), unnamed, query->text,
			     (int)json_array_size(query->params), types);
	if (lib.status(result) != STATUS_COMMAND_OK)
		failed = fail_run(run, result, err);
	lib.clear(result);
	return failed;
}

static int take_columns(struct run *run, const void *result, struct err *err)
{
	struct pq_column *columns;
	int failed;

	run->columns = lib.column_count(result);
	columns = xcalloc((size_t)run->columns + 1, sizeof(*columns));
	for (int i = 0; i < run->columns; i++)
		columns[i] = (struct pq_column){ .name = lib.column_name(result, i),
						 .type = lib.column_type(result, i) };
	failed = run->taker->columns(run->taker->data, columns, run->columns, err);
	free(columns);
	return failed;
}

static int describe_query(struct run *run, struct err *err)
{
	void *result = lib.describe(pq_connection(), unnamed);
	int failed = lib.status(result) == STATUS_COMMAND_OK ? take_columns(run, result, err)
							     : fail_run(run, result, err);

	lib.clear(result);
	return failed;
}

static bool send_query(const struct pq_query *query)
{
	size_t count = json_array_size(query->params);
	char **values = xcalloc(count + 1, sizeof(*values));
	bool sent;

	for (size_t i = 0; i < count; i++)
		values[i] = pq_params_text(json_array_get(query->params, i));
	sent = lib.send_prepared(pq_connection(), unnamed, (int)count, (const char *const *)values,
				 NULL, NULL, 0) != 0;
	for (size_t i = 0; i < count; i++)
		free(values[i]);
	free(values);
	return sent && lib.set_single_row_mode(pq_connection()) != 0;
}

static void take_notice(void *data, const void *notice)
{
	const struct pq_taker *taker = data;
	const char *level = PQresultErrorField(notice, FIELD_LEVEL);
	const char *state = PQresultErrorField(notice, FIELD_STATE);
	const char *message = PQresultErrorField(notice, FIELD_MESSAGE);

	if (level != NULL && state != NULL && message != NULL)
		taker->notice(taker->data, level, state, message);
}

static void ignore_notice(void *data, const void *notice)
{
	(void)data;
	(void)notice;
}

static int run_all(struct run *run, const struct pq_query *query, struct err *err)
{
	if (prepare_query(run, query, err) < 0 || describe_query(run, err) < 0)
		return -1;
	run->values = xcalloc((size_t)run->columns + 1, sizeof(*run->values));
	return send_query(query) ? take_all(run, err) : fail_run(run, NULL, err);
}

/* Sets the receiver of notices for each query, as psqlodbc does for its own. */
int pq_run(const struct pq_query *query, const struct pq_taker *taker, char *ret_state,
	   struct err *err)
{
	struct pq_taker notices = *taker;
	struct run run = { .taker = taker, .state = ret_state };
	int result;

	ret_state[0] = '\0';
	(void)lib.set_notice_receiver(pq_connection(), take_notice, &notices);
	result = run_all(&run, query, err);
	(void)lib.set_notice_receiver(pq_connection(), ignore_notice, NULL);
	free(run.values);
	return result;
}
