/* SPDX-License-Identifier: MIT */
/*
 * ptycell-sql: runs queries that only read, for one session on one database.
 *
 * Orders come as lines of JSON on stdin, one after the other is answered; the session's folder is
 * descriptor 3. {"query": N, "database": OBJECT (database.h, the first order's counts), "sql",
 * "params", "result", "inline_rows", "inline_bytes", "rows_max", "bytes_max", "timeout_ms"}.
 * Answers come as progress (helper/reply.h): {"query": N, "rows": COUNT} now and then,
 * {"query": N, "slow": TEXT} of one that was stopped, last {"query": N, "answer": OBJECT (sink.h)}
 * or {"query": N, "failed": {"code", "message"}}. It ends with stdin.
 */
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "cancel.h"
#include "database.h"
#include "helper/program.h"
#include "json/get.h"
#include "json/make.h"
#include "lockdown/harden.h"
#include "parts/parts.h"

/* A message as long as PTYCELL_LINE_MAX is by itself, each of its characters written as \u1234, is
 * less. */
enum { ORDER_MAX = 256 << 20, FOLDER_FD = 3 };

static int take_size(const json_t *order, const char *key, uint64_t *ret, struct err *err)
{
	json_int_t value = 0;

	if (json_get_int(order, "order", key, &value, err) < 0)
		return -1;
	if (value < 0)
		return err_set(err, ERR_INVALID, "order.%s is negative", key);
	*ret = (uint64_t)value;
	return 0;
}

static int read_spec(const json_t *order, struct sink_spec *ret, struct err *err)
{
	*ret = (struct sink_spec){ .dir_fd = FOLDER_FD };
	if (json_get_required(order, "order", "result", err) < 0 ||
	    json_get_text(order, "order", "result", &ret->result, NULL, err) < 0 ||
	    json_get_int(order, "order", "query", &ret->query, err) < 0)
		return -1;
	if (take_size(order, "inline_rows", &ret->inline_rows, err) < 0 ||
	    take_size(order, "inline_bytes", &ret->inline_bytes, err) < 0 ||
	    take_size(order, "rows_max", &ret->rows_max, err) < 0 ||
	    take_size(order, "bytes_max", &ret->bytes_max, err) < 0)
		return -1;
	return 0;
}

static json_t *run(struct database *database, const json_t *order, const struct sink_spec *spec,
		   struct err *err)
{
	struct sink *sink = sink_new(spec);
	struct query query = { .text = "" };
	json_t *params = NULL;
	json_t *answer = NULL;

	if (json_get_text(order, "order", "sql", &query.text, &query.len, err) == 0 &&
	    json_get_array(order, "order", "params", &params, err) == 0 &&
	    take_size(order, "timeout_ms", &query.timeout_ms, err) == 0) {
		query.params = params;
		query.rows_max = spec->rows_max;
		if (database_run(database, &query, sink, err) == 0)
			answer = sink_finish(sink, err);
	}
	sink_free(sink);
	return answer;
}

static json_t *describe(const struct err *err)
{
	json_t *failed = json_object();

	json_put_str(failed, "code", err_code_name(err->code));
	json_put_str(failed, "message", err->msg);
	return failed;
}

static void obey(struct database *database, const json_t *order)
{
	struct sink_spec spec;
	struct err err;
	json_t *answer = NULL;
	json_t *said;

	if (read_spec(order, &spec, &err) == 0)
		answer = run(database, order, &spec, &err);
	said = json_object();
	json_put_int(said, "query", spec.query);
	if (answer != NULL)
		json_put(said, "answer", answer);
	else
		json_put(said, "failed", describe(&err));
	response_progress(said);
	database_rest(database);
}

static int serve(struct err *err)
{
	cleanup_json json_t *first = NULL;
	struct database *database;

	if (harden_process(err) < 0)
		return -1;
	first = request_read(ORDER_MAX, err);
	if (first == NULL)
		return -1;
	database = database_new(FOLDER_FD, json_object_get(first, "database"), err);
	if (database == NULL)
		return -1;
	obey(database, first);
	while (!cancel_requested()) {
		struct err ended;
		cleanup_json json_t *order = request_read(ORDER_MAX, &ended);

		if (order == NULL)
			break;
		obey(database, order);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct err err;

	if (!parts_agree(argc, argv))
		return PARTS_OTHER;
	(void)sigaction(SIGPIPE, &ignore, NULL);
	(void)umask(077);
	(void)setlocale(LC_CTYPE, "C.UTF-8"); /* of patterns, and of what drivers convert */
	if (serve(&err) == 0)
		_exit(EXIT_SUCCESS); /* a database's threads and connections end with the process */
	response_error(&err);
	_exit(EXIT_FAILURE);
}
