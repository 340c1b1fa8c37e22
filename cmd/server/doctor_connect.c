/* SPDX-License-Identifier: MIT */
/*
 * doctor_connect.c - starts a ptycell-sql for each database with the request that exec_sql would
 * send, and turns a loop of its own until the reply or PATIENCE_MS. The helper gets an unlinked
 * folder in /tmp in place of a session's.
 */
#include "doctor_connect.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "config/settings.h"
#include "event/loop.h"
#include "helper/helper.h"
#include "json/make.h"
#include "query/databases.h"
#include "query/reply.h"
#include "report_lines.h"
#include "text/sanitize.h"

enum { PATIENCE_MS = 20000, INLINE_BYTES = 4096, QUERY = 1 };

static const char query[] = "SELECT 1";

struct trial {
	struct helper *helper;
	bool over;
	bool answered;
	struct err err;
};

static void on_progress(struct helper *helper, const json_t *progress)
{
	struct trial *trial = helper_data(helper);
	struct query_reply reply;

	query_reply_read(progress, QUERY, &reply);
	trial->over = reply.kind == QUERY_REPLY_ANSWER || reply.kind == QUERY_REPLY_FAILED;
	trial->answered = reply.kind == QUERY_REPLY_ANSWER;
	trial->err = reply.err;
}

static void on_helper_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct trial *trial = helper_data(helper);

	(void)result;
	if (!trial->over && err != NULL)
		trial->err = *err;
	trial->over = true;
	trial->helper = NULL;
	helper_free(helper);
}

static const struct helper_handlers handlers = { .progress = on_progress, .done = on_helper_done };

static json_t *make_request(json_t *database_own)
{
	json_t *request = json_object();

	json_put_int(request, "query", QUERY);
	json_put(request, "database", database_own);
	json_put_str(request, "sql", query);
	json_put_str(request, "result", "result.csv");
	json_put_int(request, "inline_rows", 1);
	json_put_int(request, "inline_bytes", INLINE_BYTES);
	json_put_int(request, "rows_max", 1);
	json_put_int(request, "bytes_max", INLINE_BYTES);
	return request;
}

/* Returns a folder that is already unlinked: it vanishes when its descriptor is closed. */
static int open_folder(struct err *err)
{
	char path[] = "/tmp/ptycell-doctor-XXXXXX";
	int fd;

	if (mkdtemp(path) == NULL)
		return err_sys(err, "making a folder in /tmp");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)rmdir(path);
	return fd < 0 ? err_sys(err, "opening a folder in /tmp") : fd;
}

static int await_reply(struct loop *loop, const struct helper_spec *spec, struct err *err)
{
	struct trial trial = { .helper = NULL };
	uint64_t end = clock_ms() + PATIENCE_MS;

	trial.helper = helper_start(loop, spec, &handlers, &trial, err);
	if (trial.helper == NULL)
		return -1;
	while (!trial.over && clock_ms() < end)
		loop_turn(loop, (int)(end - clock_ms()));
	helper_free(trial.helper);
	if (!trial.over)
		return err_set(err, ERR_TIMEOUT, "no answer within %d s", PATIENCE_MS / 1000);
	*err = trial.err;
	return trial.answered ? 0 : -1;
}

static int try_database(struct loop *loop, const struct settings *settings, const char *name,
			struct err *err)
{
	cleanup_free char *program = helper_locate("ptycell-sql", err);
	cleanup_json json_t *request = NULL;
	cleanup_fd int folder = -1;
	struct helper_spec spec = { .path = program, .fds = &folder, .fd_count = 1 };
	json_t *database;

	if (program == NULL)
		return -1;
	database = databases_find(settings, NULL, name, "/", err);
	if (database == NULL)
		return -1;
	request = make_request(database);
	spec.request = request;
	folder = open_folder(err);
	return folder < 0 ? -1 : await_reply(loop, &spec, err);
}

static bool report_database(struct loop *loop, const struct settings *settings, const char *name)
{
	cleanup_free char *quoted = sanitize_quote(name);
	cleanup_buf struct buf why = BUF_INIT(BUF_UNBOUNDED);
	uint64_t start = clock_ms();
	struct err err = { 0 };

	if (try_database(loop, settings, name, &err) == 0) {
		report_line(quoted, "answers %s after %ju ms", query,
			    (uintmax_t)(clock_ms() - start));
		return true;
	}
	sanitize_line(&why, err.msg, strlen(err.msg), sizeof(err.msg));
	report_line(quoted, "%s", buf_str(&why));
	return false;
}

bool doctor_connect(const struct settings *settings)
{
	struct err err = { 0 };
	struct loop *loop = loop_new(clock_ms, &err);
	bool good = true;

	if (loop == NULL) {
		report_line("databases", "%s", err.msg);
		return false;
	}
	for (size_t i = 0; i < settings->database_count; i++)
		good = report_database(loop, settings, settings->databases[i].name) && good;
	loop_free(loop);
	return good;
}
