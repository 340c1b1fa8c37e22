/* SPDX-License-Identifier: MIT */
/*
 * keep.c - copies results and reports each. The result folder is opened by name before landlock:
 * only the user may have made it a link. From there on, everything is done below the two
 * descriptors. keep_file.c copies each file.
 */
#include "keep.h"
#include "helper/program.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/util.h"
#include "copy.h"
#include "destination.h"
#include "json/get.h"
#include "json/make.h"
#include "keep_file.h"
#include "kept_index.h"
#include "lockdown.h"
#include "logs.h"
#include "workspace/beneath.h"
#include "workspace/dblogs.h"
#include "workspace/original.h"

/* Notes what became of a file that may have a log. `to` is NULL if it was not copied. */
static void note_database(struct keep_job *job, const struct keep_file *file, const char *to)
{
	if (job->logs != NULL && keep_file_is_database(job, file))
		logs_note(&job->placed, file->from, to);
}

/* Notes where a file's copy is. */
static void note_copy(struct keep_job *job, const struct keep_file *file, const json_t *progress)
{
	cleanup_free char *to = json_path_of(json_object_get(progress, "to"));

	if (file->report)
		job->report = mem_steal(&to);
	else
		note_database(job, file, to == NULL ? file->to : to);
}

static void keep_one(struct keep_job *job, size_t index, struct keep_file *file)
{
	json_t *progress = json_object();
	struct err trouble;

	keep_file_show_life();
	json_put_int(progress, "file", (json_int_t)index);
	if (keep_file_copy(job, file, progress, &trouble) == 0) {
		note_copy(job, file, progress);
	} else {
		json_put_str(progress, "problem", trouble.msg);
		json_put_bool(progress, "again",
			      trouble.code == ERR_SYSTEM || trouble.code == ERR_BUSY);
		note_database(job, file, NULL);
	}
	program_progress(progress);
}

/* Returns true if something else is where the copy of one of a database's logs must go. */
static bool has_displaced_log(struct keep_job *job, const struct keep_file *database)
{
	size_t index;
	json_t *value;
	bool displaced = false;

	json_array_foreach (job->logs, index, value) {
		cleanup_keep_file struct keep_file log = { .from = NULL };
		cleanup_free char *owner = NULL;
		struct err ignored; /* it is parsed once more when it is copied */

		if (!displaced && keep_file_parse(value, &log, &ignored) == 0 && log.from != NULL)
			owner = dblogs_database(log.from);
		displaced = displaced || (owner != NULL && str_eq(owner, database->from) &&
					  keep_file_is_displaced(job, &log));
	}
	return displaced;
}

/* Returns the files that are logs of databases by their names in the session. */
static json_t *list_logs(const json_t *files)
{
	json_t *logs = json_array();
	size_t index;
	json_t *value;

	json_array_foreach (files, index, value) {
		cleanup_free char *from = json_path_of(json_object_get(value, "from"));

		if (from != NULL && logs_is_log(from))
			json_append(logs, json_incref(value));
	}
	return logs;
}

/* Copies the files that are logs of databases by their names, or those that are not. */
static int keep_some(struct keep_job *job, const json_t *files, bool logs, struct err *err)
{
	size_t index;
	json_t *value;

	json_array_foreach (files, index, value) {
		cleanup_keep_file struct keep_file file = { .from = NULL };

		if (keep_file_parse(value, &file, err) < 0)
			return -1;
		if (logs_is_log(file.to) != logs)
			continue;
		if (!logs && job->logs != NULL && keep_file_is_database(job, &file) &&
		    has_displaced_log(job, &file))
			keep_file_set_anew(&file);
		keep_one(job, index, &file);
	}
	return 0;
}

static bool has_logs(const json_t *files)
{
	size_t index;
	json_t *value;

	json_array_foreach (files, index, value) {
		cleanup_free char *to = json_path_of(json_object_get(value, "to"));

		if (to != NULL && logs_is_log(to))
			return true;
	}
	return false;
}

/* Copies files. A log comes after its database, whose copy may have got another name. */
static int keep_files(struct keep_job *job, const json_t *files, struct err *err)
{
	job->logs = has_logs(files) ? list_logs(files) : NULL;
	if (keep_some(job, files, false, err) < 0)
		return -1;
	return keep_some(job, files, true, err);
}

/* Returns true when one of the files can be read. If none can, no folder is created. */
static bool any_readable(struct keep_job *job, const json_t *files)
{
	size_t index;
	json_t *value;

	json_array_foreach (files, index, value) {
		cleanup_keep_file struct keep_file file = { .from = NULL };
		bool linked;
		struct stat st;
		struct err err;
		cleanup_fd int fd = keep_file_parse(value, &file, &err) < 0
					    ? -1
					    : keep_file_open_source(job, &file, &linked, &st, &err);

		if (fd >= 0 && room_check(&job->room, st.st_size, 0, false, &err) == 0)
			return true;
	}
	return false;
}

/* ---- moves ---- */

/*
 * Moves the folder or file at `at` to `to`, or to the first free name after it. A file that has
 * changed since its copy stays.
 */
static int step_aside(const struct keep_job *job, const json_t *move, json_t *progress,
		      struct err *err)
{
	struct copy_known known;
	cleanup_free char *at = json_path_of(json_object_get(move, "at"));
	cleanup_free char *to = json_path_of(json_object_get(move, "to"));
	cleanup_buf struct buf parent = BUF_INIT(BUF_UNBOUNDED);
	const char *name = NULL;
	cleanup_fd int dir = -1;
	cleanup_free char *taken = NULL;

	keep_file_parse_known(move, &known);
	if (at == NULL || to == NULL)
		return err_set(err, ERR_INVALID, "a move of the request has no valid path");
	dir = keep_file_open_parent(job->folder_fd, at, &parent, &name, err);
	if (dir < 0)
		return -1;
	taken = copy_move(dir, name, to, json_object_get(move, "known") != NULL ? &known : NULL,
			  err);
	json_put_path(progress, "to", taken);
	return taken == NULL ? -1 : 0;
}

static void make_moves(const struct keep_job *job, const json_t *moves)
{
	size_t index;
	json_t *value;

	json_array_foreach (moves, index, value) {
		json_t *progress = json_object();
		struct err trouble;

		json_put_int(progress, "move", json_integer_value(json_object_get(value, "move")));
		if (step_aside(job, value, progress, &trouble) < 0)
			json_put_str(progress, "problem", trouble.msg);
		program_progress(progress);
	}
}

/* Syncs files of earlier requests, whose results did not wait for the disk. */
static void sync_files(const struct keep_job *job, const json_t *paths)
{
	size_t index;
	json_t *value;

	json_array_foreach (paths, index, value) {
		cleanup_free char *path = json_path_of(value);
		cleanup_fd int fd =
			path == NULL ? -1 : beneath_open(job->folder_fd, path, O_RDONLY, 0);

		if (fd >= 0)
			(void)fsync(fd);
		keep_file_show_life();
	}
}

static void report(const char *what)
{
	json_t *progress = json_object();

	json_put_bool(progress, what, true);
	program_progress(progress);
}

/* Adds the session to the page of the root. Nothing depends on the page: it may fail. */
static void update_index(const struct keep_job *job, int root_fd, const json_t *facts)
{
	struct err ignored;

	if (job->report == NULL || facts == NULL ||
	    kept_index_note(job->folder_fd, facts, job->report, &ignored) < 0)
		return;
	(void)!kept_index_draw(root_fd, &ignored);
}

static int keep_in_folder(struct keep_job *job, const char *root, const json_t *request,
			  struct err *err)
{
	const json_t *files = json_object_get(request, "files");
	const char *name = json_string_value(json_object_get(request, "folder"));
	bool fresh = json_is_true(json_object_get(request, "fresh"));
	cleanup_fd int folder = destination_open(root, name, fresh, err);
	cleanup_fd int root_fd = -1;
	bool draws;
	int result;

	if (folder < 0)
		return -1;
	if (job->compare)
		copy_remove_halves(folder, 1);
	if (json_is_false(json_object_get(request, "folds")) && fresh &&
	    destination_folds(root, name, folder)) {
		report("folds");
		return destination_remove(root, name, err);
	}
	if (fresh)
		report("made");
	/*
	 * The page of the root is drawn by helpers that copy nothing of the session's files. The
	 * others measure the root.
	 */
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	draws = job->drawn_fd >= 0 && root_fd >= 0;
	struct lockdown_rule rules[] = {
		{ .fd = job->data.fd, .rights = lockdown_read },
		{ .fd = root_fd < 0 ? folder : root_fd, .rights = lockdown_read },
		{ .fd = draws ? root_fd : folder, .rights = lockdown_write | lockdown_remove },
		{ .fd = job->spool.fd < 0 ? folder : job->spool.fd, .rights = lockdown_read },
		{ .fd = job->inputs.fd < 0 ? folder : job->inputs.fd, .rights = lockdown_read }
	};
	if (lockdown_files(rules, ARRAY_SIZE(rules), 1, err) < 0)
		return -1;
	job->folder_fd = folder;
	make_moves(job, json_object_get(request, "moves"));
	sync_files(job, json_object_get(request, "sync"));
	result = keep_files(job, files, err);
	if (result == 0 && draws)
		update_index(job, root_fd, json_object_get(request, "facts"));
	return result;
}

/* Opens a folder beside data if one of the files, which `key` marks, comes from there; -1 else. */
static int open_beside(int data_fd, const json_t *files, const char *key, const char *path)
{
	size_t index;
	json_t *value;

	json_array_foreach (files, index, value)
		if (json_is_true(json_object_get(value, key)))
			return openat(data_fd, path,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return -1;
}

int keep_run(int data_fd, const json_t *request, int drawn_fd, struct err *err)
{
	const json_t *files = json_object_get(request, "files");
	cleanup_fd int spool = open_beside(data_fd, files, "whole", "../spool");
	cleanup_fd int inputs = open_beside(data_fd, files, "spare", "../journal/" ORIGINAL_FOLDER);
	cleanup_free char *root = json_path_of(json_object_get(request, "root"));
	cleanup_free char *seen = json_path_of(json_object_get(request, "seen"));
	struct keep_job job = { .data = { .fd = data_fd, .seen = seen },
				.spool = { .fd = spool },
				.inputs = { .fd = inputs },
				.folder_fd = -1,
				.drawn_fd = drawn_fd,
				.durable = json_is_true(json_object_get(request, "durable")),
				.names = json_is_true(json_object_get(request, "names")),
				.compare = json_is_true(json_object_get(request, "compare")) };
	bool fresh = json_is_true(json_object_get(request, "fresh"));
	int result;

	if (root == NULL || !json_is_string(json_object_get(request, "folder")) ||
	    !json_is_array(files))
		return err_set(err, ERR_INVALID, "the request lacks root, folder or files");
	list_init(&job.placed);
	room_parse(&job.room, request, root);
	/* A server may still be saving what a killed one had not copied. */
	if (job.compare && (flock(data_fd, LOCK_EX) < 0 || flock(data_fd, LOCK_SH) < 0))
		return err_sys(err, "waiting for another copy");
	/* Without a folder each file still gets its own result. */
	result = fresh && !any_readable(&job, files) ? keep_files(&job, files, err)
						     : keep_in_folder(&job, root, request, err);
	free(job.report);
	json_decref(job.logs);
	logs_forget(&job.placed);
	if (result == 0)
		program_result(json_object());
	return result;
}
