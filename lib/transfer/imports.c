/* SPDX-License-Identifier: MIT */
/*
 * imports.c - one helper and one staged file per import; then a second helper for its original. A
 * deadline ends an import that hangs, and a helper that ignores its cancellation is killed after
 * IMPORTS_GRACE_MS. The name is checked as soon as the head arrives, so that a taken name fails
 * before the download.
 */
#include "transfer/imports.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/list.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/make.h"
#include "net/filename.h"
#include "text/sanitize.h"
#include "transfer/network_options.h"
#include "workspace/original.h"
#include "workspace/staged_file.h"
#include "workspace/workspace.h"

enum { TEXT_MAX = 300 };

static const char fallback_name[] = "download";

struct imports {
	struct loop *loop;
	struct list running;
	size_t count;
};

struct import {
	struct list node;
	struct imports *imports;
	const struct import_handlers *handlers;
	void *data;
	char *folder;
	const struct workspace *workspace;
	struct staged_file *part;
	struct original *original; /* NULL: there is none */
	struct helper *helper;
	struct loop_timer timer; /* the deadline, or the end of the grace time */
	char *path;              /* NULL while unknown */
	char *type;
	int64_t total;
	const char *argument;
	char *copier;
	uint64_t original_max;
	uint64_t deadline_ms;
	char *from; /* both of the first program's result */
	char *sha256;
	char *missed; /* why there is no original, though it was wanted */
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

json_t *imports_download_request(const struct import_web *web)
{
	json_t *request = network_options_put("download", web->deadline_ms, web->environment);

	json_put_str(request, "url", web->url);
	json_put_str(request, "hosts", web->hosts);
	json_put_bool(request, "allow_private", web->allow_private);
	json_put_int(request, "size_max", (json_int_t)web->size_max);
	json_put_str(request, "size_name", web->size_name);
	return request;
}

json_t *imports_copy_request(const char *name, uint64_t size_max, const char *size_name)
{
	json_t *request = json_object();

	json_put_str(request, "op", "import");
	json_put_str(request, "name", name);
	json_put_int(request, "size_max", (json_int_t)size_max);
	json_put_str(request, "size_name", size_name);
	return request;
}

/* ---- end of an import ---- */

static void import_free(struct import *import)
{
	loop_timer_stop(&import->timer);
	helper_free(import->helper);
	staged_file_free(import->part);
	original_free(import->original);
	list_remove(&import->node);
	import->imports->count--;
	free(import->folder);
	free(import->path);
	free(import->type);
	free(import->copier);
	free(import->from);
	free(import->sha256);
	free(import->missed);
	free(import);
}

static void fail_import(struct import *import, const struct err *err)
{
	const struct import_handlers *handlers = import->handlers;
	void *data = import->data;
	struct err why = *err;

	import_free(import);
	handlers->done(data, NULL, &why);
}

static void on_patience(struct loop_timer *timer)
{
	struct import *import = container_of(timer, struct import, timer);

	if (!import->stopped)
		(void)err_set(&import->why, ERR_TIMEOUT, "it took too long");
	fail_import(import, &import->why);
}

/* Cancels the helper. The import ends later, with the first reason. */
static void stop_import(struct import *import, const struct err *why)
{
	if (import->stopped)
		return;
	import->stopped = true;
	import->why = *why;
	helper_cancel(import->helper);
	loop_timer_start(import->imports->loop, &import->timer,
			 loop_now(import->imports->loop) + IMPORTS_GRACE_MS, on_patience);
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

static void choose_name(struct import *import, const json_t *name)
{
	cleanup_free char *safe = NULL;

	if (json_is_string(name))
		safe = filename_make_safe(json_string_value(name), json_string_length(name));
	import->path = xasprintf("input/%s", safe != NULL ? safe : fallback_name);
}

/* Takes the head of the source. A taken name is reported before the bytes arrive. */
static void take_head(struct import *import, const json_t *head)
{
	const json_t *total = json_object_get(head, "total");
	struct err err;

	if (import->path == NULL)
		choose_name(import, json_object_get(head, "name"));
	if (json_is_integer(total) && json_integer_value(total) >= 0)
		import->total = json_integer_value(total);
	free(import->type);
	import->type = line_of(head, "type");
	if (staged_file_check(import->part, import->path, import->overwrite, &err) == 0)
		return;
	(void)imports_explain_name(import->path, &err);
	stop_import(import, &err);
}

static void on_progress(struct helper *helper, const json_t *reply)
{
	struct import *import = helper_data(helper);
	const json_t *head = json_object_get(reply, "head");
	const json_t *bytes = json_object_get(reply, "bytes");

	if (import->stopped)
		return;
	if (json_is_object(head))
		take_head(import, head);
	else if (json_is_integer(bytes) && json_integer_value(bytes) >= 0)
		import->handlers->progress(import->data, (uint64_t)json_integer_value(bytes),
					   import->total);
}

static int place_file(struct import *import, uint64_t *ret_size, struct err *err)
{
	struct stat st;

	if (import->path == NULL)
		choose_name(import, NULL);
	if (fstat(staged_file_fd(import->part), &st) < 0)
		return err_sys(err, "looking at the file");
	if (staged_file_place(import->part, import->path, import->overwrite, err) < 0)
		return imports_explain_name(import->path, err);
	*ret_size = (uint64_t)st.st_size;
	return 0;
}

static void miss_original(struct import *import, const char *why)
{
	free(import->missed);
	import->missed = xstrdup(why);
	original_free(import->original);
	import->original = NULL;
}

static void succeed_import(struct import *import)
{
	const struct import_handlers *handlers = import->handlers;
	void *data = import->data;
	cleanup_free char *from = mem_steal(&import->from);
	cleanup_free char *sha256 = mem_steal(&import->sha256);
	cleanup_free char *path = NULL;
	cleanup_free char *type = NULL;
	cleanup_free char *missed = NULL;
	struct import_result result = { .from = from, .sha256 = sha256 };
	struct err err;

	if (place_file(import, &result.size, &err) < 0) {
		fail_import(import, &err);
		return;
	}
	if (import->original != NULL && original_place(import->original, import->path, &err) < 0)
		miss_original(import, err.msg);
	result.path = path = mem_steal(&import->path);
	result.type = type = mem_steal(&import->type);
	result.missed = missed = mem_steal(&import->missed);
	import_free(import);
	handlers->done(data, &result, NULL);
}

/* ---- the original ---- */

static void on_original_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct import *import = helper_data(helper);

	(void)result;
	if (import->stopped) {
		fail_import(import, &import->why);
		return;
	}
	if (err != NULL)
		miss_original(import, err->msg);
	succeed_import(import);
}

/* Starts the program that copies the staged file. */
static int copy_original(struct import *import, struct err *err)
{
	static const struct helper_handlers handlers = { .done = on_original_done };
	cleanup_json json_t *request =
		imports_copy_request("original", import->original_max, "PTYCELL_KEEP_MAX");
	struct helper_spec spec = { .path = import->copier, .request = request, .fd_count = 2 };

	json_put_bool(request, "plain", true);
	import->original = original_new(import->workspace, err);
	if (import->original == NULL)
		return -1;
	spec.fds = (int[]){ original_fd(import->original), staged_file_fd(import->part) };
	import->helper = helper_start(import->imports->loop, &spec, &handlers, import, err);
	return import->helper != NULL ? 0 : -1;
}

/* Makes the original of the staged file if it is small enough; then the file can be placed. */
static void make_original(struct import *import)
{
	struct stat st;
	struct err err;

	helper_free(import->helper);
	import->helper = NULL;
	if (import->copier == NULL || fstat(staged_file_fd(import->part), &st) < 0 ||
	    (uint64_t)st.st_size > import->original_max) {
		succeed_import(import);
		return;
	}
	if (copy_original(import, &err) == 0) {
		loop_timer_start(import->imports->loop, &import->timer,
				 loop_now(import->imports->loop) + import->deadline_ms +
					 IMPORTS_GRACE_MS,
				 on_patience);
		return;
	}
	miss_original(import, err.msg);
	succeed_import(import);
}

static void on_import_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct import *import = helper_data(helper);
	struct err why;

	if (import->stopped) {
		fail_import(import, &import->why);
	} else if (err != NULL) {
		why = *err;
		(void)err_wrap(&why, "%s", import->argument);
		fail_import(import, &why);
	} else {
		import->from = line_of(result, "from");
		import->sha256 = line_of(result, "sha256");
		make_original(import);
	}
}

static const struct helper_handlers helper_handlers = { .progress = on_progress,
							.done = on_import_done };

/* ---- start of an import ---- */

static struct import *import_new(struct imports *imports, const struct import_spec *spec)
{
	struct import *import = xcalloc(1, sizeof(*import));

	import->imports = imports;
	import->folder = xstrdup(workspace_name(spec->workspace));
	import->workspace = spec->workspace;
	import->argument = spec->argument;
	import->copier = spec->copier != NULL ? xstrdup(spec->copier) : NULL;
	import->original_max = spec->original_max;
	import->deadline_ms = spec->deadline_ms;
	import->overwrite = spec->overwrite;
	import->total = -1;
	list_init(&import->node);
	list_append(&imports->running, &import->node);
	imports->count++;
	return import;
}

static int launch_helper(struct import *import, const struct import_spec *spec, struct err *err)
{
	int fds[2] = { -1, spec->source_fd };
	struct helper_spec helper = {
		.path = spec->program,
		.request = spec->request,
		.fds = fds,
		.fd_count = spec->source_fd >= 0 ? 2 : 1,
	};

	if (spec->filename != NULL)
		import->path = xasprintf("input/%s", spec->filename);
	import->part = staged_file_new(spec->workspace, err);
	if (import->part == NULL)
		return -1;
	if (import->path != NULL &&
	    staged_file_check(import->part, import->path, spec->overwrite, err) < 0)
		return imports_explain_name(import->path, err);
	fds[0] = staged_file_fd(import->part);
	import->helper =
		helper_start(import->imports->loop, &helper, &helper_handlers, import, err);
	return import->helper != NULL ? 0 : -1;
}

struct import *imports_start(struct imports *imports, const struct import_spec *spec,
			     const struct import_handlers *handlers, void *data, struct err *err)
{
	struct import *import;

	if (imports->count == IMPORTS_MAX) {
		(void)err_set(err, ERR_LIMIT,
			      "%d files are on their way already: wait for one of them",
			      IMPORTS_MAX);
		return NULL;
	}
	import = import_new(imports, spec);
	import->handlers = handlers;
	import->data = data;
	if (launch_helper(import, spec, err) < 0) {
		import_free(import);
		return NULL;
	}
	loop_timer_start(imports->loop, &import->timer,
			 loop_now(imports->loop) + spec->deadline_ms + IMPORTS_GRACE_MS,
			 on_patience);
	return import;
}

void imports_cancel(struct import *import)
{
	struct err err;

	(void)err_set(&err, ERR_CANCELLED, "cancelled");
	stop_import(import, &err);
}

const char *imports_path(const struct import *import)
{
	return import->path;
}

void imports_end_folder(struct imports *imports, const char *folder)
{
	struct err err;

	if (imports == NULL)
		return;
	(void)err_set(&err, ERR_CANCELLED, "the session ended meanwhile");
	list_for_each (struct import, import, &imports->running, node)
		if (str_eq(import->folder, folder))
			fail_import(import, &err);
}

struct imports *imports_new(struct loop *loop)
{
	struct imports *imports = xcalloc(1, sizeof(*imports));

	imports->loop = loop;
	list_init(&imports->running);
	return imports;
}

void imports_free(struct imports *imports)
{
	free(imports);
}
