/* SPDX-License-Identifier: MIT */
/* aside.c - renames the folders; copies and puts files back in ptycell-files. */
#include "workspace/aside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/get.h"
#include "json/make.h"
#include "workspace/beneath.h"
#include "workspace/home.h"
#include "workspace/keeper.h"
#include "workspace/random_name.h"
#include "workspace/removal.h"

/* As in keeper.c: a helper without progress for so long hangs. */
enum { QUIET_MS = 120 * 1000 };

struct aside_job {
	struct aside_spec spec;
	struct helper *helper;
	struct loop_defer unstarted; /* the end of a job that could not start */
	struct err err;              /* why */
	bool puts_back;
	struct aside_found *found;
	size_t found_count;
};

/* ---- folders ---- */

static int make_spent(int session_fd, const char *name, struct err *err)
{
	cleanup_free char *spent = random_name_new(ASIDE_SPENT_PREFIX);

	if (renameat(session_fd, name, session_fd, spent) == 0 || errno == ENOENT)
		return 0;
	return err_sys(err, "taking a session's folder '%s' away", name);
}

int aside_settle(int session_fd, struct err *err)
{
	if (faccessat(session_fd, ASIDE_FOLDER, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(err, "looking for a session's own files");
	if (make_spent(session_fd, ASIDE_DATA, err) < 0)
		return -1;
	if (renameat(session_fd, ASIDE_FOLDER, session_fd, ASIDE_DATA) < 0)
		return err_sys(err, "putting a session's files back");
	return 0;
}

/* Opens the folder that holds those of the session. */
static int open_session(const struct workspace *workspace)
{
	return beneath_open(home_fd(workspace_home(workspace)), workspace_name(workspace),
			    O_RDONLY | O_DIRECTORY, 0);
}

struct removal *aside_remove_spent(struct loop *loop, const struct workspace *workspace,
				   const char *helper, void (*done)(void *data, bool ok),
				   void *data)
{
	DIR *dir = fd_list_own(open_session(workspace));
	struct removal *removal = NULL;
	const struct dirent *entry;

	if (dir == NULL)
		return NULL;
	while ((entry = readdir(dir)) != NULL) {
		cleanup_free char *name =
			xasprintf("%s/%s", workspace_name(workspace), entry->d_name);

		if (!random_name_matches(entry->d_name, ASIDE_SPENT_PREFIX))
			continue;
		removal_forget(removal);
		removal = removal_start_spent(loop, workspace_home(workspace), helper, name, done,
					      data);
	}
	(void)closedir(dir);
	return removal;
}

/* ---- jobs ---- */

void aside_stop(struct aside_job *job)
{
	if (job == NULL)
		return;
	helper_free(job->helper);
	loop_defer_stop(&job->unstarted);
	for (size_t i = 0; i < job->found_count; i++) {
		free(job->found[i].path);
		free(job->found[i].how);
	}
	free(job->found);
	free(job);
}

static int compare_paths(const void *a, const void *b)
{
	const struct aside_found *one = a;
	const struct aside_found *two = b;

	return strcmp(one->path, two->path);
}

/*
 * Ends `aside` after the helper has put the files back. The server does this, not the helper: a
 * helper may outlive its server, and the next server then uses `aside`.
 */
static const char *end_put_back(struct aside_job *job)
{
	cleanup_fd int session = open_session(job->spec.workspace);

	if (session < 0)
		(void)err_sys(&job->err, "opening the session's folder");
	return session < 0 || make_spent(session, ASIDE_FOLDER, &job->err) < 0 ? job->err.msg
									       : NULL;
}

/* Ends the job. `counted` has the numbers of files. */
static void finish(struct aside_job *job, const struct aside_result *counted, const char *problem)
{
	struct aside_result result = *counted;

	result.found = job->found;
	result.found_count = job->found_count;
	result.problem = job->puts_back && problem == NULL ? end_put_back(job) : problem;
	if (job->found_count > 1)
		qsort(job->found, job->found_count, sizeof(*job->found), compare_paths);
	job->spec.done(job->spec.data, &result);
	aside_stop(job);
}

static void on_progress(struct helper *helper, const json_t *progress)
{
	struct aside_job *job = helper_data(helper);
	const char *how = json_string_value(json_object_get(progress, "how"));
	json_int_t list = json_integer_value(json_object_get(progress, "list"));
	char *path = json_path_of(json_object_get(progress, "path"));

	if (path == NULL || how == NULL || list < 0 || list >= ASIDE_LISTS) {
		free(path);
		return;
	}
	job->found = xrealloc(job->found, (job->found_count + 1) * sizeof(*job->found));
	job->found[job->found_count++] = (struct aside_found){
		.path = path,
		.how = xstrdup(how),
		.list = (enum aside_list)list,
	};
}

static void on_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct aside_job *job = helper_data(helper);
	const char *problem = json_string_value(json_object_get(result, "problem"));
	const json_t *counts = json_object_get(result, "counts");
	struct aside_result counted = { 0 };

	for (size_t i = 0; i < job->found_count; i++)
		counted.totals[job->found[i].list]++;
	for (size_t i = 0; i < ASIDE_LISTS; i++) {
		size_t count = (size_t)json_integer_value(json_array_get(counts, i));

		if (count > counted.totals[i])
			counted.totals[i] = count;
	}
	finish(job, &counted, err != NULL ? err->msg : problem);
}

static void on_unstarted(struct loop_defer *defer)
{
	struct aside_job *job = container_of(defer, struct aside_job, unstarted);

	finish(job, &(struct aside_result){ 0 }, job->err.msg);
}

/* Returns the folder of exported inputs, or -1 if there is none. */
static int open_kept(const struct aside_spec *spec)
{
	return spec->kept == NULL ? -1 : open(spec->kept, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static struct aside_job *start(const struct aside_spec *spec, json_t *request)
{
	static const struct helper_handlers handlers = { .progress = on_progress, .done = on_done };
	struct aside_job *job = xcalloc(1, sizeof(*job));
	cleanup_fd int session = open_session(spec->workspace);
	cleanup_fd int kept = open_kept(spec);
	const int fds[] = { session, kept };
	const struct helper_spec helper = { .path = spec->helper,
					    .request = request,
					    .fds = fds,
					    .fd_count = kept >= 0 ? 2 : 1,
					    .quiet_ms = QUIET_MS };

	json_put_bool(request, "kept", kept >= 0);
	job->spec = *spec;
	if (session < 0)
		(void)err_sys(&job->err, "opening the session's folder");
	else
		job->helper = helper_start(spec->loop, &helper, &handlers, job, &job->err);
	if (job->helper == NULL)
		loop_defer_start(spec->loop, &job->unstarted, on_unstarted);
	return job;
}

static json_t *describe_file(const struct aside_file *file)
{
	json_t *object = json_object();

	json_put_path(object, "path", file->path);
	if (file->size >= 0)
		json_put_int(object, "size", (json_int_t)file->size);
	json_put_str(object, "sha256", file->sha256);
	return object;
}

struct aside_job *aside_bring(const struct aside_spec *spec, const struct aside_file *files,
			      size_t count)
{
	cleanup_json json_t *request = json_object();
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_append(list, describe_file(&files[i]));
	json_put_str(request, "op", "bring");
	json_put(request, "files", list);
	return start(spec, request);
}

struct aside_job *aside_put_back(const struct aside_spec *spec)
{
	cleanup_json json_t *request = json_object();
	struct aside_spec without = *spec;
	struct aside_job *job;

	without.kept = NULL;
	json_put_str(request, "op", "put-back");
	job = start(&without, request);
	job->puts_back = true;
	return job;
}
