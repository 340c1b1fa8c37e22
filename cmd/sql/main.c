/* SPDX-License-Identifier: MIT */
/*
 * main.c - ptycell-sql: runs read-only queries for one session on one database.
 *
 * Requests are lines of JSON on stdin, answered one after the other. Descriptor 3 is the session's
 * folder. {"query": N, "database": OBJECT (database.h; that of the first request counts), "sql",
 * "params", "result", "inline_rows", "inline_bytes", "rows_max", "bytes_max", "timeout_ms"}.
 *
 * Replies are progress (helper/reply.h): {"query": N, "rows": COUNT} now and then, {"query": N,
 * "slow": TEXT} for a stopped query, and last {"query": N, "answer": OBJECT (sink.h)} or {"query":
 * N, "failed": {"code", "message"}}. The process ends with stdin.
 */
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cancel.h"
#include "database.h"
#include "helper/program.h"
#include "json/get.h"
#include "json/make.h"
#include "lockdown/harden.h"
#include "parts/parts.h"

/* More than a request of 32 MB needs, with each character as \u1234. */
enum { REQUEST_MAX = 256 << 20, FOLDER_FD = 3 };

static int take_size(const json_t *request, const char *key, uint64_t *ret, struct err *err)
{
	json_int_t value = 0;

	if (json_get_int(request, "request", key, &value, err) < 0)
		return -1;
	if (value < 0)
		return err_set(err, ERR_INVALID, "request.%s is negative", key);
	*ret = (uint64_t)value;
	return 0;
}

static int read_spec(const json_t *request, struct sink_spec *ret, struct err *err)
{
	*ret = (struct sink_spec){ .dir_fd = FOLDER_FD };
	if (json_get_required(request, "request", "result", err) < 0 ||
	    json_get_text(request, "request", "result", &ret->result, NULL, err) < 0 ||
	    json_get_int(request, "request", "query", &ret->query, err) < 0)
		return -1;
	if (take_size(request, "inline_rows", &ret->inline_rows, err) < 0 ||
	    take_size(request, "inline_bytes", &ret->inline_bytes, err) < 0 ||
	    take_size(request, "rows_max", &ret->rows_max, err) < 0 ||
	    take_size(request, "bytes_max", &ret->bytes_max, err) < 0)
		return -1;
	return 0;
}

static json_t *run_query(struct database *database, const json_t *request,
			 const struct sink_spec *spec, struct err *err)
{
	struct sink *sink = sink_new(spec);
	struct query query = { .text = "" };
	json_t *params = NULL;
	json_t *answer = NULL;

	if (json_get_text(request, "request", "sql", &query.text, &query.len, err) == 0 &&
	    json_get_array(request, "request", "params", &params, err) == 0 &&
	    take_size(request, "timeout_ms", &query.timeout_ms, err) == 0) {
		query.params = params;
		query.rows_max = spec->rows_max;
		if (database_run(database, &query, sink, err) == 0)
			answer = sink_finish(sink, err);
	}
	sink_free(sink);
	return answer;
}

static json_t *describe_error(const struct err *err)
{
	json_t *failed = json_object();

	json_put_str(failed, "code", err_code_name(err->code));
	json_put_str(failed, "message", err->msg);
	return failed;
}

static void run_request(struct database *database, const json_t *request)
{
	struct sink_spec spec;
	struct err err;
	json_t *answer = NULL;
	json_t *progress;

	if (read_spec(request, &spec, &err) == 0)
		answer = run_query(database, request, &spec, &err);
	progress = json_object();
	json_put_int(progress, "query", spec.query);
	if (answer != NULL)
		json_put(progress, "answer", answer);
	else
		json_put(progress, "failed", describe_error(&err));
	program_progress(progress);
	database_rest(database);
}

static int serve(struct err *err)
{
	cleanup_json json_t *first = NULL;
	struct database *database;

	if (harden_process(err) < 0)
		return -1;
	first = program_read_request(REQUEST_MAX, err);
	if (first == NULL)
		return -1;
	database = database_new(FOLDER_FD, json_object_get(first, "database"), err);
	if (database == NULL)
		return -1;
	run_request(database, first);
	while (!cancel_requested()) {
		struct err ended;
		cleanup_json json_t *request = program_read_request(REQUEST_MAX, &ended);

		if (request == NULL)
			break;
		run_request(database, request);
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
	(void)setlocale(LC_CTYPE, "C.UTF-8"); /* for patterns, and for what drivers convert */
	if (serve(&err) == 0)
		_exit(EXIT_SUCCESS); /* a database's threads and connections end with the process */
	program_error(&err);
	_exit(EXIT_FAILURE);
}
