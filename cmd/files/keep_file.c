/* SPDX-License-Identifier: MIT */
/*
 * keep_file.c - copies a file to the name that the request gives it. Existing files that are not
 * known copies are the user's and are never replaced. A file that is written during its copy is
 * copied again, a few times. An alarm ends the process when a network folder does not respond and
 * the server is dead.
 */
#include "keep_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adopt.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/util.h"
#include "grow.h"
#include "helper/program.h"
#include "json/get.h"
#include "json/make.h"
#include "keep.h"
#include "logs.h"
#include "page.h"
#include "workspace/beneath.h"
#include "workspace/expose.h"

enum { KEEP_HANGS_S = 300, COPY_TRIES = 3 };

void keep_file_release(struct keep_file *file)
{
	free(file->from);
	free(file->to);
}

void keep_file_parse_known(const json_t *value, struct copy_known *ret_known)
{
	ret_known->known = json_is_true(json_object_get(value, "known"));
	ret_known->ino = json_integer_value(json_object_get(value, "ino"));
	ret_known->mtime_ns = json_integer_value(json_object_get(value, "mtime"));
	ret_known->size = json_integer_value(json_object_get(value, "size"));
}

int keep_file_parse(const json_t *value, struct keep_file *ret_file, struct err *err)
{
	ret_file->from = json_path_of(json_object_get(value, "from"));
	ret_file->to = json_path_of(json_object_get(value, "to"));
	keep_file_parse_known(value, &ret_file->known);
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

void keep_file_show_life(void)
{
	program_alive();
	(void)alarm(KEEP_HANGS_S);
}

static int open_drawn(const struct keep_job *job, struct err *err)
{
	if (job->drawn_fd < 0)
		return err_set(err, ERR_INVALID, "it could not be drawn");
	return fd_dup(job->drawn_fd, err);
}

int keep_file_open_source(const struct keep_job *job, const struct keep_file *file,
			  bool *ret_linked, struct stat *ret_stat, struct err *err)
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

int keep_file_open_parent(int folder_fd, const char *path, struct buf *parent,
			  const char **ret_name, struct err *err)
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
			const struct keep_file *file, struct copy_made *ret_made, struct err *err)
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

/*
 * Reports a copy that is there already. Returns false if there is none. With `exact` it must have
 * the name itself: a numbered log is that of another database.
 */
static bool adopt(int from, int dir, const char *name, bool exact, const struct buf *parent,
		  json_t *progress)
{
	struct stat st;
	cleanup_free char *taken = adopt_same(from, dir, name, &st);

	if (taken == NULL || (exact && !str_eq(taken, name)))
		return false;
	put_stat(progress, parent, taken, &st);
	json_put_bool(progress, "same", true);
	return true;
}

/* Finds out whether an earlier life of the session made the file at `name`. */
static void recognise(int dir, const char *name, struct keep_file *file)
{
	if (file->report)
		page_recognise(dir, name, &file->known);
	adopt_listed(dir, name, file->copies, &file->known);
	if (file->seen_mtime > 0)
		adopt_seen(dir, name, file->seen_size, file->seen_mtime, &file->known);
}

static bool is_of_session(const struct keep_file *file)
{
	return !file->spare && !file->whole && !file->report;
}

bool keep_file_is_database(const struct keep_job *job, const struct keep_file *file)
{
	cleanup_fd int fd = is_of_session(file)
				    ? beneath_open(job->data.fd, file->from,
						   O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
				    : -1;

	return fd >= 0 && logs_is_database(fd);
}

static void put_kind(const struct keep_job *job, const struct keep_file *file, json_t *progress)
{
	if (job->names || file->whole)
		json_put_path(progress, "from", file->from);
	json_put_bool(progress, "whole", file->whole);
	json_put_bool(progress, "report", file->report);
}

/* Returns true if a file that is not known is at the place. */
static bool is_taken(int dir, const char *name, const struct copy_known *known)
{
	return !copy_is_known(dir, name, known) &&
	       faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool has_same(int from, int dir, const char *name)
{
	struct stat st;
	cleanup_free char *taken = adopt_same(from, dir, name, &st);

	return taken != NULL && str_eq(taken, name);
}

bool keep_file_is_displaced(const struct keep_job *job, struct keep_file *file)
{
	cleanup_buf struct buf parent = BUF_INIT(BUF_UNBOUNDED);
	const char *name = NULL;
	struct err ignored; /* that comes again when the file is copied */
	struct stat st;
	bool linked;
	cleanup_fd int from =
		is_of_session(file) ? keep_file_open_source(job, file, &linked, &st, &ignored) : -1;
	cleanup_fd int dir = from < 0 ? -1
				      : keep_file_open_parent(job->folder_fd, file->to, &parent,
							      &name, &ignored);

	if (dir < 0 || (job->compare && has_same(from, dir, name)))
		return false;
	recognise(dir, name, file);
	return is_taken(dir, name, &file->known);
}

void keep_file_set_anew(struct keep_file *file)
{
	file->anew = true;
	file->along = false;
	file->known.known = false;
}

/*
 * Opens the folder for the copy, as keep_file_open_parent does. A log's copy goes to the copy of
 * its database. An earlier one stays, because the earlier copy of the database needs it.
 */
static int open_place(const struct keep_job *job, struct keep_file *file, struct buf *parent,
		      const char **ret_name, struct err *err)
{
	cleanup_free char *to =
		is_of_session(file) ? logs_follow(&job->placed, file->from, file->to) : NULL;
	int dir = keep_file_open_parent(job->folder_fd, file->to, parent, ret_name, err);

	if (dir < 0 || to == NULL)
		return dir;
	free(file->to);
	file->to = mem_steal(&to);
	file->known.known = false;
	file->along = false;
	*ret_name = path_base(file->to);
	return dir;
}

static json_int_t known_size(const struct keep_file *file)
{
	return file->known.known ? file->known.size : 0;
}

/* Checks whether a file may be copied, and sets the size of what is copied of it. */
static int check_file(struct keep_job *job, const struct keep_file *file, struct stat *st,
		      struct err *err)
{
	if (is_of_session(file) && logs_is_stranded(&job->placed, file->from))
		return err_set(err, ERR_DENIED, "its database was not");
	if (file->suffix != NULL && (file->take < 0 || file->take > st->st_size))
		return err_set(err, ERR_INVALID, "it is shorter than it was");
	if (file->suffix != NULL)
		st->st_size = file->take;
	return room_check(&job->room, st->st_size, known_size(file), file->spare, err);
}

int keep_file_copy(struct keep_job *job, struct keep_file *file, json_t *progress, struct err *err)
{
	struct copy_source source;
	struct copy_made copy;
	const char *name = NULL;
	bool linked;
	cleanup_fd int from = keep_file_open_source(job, file, &linked, &source.stat, err);
	cleanup_fd int dir = -1;
	cleanup_free char *taken = NULL;
	cleanup_buf struct buf path = BUF_INIT(BUF_UNBOUNDED);
	bool paired;
	json_int_t before;

	if (from < 0) {
		json_put_bool(progress, "unread", true);
		return -1;
	}
	if (check_file(job, file, &source.stat, err) < 0)
		return -1;
	if (linked && is_unchanged(&source.stat, &file->known)) {
		json_put_bool(progress, "unchanged", true);
		return 0;
	}
	source.fd = from;
	source.moved = keep_file_show_life;
	source.suffix = file->suffix;
	source.durable = job->durable;
	dir = open_place(job, file, &path, &name, err);
	before = known_size(file); /* a log's earlier copy may stay */
	if (dir < 0 || room_check(&job->room, source.stat.st_size, before, file->spare, err) < 0)
		return -1;
	if (file->along && is_unchanged(&source.stat, &file->known) &&
	    copy_is_known(dir, name, &file->known)) {
		json_put_bool(progress, "unchanged", true);
		return 0;
	}
	put_kind(job, file, progress);
	paired = is_of_session(file) && logs_has_place(&job->placed, file->from);
	if ((job->compare || file->report) && !file->anew &&
	    !copy_is_known(dir, name, &file->known) &&
	    adopt(from, dir, name, paired, &path, progress))
		return 0;
	if (!file->anew)
		recognise(dir, name, file);
	if (paired && is_taken(dir, name, &file->known))
		return err_set(err, ERR_DENIED, "another file has its name");
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
