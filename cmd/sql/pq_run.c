/* SPDX-License-Identifier: MIT */
#include "pq_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "pq.h"
#include "pq_params.h"

/* Of libpq's ExecStatusType. */
enum { STATUS_TUPLES_OK = 2, STATUS_SINGLE_TUPLE = 9, FIELD_STATE = 'C', FIELD_MESSAGE = 'M' };

static struct {
	int (*send_query)(void *connection, const char *query);
	int (*send_params)(void *connection, const char *query, int count, const unsigned *types,
			   const char *const *values, const int *lengths, const int *formats,
			   int result_format);
	int (*set_single_row_mode)(void *connection);
	void *(*set_notice_receiver)(void *connection, void (*take)(void *, const void *),
				     void *data);
	void *(*get_result)(void *connection);
	int (*status)(const void *result);
	int (*count)(const void *result);
	int (*is_null)(const void *result, int row, int column);
	char *(*value)(const void *result, int row, int column);
	int (*length)(const void *result, int row, int column);
	void (*clear)(void *result);
	char *(*connection_error)(const void *connection);
} lib;

bool pq_can_run(void)
{
	return pq_connection() != NULL && pq_find("PQsendQuery", &lib.send_query) &&
	       pq_find("PQsendQueryParams", &lib.send_params) &&
	       pq_find("PQsetSingleRowMode", &lib.set_single_row_mode) &&
	       pq_find("PQsetNoticeReceiver", &lib.set_notice_receiver) &&
	       pq_find("PQgetResult", &lib.get_result) && pq_find("PQresultStatus", &lib.status) &&
	       pq_find("PQntuples", &lib.count) && pq_find("PQgetisnull", &lib.is_null) &&
	       pq_find("PQgetvalue", &lib.value) && pq_find("PQgetlength", &lib.length) &&
	       pq_find("PQclear", &lib.clear) && pq_find("PQerrorMessage", &lib.connection_error);
}

struct run {
	struct pq_value *values;
	int columns;
	pq_take_row *take;
	void *data;
	char *state;
	bool full;
};

/* psqlodbc's own words are not in it. */
static int fail(struct run *run, const void *result, struct err *err)
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
		if (run->take(run->data, run->values, &run->full, err) < 0)
			return -1;
	}
	return 0;
}

static int take_result(struct run *run, const void *result, struct err *err)
{
	int status = lib.status(result);

	if (status != STATUS_TUPLES_OK && status != STATUS_SINGLE_TUPLE)
		return fail(run, result, err);
	return take_rows(run, result, err);
}

/* The connection is free again once there are no more results; what is not wanted is cancelled. */
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

/* ---- parameters ---- */

static bool send_params(const struct pq_query *query)
{
	size_t count = json_array_size(query->params);
	char **values = xcalloc(count, sizeof(*values));
	cleanup_free unsigned *types = pq_params_types(query->params);
	bool sent;

	for (size_t i = 0; i < count; i++)
		values[i] = pq_params_text(json_array_get(query->params, i));
	sent = lib.send_params(pq_connection(), query->text, (int)count, types,
			       (const char *const *)values, NULL, NULL, 0) != 0;
	for (size_t i = 0; i < count; i++)
		free(values[i]);
	free(values);
	return sent;
}

static void ignore(void *data, const void *notice)
{
	(void)data;
	(void)notice;
}

/* Notices go to psqlodbc else, which sets that anew for each of its own queries. */
static bool send(const struct pq_query *query)
{
	bool sent;

	pq_sends(query->text);
	(void)lib.set_notice_receiver(pq_connection(), ignore, NULL);
	if (json_array_size(query->params) > 0)
		sent = send_params(query);
	else
		sent = lib.send_query(pq_connection(), query->text) != 0;
	return sent && lib.set_single_row_mode(pq_connection()) != 0;
}

int pq_run(const struct pq_query *query, int columns, pq_take_row *take, void *data,
	   char *ret_state, struct err *err)
{
	cleanup_free struct pq_value *values = xcalloc((size_t)columns, sizeof(*values));
	struct run run = {
		.values = values, .columns = columns, .take = take, .data = data, .state = ret_state
	};

	ret_state[0] = '\0';
	return send(query) ? take_all(&run, err) : fail(&run, NULL, err);
}
