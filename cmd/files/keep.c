/* SPDX-License-Identifier: MIT */
/*
 * keep.c - copies results and reports each. The result folder is opened by name before landlock:
 * only the user may have made it a link. From there on, everything is done below the two
 * descriptors. Existing files that are not known copies are the user's and are never replaced. A
 * file that is written during its copy is copied again, a few times. An alarm ends the process when
 * a network folder does not respond and the server is dead.
 */
#include "keep.h"
#include "helper/program.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adopt.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/util.h"
#include "copy.h"
#include "destination.h"
#include "grow.h"
#include "json/get.h"
#include "json/make.h"
#include "kept_index.h"
#include "lockdown.h"
#include "logs.h"
#include "page.h"
#include "room.h"
#include "source.h"
#include "workspace/beneath.h"
#include "workspace/expose.h"
#include "workspace/original.h"

enum { KEEP_HANGS_S = 300, COPY_TRIES = 3 };

struct job {
	struct source_folder data;
	struct source_folder spool;  /* their fd is -1 unless a file comes from there */
	struct source_folder inputs; /* the originals of uploads */
	int folder_fd;               /* the destination */
	int drawn_fd;                /* the report; -1 if it could not be drawn */
	char *report;                /* its name, once it was copied */
	struct list moved;           /* of logs.h */
	struct room room;
	bool durable;
	bool names;   /* progress has "from" */
	bool compare; /* copies that are not known are found by their content */
};

struct file {
	char *from;
	char *to;
	struct copy_known known;
	bool spare;
	bool whole;
	bool report;          /* it is drawn_fd */
	bool along;           /* it may be unchanged */
	const char *suffix;   /* borrowed from the request; NULL for a copy of the whole file */
	json_int_t take;      /* with a suffix: how many bytes come before it */
	json_int_t stays;     /* with a suffix: how many of them the known copy begins with */
	json_int_t seen_size; /* an earlier copy at `to` has these; a time of 0: not known */
	json_int_t seen_mtime;
	const json_t *copies; /* borrowed; earlier copies, one of which may be at `to` */
};

static void file_release(struct file *file)
{
	free(file->from);
	free(file->to);
}
#define cleanup_file __attribute__((cleanup(file_release)))

static void parse_known(const json_t *value, struct copy_known *ret_known)
{
	ret_known->known = json_is_true(json_object_get(value, "known"));
	ret_known->ino = json_integer_value(json_object_get(value, "ino"));
	ret_known->mtime_ns = json_integer_value(json_object_get(value, "mtime"));
	ret_known->size = json_integer_value(json_object_get(value, "size"));
}

static int file_parse(const json_t *value, struct file *ret_file, struct err *err)
{
	ret_file->from = json_path_of(json_object_get(value, "from"));
	ret_file->to = json_path_of(json_object_get(value, "to"));
	parse_known(value, &ret_file->known);
	ret_file->spare = json_is_true(json_object_get(value, "spare"));
	ret_file->whole = json_is_true(json_object_get(value, "whole"));
	ret_file->report = json_is_true(json_object_get(value, "report"));
	ret_file->along = json_is_true(json_object_get(value, "along"));
	ret_file->suffix = json_string_value(json_object_get(value, "suffix"));
	ret_file->take = json_integer_value(json_object_get(value, "take"));
	ret_file->stays = json_integer_value(json_object_get(value, "stays"));
	ret_file->seen_size = json_integer_value(json_object_get(value, "seen_size"));
	ret_file->seen_mtime = json_integer_value(json_object_get(value, "seen_mtime"));
	ret_file->copies = json_object_get(value, "copies");
	if ((ret_file->from == NULL && !ret_file->report) || ret_file->to == NULL)
		return err_set(err, ERR_INVALID, "a file of the request has no valid path");
	return 0;
}

/* ---- one file ---- */

/*
 * Shows the server that this helper is alive, as the server ends one that is not. When the server
 * is dead, the alarm ends it: reading a network folder that does not respond would wait for ever.
 */
static void show_life(void)
{
	program_alive();
	(void)alarm(KEEP_HANGS_S);
}

static int open_drawn(const struct job *job, struct err *err)
{
	if (job->drawn_fd < 0)
		return err_set(err, ERR_INVALID, "it could not be drawn");
	return fd_dup(job->drawn_fd, err);
}

static int open_source(const struct job *job, const struct file *file, bool *ret_linked,
		       struct stat *ret_stat, struct err *err)
{
	const struct source_folder *folder = file->whole   ? &job->spool
					     : file->spare ? &job->inputs
							   : &job->data;
	cleanup_fd int fd = -1;

	*ret_linked = false;
	fd = file->report ? open_drawn(job, err) : source_open(folder, file->from, ret_linked, err);
	if (fd < 0)
		return -1;
	if (fstat(fd, ret_stat) < 0)
		return err_sys(err, "looking at it");
	return fd_steal(&fd);
}

/*
 * Opens the folder for `path`. Appends its name with a slash to `parent`, and sets *ret_name to the
 * last part.
 */
static int open_parent(int folder_fd, const char *path, struct buf *parent, const char **ret_name,
		       struct err *err)
{
	cleanup_fd int held = -1;
	const char *slash;

	if (!beneath_path_valid(path))
		return err_set(err, ERR_INVALID, "its name cannot be that of a file");
	held = fd_dup(folder_fd, err);
	for (; held >= 0 && (slash = strchr(path, '/')) != NULL; path = slash + 1) {
		cleanup_free char *part = xasprintf("%.*s", (int)(slash - path), path);
		cleanup_free char *taken = NULL;
		int next = copy_enter(held, part, &taken, err);

		fd_close(&held);
		held = next;
		if (next >= 0)
			buf_putf(parent, "%s/", taken);
	}
	*ret_name = path;
	return fd_steal(&held);
}

/*
 * Returns true when the file was written to during the copy, other than by appending: the copy may
 * mix two states.
 */
static bool is_mixed(const struct copy_source *source)
{
	struct stat now;

	return source->suffix == NULL && fstat(source->fd, &now) == 0 &&
	       now.st_size <= source->stat.st_size &&
	       copy_mtime_ns(&now) != copy_mtime_ns(&source->stat);
}

static int copy_once(const struct copy_source *source, int dir, const char *name,
		     const struct copy_known *known, struct copy_made *ret_made, struct err *err)
{
	if (source->suffix == NULL)
		expose_writes(source->fd);
	return copy_file(source, dir, name, known, ret_made, err);
}

/* Repeats a copy that is mixed. Afterwards, is_mixed() reports whether it still is. */
static int copy_whole(struct copy_source *source, int dir, const char *name,
		      const struct copy_known *known, struct copy_made *ret_made, struct err *err)
{
	struct copy_known last;

	if (copy_once(source, dir, name, known, ret_made, err) < 0)
		return -1;
	for (int tries = 1; is_mixed(source) && tries < COPY_TRIES; tries++) {
		cleanup_free char *taken = ret_made->name;

		last = copy_describe(&ret_made->stat);
		if (fstat(source->fd, &source->stat) < 0 || lseek(source->fd, 0, SEEK_SET) < 0)
			return err_sys(err, "reading it once more");
		if (copy_once(source, dir, taken, &last, ret_made, err) < 0)
			return -1;
	}
	return 0;
}

/*
 * Returns true when the target of a link is unchanged. The link itself does not show that, so
 * targets are checked after each cell.
 */
static bool is_unchanged(const struct stat *st, const struct copy_known *known)
{
	return known->known && st->st_size == known->size && copy_mtime_ns(st) == known->mtime_ns;
}

/* Writes the new end of the known copy where that can be done, else a new copy. */
static int copy_or_grow(struct copy_source *source, int dir, const char *name,
			const struct file *file, struct copy_made *ret_made, struct err *err)
{
	const struct grow_copy copy = {
		.dir_fd = dir, .name = name, .known = &file->known, .stays = file->stays
	};

	ret_made->name = NULL;
	if (file->suffix != NULL && file->known.known &&
	    grow_file(source, &copy, ret_made, err) < 0)
		return -1;
	return ret_made->name != NULL ? 0
				      : copy_whole(source, dir, name, &file->known, ret_made, err);
}

static void put_copy(json_t *progress, const char *to, const struct copy_known *copy)
{
	json_put_path(progress, "to", to);
	json_put_int(progress, "ino", copy->ino);
	json_put_int(progress, "mtime", copy->mtime_ns);
	json_put_int(progress, "size", copy->size);
}

static void put_stat(json_t *progress, const struct buf *parent, const char *name,
		     const struct stat *st)
{
	cleanup_free char *path = xasprintf("%s%s", buf_str(parent), name);

	put_copy(progress, path,
		 &(struct copy_known){ .ino = (json_int_t)st->st_ino,
				       .mtime_ns = copy_mtime_ns(st),
				       .size = st->st_size });
}

/* Reports a copy that is there already. Returns false if there is none. */
static bool adopt(int from, int dir, const char *name, const struct buf *parent, json_t *progress)
{
	struct stat st;
	cleanup_free char *taken = adopt_same(from, dir, name, &st);

	if (taken == NULL)
		return false;
	put_stat(progress, parent, taken, &st);
	json_put_bool(progress, "same", true);
	return true;
}

/* Finds out whether an earlier life of the session made the file at `name`. */
static void recognise(int dir, const char *name, struct file *file)
{
	if (file->report)
		page_recognise(dir, name, &file->known);
	adopt_listed(dir, name, file->copies, &file->known);
	if (file->seen_mtime > 0)
		adopt_seen(dir, name, file->seen_size, file->seen_mtime, &file->known);
}

/* Nothing of ours is a database. */
static bool is_of_session(const struct file *file)
{
	return !file->spare && !file->whole && !file->report;
}

static void put_kind(const struct job *job, const struct file *file, json_t *progress)
{
	if (job->names || file->whole)
		json_put_path(progress, "from", file->from);
	json_put_bool(progress, "whole", file->whole);
	json_put_bool(progress, "report", file->report);
}

/* Opens the folder for the copy, as open_parent does; for a log's, where the database's copy is. */
static int open_place(const struct job *job, struct file *file, struct buf *parent,
		      const char **ret_name, struct err *err)
{
	cleanup_free char *to =
		is_of_session(file) ? logs_follow(&job->moved, file->from, file->to) : NULL;
	int dir = open_parent(job->folder_fd, file->to, parent, ret_name, err);
	struct err ignored; /* the user has changed it, or it is not there */

	if (dir < 0 || to == NULL)
		return dir;
	free(copy_move(dir, *ret_name, path_base(to), &file->known, &ignored));
	free(file->to);
	file->to = mem_steal(&to);
	file->along = false;
	*ret_name = path_base(file->to);
	return dir;
}

static int keep_file(struct job *job, struct file *file, json_t *progress, struct err *err)
{
	struct copy_source source;
	struct copy_made copy;
	const char *name = NULL;
	bool linked;
	cleanup_fd int from = open_source(job, file, &linked, &source.stat, err);
	cleanup_fd int dir = -1;
	cleanup_free char *taken = NULL;
	cleanup_buf struct buf path = BUF_INIT(BUF_UNBOUNDED);
	json_int_t before = file->known.known ? file->known.size : 0;

	if (from < 0) {
		json_put_bool(progress, "unread", true);
		return -1;
	}
	if (file->suffix != NULL && (file->take < 0 || file->take > source.stat.st_size))
		return err_set(err, ERR_INVALID, "it is shorter than it was");
	if (file->suffix != NULL)
		source.stat.st_size = file->take;
	if (room_check(&job->room, source.stat.st_size, before, file->spare, err) < 0)
		return -1;
	if (linked && is_unchanged(&source.stat, &file->known)) {
		json_put_bool(progress, "unchanged", true);
		return 0;
	}
	source.fd = from;
	source.moved = show_life;
	source.suffix = file->suffix;
	source.durable = job->durable;
	dir = open_place(job, file, &path, &name, err);
	if (dir < 0)
		return -1;
	if (file->along && is_unchanged(&source.stat, &file->known) &&
	    copy_is_known(dir, name, &file->known)) {
		json_put_bool(progress, "unchanged", true);
		return 0;
	}
	put_kind(job, file, progress);
	if ((job->compare || file->report) && !copy_is_known(dir, name, &file->known) &&
	    adopt(from, dir, name, &path, progress))
		return 0;
	recognise(dir, name, file);
	if (copy_or_grow(&source, dir, name, file, &copy, err) < 0)
		return -1;
	taken = copy.name;
	if (is_of_session(file))
		logs_set_aside(from, job->data.fd, file->from, dir, taken);
	room_take(&job->room, copy.stat.st_size - before);
	put_stat(progress, &path, taken, &copy.stat);
	json_put_bool(progress, "mixed", is_mixed(&source));
	json_put_bool(progress, "linked", linked);
	return 0;
}

/* Notes where a file's copy is. */
static void note_copy(struct job *job, const struct file *file, const json_t *progress)
{
	cleanup_free char *to = json_path_of(json_object_get(progress, "to"));

	if (file->report)
		job->report = mem_steal(&to);
	else if (is_of_session(file))
		logs_note(&job->moved, file->from, to == NULL ? file->to : to);
}

/* Copies files, those last that are logs of databases by their names. */
static int keep_files(struct job *job, const json_t *files, struct err *err)
{
	size_t count = json_array_size(files);

	for (size_t i = 0; i < 2 * count; i++) {
		size_t index = i < count ? i : i - count;
		cleanup_file struct file file = { .from = NULL };
		json_t *progress;
		struct err trouble;

		if (file_parse(json_array_get(files, index), &file, err) < 0)
			return -1;
		if (logs_is_log(file.to) != (i >= count))
			continue;
		show_life();
		progress = json_object();
		json_put_int(progress, "file", (json_int_t)index);
		if (keep_file(job, &file, progress, &trouble) < 0) {
			json_put_str(progress, "problem", trouble.msg);
			json_put_bool(progress, "again",
				      trouble.code == ERR_SYSTEM || trouble.code == ERR_BUSY);
		} else
			note_copy(job, &file, progress);
		program_progress(progress);
	}
	return 0;
}

/* Returns true when one of the files can be read. If none can, no folder is created. */
static bool any_readable(struct job *job, const json_t *files)
{
	size_t index;
	json_t *value;

	json_array_foreach (files, index, value) {
		cleanup_file struct file file = { .from = NULL };
		bool linked;
		struct stat st;
		struct err err;
		cleanup_fd int fd = file_parse(value, &file, &err) < 0
					    ? -1
					    : open_source(job, &file, &linked, &st, &err);

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
static int step_aside(const struct job *job, const json_t *move, json_t *progress, struct err *err)
{
	struct copy_known known;
	cleanup_free char *at = json_path_of(json_object_get(move, "at"));
	cleanup_free char *to = json_path_of(json_object_get(move, "to"));
	cleanup_buf struct buf parent = BUF_INIT(BUF_UNBOUNDED);
	const char *name = NULL;
	cleanup_fd int dir = -1;
	cleanup_free char *taken = NULL;

	parse_known(move, &known);
	if (at == NULL || to == NULL)
		return err_set(err, ERR_INVALID, "a move of the request has no valid path");
	dir = open_parent(job->folder_fd, at, &parent, &name, err);
	if (dir < 0)
		return -1;
	taken = copy_move(dir, name, to, json_object_get(move, "known") != NULL ? &known : NULL,
			  err);
	json_put_path(progress, "to", taken);
	return taken == NULL ? -1 : 0;
}

static void make_moves(const struct job *job, const json_t *moves)
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
static void sync_files(const struct job *job, const json_t *paths)
{
	size_t index;
	json_t *value;

	json_array_foreach (paths, index, value) {
		cleanup_free char *path = json_path_of(value);
		cleanup_fd int fd =
			path == NULL ? -1 : beneath_open(job->folder_fd, path, O_RDONLY, 0);

		if (fd >= 0)
			(void)fsync(fd);
		show_life();
	}
}

static void report(const char *what)
{
	json_t *progress = json_object();

	json_put_bool(progress, what, true);
	program_progress(progress);
}

/* Adds the session to the page of the root. Nothing depends on the page: it may fail. */
static void update_index(const struct job *job, int root_fd, const json_t *facts)
{
	struct err ignored;

	if (job->report == NULL || facts == NULL ||
	    kept_index_note(job->folder_fd, facts, job->report, &ignored) < 0)
		return;
	(void)!kept_index_draw(root_fd, &ignored);
}

static int keep_in_folder(struct job *job, const char *root, const json_t *request, struct err *err)
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
	struct job job = { .data = { .fd = data_fd, .seen = seen },
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
	list_init(&job.moved);
	room_parse(&job.room, request, root);
	/* A server may still be saving what a killed one had not copied. */
	if (job.compare && (flock(data_fd, LOCK_EX) < 0 || flock(data_fd, LOCK_SH) < 0))
		return err_sys(err, "waiting for another copy");
	/* Without a folder each file still gets its own result. */
	result = fresh && !any_readable(&job, files) ? keep_files(&job, files, err)
						     : keep_in_folder(&job, root, request, err);
	free(job.report);
	logs_forget(&job.moved);
	if (result == 0)
		program_result(json_object());
	return result;
}
