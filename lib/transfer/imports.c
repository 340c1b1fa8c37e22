/* SPDX-License-Identifier: MIT */
/*
 * imports.c - one helper and one staged file per import. A deadline ends an import that hangs, and
 * a helper that ignores its cancellation is killed after IMPORTS_GRACE_MS. The name is checked as
 * soon as the head arrives, so that a taken name fails before the download.
 */
#include "transfer/imports.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/make.h"
#include "net/filename.h"
#include "text/sanitize.h"
#include "transfer/network_options.h"
#include "workspace/staged_file.h"
#include "workspace/workspace.h"

enum { TEXT_MAX = 300 };

static const char fallback_name[] = "download";

struct imports {
	struct loop *loop;
	struct list running;
	size_t count;
};

struct intake {
	struct list node;
	struct imports *intakes;
	const struct intake_handlers *handlers;
	void *data;
	char *folder;
	struct staged_file *part;
	struct helper *helper;
	struct loop_timer timer; /* the deadline, or the end of the grace time */
	char *path;              /* NULL while unknown */
	char *type;
	int64_t total;
	const char *argument;
	bool overwrite;
	bool stopped; /* it ends with `why` */
	struct err why;
};

int imports_explain_name(const char *path, struct err *err)
{
	if (err->code == ERR_BUSY)
		return err_set(err, ERR_BUSY,
			       "there is a file %s already; pass overwrite: true to replace it, or "
			       "another filename",
			       path);
	return err_wrap(err, "arguments.filename");
}

/* ---- requests ---- */

json_t *imports_download_order(const struct intake_web *web)
{
	json_t *order = network_options_put("download", web->deadline_ms, web->environment);

	json_put_str(order, "url", web->url);
	json_put_str(order, "hosts", web->hosts);
	json_put_bool(order, "allow_private", web->allow_private);
	json_put_int(order, "size_max", (json_int_t)web->size_max);
	json_put_str(order, "size_name", web->size_name);
	return order;
}

json_t *imports_copy_order(const char *name, uint64_t size_max, const char *size_name)
{
	json_t *order = json_object();

	json_put_str(order, "op", "import");
	json_put_str(order, "name", name);
	json_put_int(order, "size_max", (json_int_t)size_max);
	json_put_str(order, "size_name", size_name);
	return order;
}

/* ---- end of an import ---- */

static void intake_free(struct intake *intake)
{
	loop_timer_stop(&intake->timer);
	helper_free(intake->helper);
	staged_file_free(intake->part);
	list_remove(&intake->node);
	intake->intakes->count--;
	free(intake->folder);
	free(intake->path);
	free(intake->type);
	free(intake);
}

static void fail_import(struct intake *intake, const struct err *err)
{
	const struct intake_handlers *handlers = intake->handlers;
	void *data = intake->data;
	struct err why = *err;

	intake_free(intake);
	handlers->done(data, NULL, &why);
}

static void on_patience(struct loop_timer *timer)
{
	struct intake *intake = container_of(timer, struct intake, timer);

	if (!intake->stopped)
		(void)err_set(&intake->why, ERR_TIMEOUT, "it took too long");
	fail_import(intake, &intake->why);
}

/* Cancels the helper. The import ends later, with the first reason. */
static void stop_import(struct intake *intake, const struct err *why)
{
	if (intake->stopped)
		return;
	intake->stopped = true;
	intake->why = *why;
	helper_cancel(intake->helper);
	loop_timer_start(intake->intakes->loop, &intake->timer,
			 loop_now(intake->intakes->loop) + IMPORTS_GRACE_MS, on_patience);
}

/* ---- replies ---- */

/* Returns one clean line of a reply's member, or NULL. The caller frees it. */
static char *line_of(const json_t *reply, const char *key)
{
	const json_t *value = json_object_get(reply, key);
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);

	if (!json_is_string(value))
		return NULL;
	sanitize_line(&line, json_string_value(value), json_string_length(value), TEXT_MAX);
	return line.len > 0 ? buf_steal(&line) : NULL;
}

static void choose_name(struct intake *intake, const json_t *name)
{
	cleanup_free char *safe = NULL;

	if (json_is_string(name))
		safe = filename_make_safe(json_string_value(name), json_string_length(name));
	intake->path = xasprintf("input/%s", safe != NULL ? safe : fallback_name);
}

/* Takes the head of the source. A taken name is reported before the bytes arrive. */
static void take_head(struct intake *intake, const json_t *head)
{
	const json_t *total = json_object_get(head, "total");
	struct err err;

	if (intake->path == NULL)
		choose_name(intake, json_object_get(head, "name"));
	if (json_is_integer(total) && json_integer_value(total) >= 0)
		intake->total = json_integer_value(total);
	free(intake->type);
	intake->type = line_of(head, "type");
	if (staged_file_check(intake->part, intake->path, intake->overwrite, &err) == 0)
		return;
	(void)imports_explain_name(intake->path, &err);
	stop_import(intake, &err);
}

static void on_progress(struct helper *helper, const json_t *reply)
{
	struct intake *intake = helper_data(helper);
	const json_t *head = json_object_get(reply, "head");
	const json_t *bytes = json_object_get(reply, "bytes");

	if (intake->stopped)
		return;
	if (json_is_object(head))
		take_head(intake, head);
	else if (json_is_integer(bytes) && json_integer_value(bytes) >= 0)
		intake->handlers->progress(intake->data, (uint64_t)json_integer_value(bytes),
					   intake->total);
}

static int place_file(struct intake *intake, uint64_t *ret_size, struct err *err)
{
	struct stat st;

	if (intake->path == NULL)
		choose_name(intake, NULL);
	if (fstat(staged_file_fd(intake->part), &st) < 0)
		return err_sys(err, "looking at the file");
	if (staged_file_place(intake->part, intake->path, intake->overwrite, err) < 0)
		return imports_explain_name(intake->path, err);
	*ret_size = (uint64_t)st.st_size;
	return 0;
}

static void succeed_import(struct intake *intake, const json_t *reply)
{
	const struct intake_handlers *handlers = intake->handlers;
	void *data = intake->data;
	cleanup_free char *from = line_of(reply, "from");
	cleanup_free char *path = NULL;
	cleanup_free char *type = NULL;
	struct intake_result result = { .from = from };
	struct err err;

	if (place_file(intake, &result.size, &err) < 0) {
		fail_import(intake, &err);
		return;
	}
	result.path = path = mem_steal(&intake->path);
	result.type = type = mem_steal(&intake->type);
	intake_free(intake);
	handlers->done(data, &result, NULL);
}

static void on_import_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct intake *intake = helper_data(helper);
	struct err why;

	if (intake->stopped) {
		fail_import(intake, &intake->why);
	} else if (err != NULL) {
		why = *err;
		(void)err_wrap(&why, "%s", intake->argument);
		fail_import(intake, &why);
	} else {
		succeed_import(intake, result);
	}
}

static const struct helper_handlers helper_handlers = { .progress = on_progress,
							.done = on_import_done };

/* ---- start of an import ---- */

static struct intake *intake_new(struct imports *intakes, const struct intake_spec *spec)
{
	struct intake *intake = xcalloc(1, sizeof(*intake));

	intake->intakes = intakes;
	intake->folder = xstrdup(workspace_name(spec->workspace));
	intake->argument = spec->argument;
	intake->overwrite = spec->overwrite;
	intake->total = -1;
	list_init(&intake->node);
	list_append(&intakes->running, &intake->node);
	intakes->count++;
	return intake;
}

static int launch_helper(struct intake *intake, const struct intake_spec *spec, struct err *err)
{
	int fds[2] = { -1, spec->source_fd };
	struct helper_spec helper = {
		.path = spec->program,
		.order = spec->order,
		.fds = fds,
		.fd_count = spec->source_fd >= 0 ? 2 : 1,
	};

	if (spec->filename != NULL)
		intake->path = xasprintf("input/%s", spec->filename);
	intake->part = staged_file_new(spec->workspace, err);
	if (intake->part == NULL)
		return -1;
	if (intake->path != NULL &&
	    staged_file_check(intake->part, intake->path, spec->overwrite, err) < 0)
		return imports_explain_name(intake->path, err);
	fds[0] = staged_file_fd(intake->part);
	intake->helper =
		helper_start(intake->intakes->loop, &helper, &helper_handlers, intake, err);
	return intake->helper != NULL ? 0 : -1;
}

struct intake *imports_start(struct imports *intakes, const struct intake_spec *spec,
			     const struct intake_handlers *handlers, void *data, struct err *err)
{
	struct intake *intake;

	if (intakes->count == IMPORTS_MAX) {
		(void)err_set(err, ERR_LIMIT,
			      "%d files are on their way already: wait for one of them",
			      IMPORTS_MAX);
		return NULL;
	}
	intake = intake_new(intakes, spec);
	intake->handlers = handlers;
	intake->data = data;
	if (launch_helper(intake, spec, err) < 0) {
		intake_free(intake);
		return NULL;
	}
	loop_timer_start(intakes->loop, &intake->timer,
			 loop_now(intakes->loop) + spec->deadline_ms + IMPORTS_GRACE_MS,
			 on_patience);
	return intake;
}

void imports_cancel(struct intake *intake)
{
	struct err err;

	(void)err_set(&err, ERR_CANCELLED, "cancelled");
	stop_import(intake, &err);
}

const char *imports_path(const struct intake *intake)
{
	return intake->path;
}

void imports_end_folder(struct imports *intakes, const char *folder)
{
	struct err err;

	if (intakes == NULL)
		return;
	(void)err_set(&err, ERR_CANCELLED, "the session ended meanwhile");
	list_for_each (struct intake, intake, &intakes->running, node)
		if (str_eq(intake->folder, folder))
			fail_import(intake, &err);
}

struct imports *imports_new(struct loop *loop)
{
	struct imports *intakes = xcalloc(1, sizeof(*intakes));

	intakes->loop = loop;
	list_init(&intakes->running);
	return intakes;
}

void imports_free(struct imports *intakes)
{
	free(intakes);
}
