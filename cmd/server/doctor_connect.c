/* SPDX-License-Identifier: MIT */
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
#include "say.h"
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
	struct query_reply said;

	query_reply_read(progress, QUERY, &said);
	trial->over = said.kind == QUERY_REPLY_ANSWER || said.kind == QUERY_REPLY_FAILED;
	trial->answered = said.kind == QUERY_REPLY_ANSWER;
	trial->err = said.err;
}

static void on_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct trial *trial = helper_data(helper);

	(void)result;
	if (!trial->over && err != NULL)
		trial->err = *err;
	trial->over = true;
	trial->helper = NULL;
	helper_free(helper);
}

static const struct helper_handlers handlers = { .progress = on_progress, .done = on_done };

static json_t *make_order(json_t *database_own)
{
	json_t *order = json_object();

	json_put_int(order, "query", QUERY);
	json_put(order, "database", database_own);
	json_put_str(order, "sql", query);
	json_put_str(order, "result", "result.csv");
	json_put_int(order, "inline_rows", 1);
	json_put_int(order, "inline_bytes", INLINE_BYTES);
	json_put_int(order, "rows_max", 1);
	json_put_int(order, "bytes_max", INLINE_BYTES);
	return order;
}

/* A folder that is gone as soon as it is closed. */
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

static int await(struct loop *loop, const struct helper_spec *spec, struct err *err)
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
	cleanup_json json_t *order = NULL;
	cleanup_fd int folder = -1;
	struct helper_spec spec = { .path = program, .fds = &folder, .fd_count = 1 };
	json_t *database;

	if (program == NULL)
		return -1;
	database = databases_find(settings, NULL, name, "/", err);
	if (database == NULL)
		return -1;
	order = make_order(database);
	spec.order = order;
	folder = open_folder(err);
	return folder < 0 ? -1 : await(loop, &spec, err);
}

static bool report(struct loop *loop, const struct settings *settings, const char *name)
{
	cleanup_free char *quoted = sanitize_quote(name);
	cleanup_buf struct buf why = BUF_INIT(BUF_UNBOUNDED);
	uint64_t start = clock_ms();
	struct err err = { 0 };

	if (try_database(loop, settings, name, &err) == 0) {
		say(quoted, "answers %s after %ju ms", query, (uintmax_t)(clock_ms() - start));
		return true;
	}
	sanitize_line(&why, err.msg, strlen(err.msg), sizeof(err.msg));
	say(quoted, "%s", buf_str(&why));
	return false;
}

bool doctor_connect(const struct settings *settings)
{
	struct err err = { 0 };
	struct loop *loop = loop_new(clock_ms, &err);
	bool good = true;

	if (loop == NULL) {
		say("databases", "%s", err.msg);
		return false;
	}
	for (size_t i = 0; i < settings->database_count; i++)
		good = report(loop, settings, settings->databases[i].name) && good;
	loop_free(loop);
	return good;
}
