/* SPDX-License-Identifier: MIT */
/*
 * sql_original.c - copies the files of a query one after the other, each in a process of
 * ptycell-files. The server opens the file, so that the process sees nothing else of the session.
 * A file without a copy is recorded all the same: the record then says what is missing.
 */
#include "tools/sql_original.h"

#include <stdlib.h>

#include "answer/audit_events.h"
#include "answer/journal_events.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/get.h"
#include "json/make.h"
#include "session/session.h"
#include "sql/result_names.h"
#include "tools/service.h"
#include "transfer/imports.h"
#include "workspace/original.h"
#include "workspace/workspace.h"

enum { QUIET_MS = 30 * 1000 };

/* A file of the query. */
struct result_file {
	char *path; /* relative to the session's folder */
	uint64_t size;
	char *sha256; /* NULL: it is not known */
	char *missed; /* why the copy failed, or NULL */
};

struct sql_original {
	struct service *service;
	struct session *session;
	struct helper *helper;     /* copies files[at] to `original`; or NULL */
	struct original *original; /* or NULL */
	struct loop_defer defer;
	struct result_file *files;
	size_t count;
	size_t at;
	uint64_t cell;
	void (*done)(void *data);
	void *data;
};

static void copy_next(struct sql_original *originals);

static void end_copy(struct sql_original *originals)
{
	helper_free(originals->helper);
	originals->helper = NULL;
	original_free(originals->original);
	originals->original = NULL;
}

static void on_copied(struct helper *helper, const json_t *result, const struct err *err)
{
	struct sql_original *originals = helper_data(helper);
	struct result_file *file = &originals->files[originals->at++];
	const char *sha256 = err == NULL ? json_text_at(result, "sha256") : NULL;
	struct err why;

	if (err != NULL)
		file->missed = xstrdup(err->msg);
	else if (original_place(originals->original, file->path, &why) < 0)
		file->missed = xstrdup(why.msg);
	file->sha256 = sha256 != NULL ? xstrdup(sha256) : NULL;
	end_copy(originals);
	copy_next(originals);
}

static const struct helper_handlers handlers = { .done = on_copied };

static int start_copy(struct sql_original *originals, uint64_t size, int fd, struct err *err)
{
	const struct workspace *workspace = session_workspace(originals->session);
	cleanup_free char *program = helper_locate("ptycell-files", err);
	cleanup_json json_t *request = imports_copy_request("original", size, "PTYCELL_KEEP_MAX");
	struct helper_spec spec = {
		.path = program, .request = request, .fd_count = 2, .quiet_ms = QUIET_MS
	};

	if (program == NULL)
		return -1;
	originals->original = original_new(workspace, err);
	if (originals->original == NULL)
		return -1;
	spec.fds = (int[]){ original_fd(originals->original), fd };
	originals->helper =
		helper_start(originals->service->loop, &spec, &handlers, originals, err);
	return originals->helper != NULL ? 0 : -1;
}

/* Returns whether the copy of the file has begun. A file that has no room gets none. */
static bool begin_copy(struct sql_original *originals, struct result_file *file)
{
	struct session *session = originals->session;
	struct err err;
	off_t size = 0;
	cleanup_fd int fd =
		workspace_open_read(session_workspace(session), file->path, &size, &err);

	file->size = (uint64_t)size;
	if (fd >= 0 && file->size > session_original_room(session))
		return false;
	if (fd >= 0 && start_copy(originals, file->size, fd, &err) == 0)
		return true;
	end_copy(originals);
	file->missed = xstrdup(err.msg);
	return false;
}

static void on_all_copied(struct loop_defer *defer)
{
	struct sql_original *originals = container_of(defer, struct sql_original, defer);

	originals->done(originals->data);
}

static void copy_next(struct sql_original *originals)
{
	while (originals->at < originals->count) {
		if (begin_copy(originals, &originals->files[originals->at]))
			return;
		originals->at++;
	}
	loop_defer_start(originals->service->loop, &originals->defer, on_all_copied);
}

static void list_files(struct sql_original *originals, const json_t *answer, const char *file)
{
	bool table = json_is_integer(json_object_get(answer, "bytes"));
	json_int_t blobs = json_integer_value(json_object_get(answer, "blobs"));

	originals->files = xcalloc((size_t)blobs + 1, sizeof(*originals->files));
	if (table)
		originals->files[originals->count++].path = xstrdup(file);
	for (unsigned i = 1; i <= (unsigned)blobs; i++)
		originals->files[originals->count++].path = result_blob_name(file, i);
}

struct sql_original *sql_original_start(struct service *service, struct session *session,
					const struct sql_files *files, void (*done)(void *data),
					void *data)
{
	struct sql_original *originals = xcalloc(1, sizeof(*originals));

	originals->service = service;
	originals->session = session;
	originals->cell = files->cell;
	originals->done = done;
	originals->data = data;
	list_files(originals, files->answer, files->name);
	if (originals->count == 0) {
		sql_original_end(originals, false);
		return NULL;
	}
	copy_next(originals);
	return originals;
}

static void record_file(const struct sql_original *originals, const struct result_file *file)
{
	cleanup_free char *source = xasprintf("the query of cell %ju", (uintmax_t)originals->cell);
	const struct audit_import import = { .from = "query",
					     .source = source,
					     .path = file->path,
					     .size = file->size,
					     .sha256 = file->sha256 };

	json_decref(journal_events_import(originals->session, &import));
	if (file->missed != NULL)
		session_miss_original(originals->session, file->path, file->missed);
}

void sql_original_end(struct sql_original *originals, bool alive)
{
	if (originals == NULL)
		return;
	end_copy(originals);
	loop_defer_stop(&originals->defer);
	for (size_t i = 0; i < originals->count; i++) {
		struct result_file *file = &originals->files[i];

		if (alive)
			record_file(originals, file);
		free(file->path);
		free(file->sha256);
		free(file->missed);
	}
	free(originals->files);
	free(originals);
}
