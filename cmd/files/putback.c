/* SPDX-License-Identifier: MIT */
/*
 * putback.c - makes one tree like another. Files that only the replay made are removed first,
 * except files that are still written to. Files that only the session had are linked, not
 * copied. Modes and times are set last, because a folder's mode may forbid what must be done in
 * it.
 */
#include "putback.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "copy.h"
#include "database.h"
#include "helper/program.h"
#include "json/make.h"
#include "lockdown.h"
#include "open_files.h"
#include "remove.h"
#include "unlock.h"
#include "workspace/aside.h"
#include "workspace/dblogs.h"

enum { LINK_TEXT_MAX = 4096, TEXT_BLOCK = 4096, TEXT_LEAST = 9 /* a tab; no text has less */ };

struct putback {
	struct buf path; /* of the current folder, with a slash behind it */
	struct open_files open;
	size_t counts[ASIDE_LISTS]; /* files to report */
	size_t removed;             /* files and folders */
	bool failed;
	struct err err; /* the first failure */
};

/* A folder on both sides. */
struct pair {
	int from; /* the session's */
	int to;   /* the one in which cells ran */
	int depth;
};

/* A folder below `to` of a pair, in which files are removed. */
struct clearing {
	int dir_fd;
	int depth;
	bool may_stay; /* nothing of the session takes its place */
};

static void put_folder(struct putback *p, const struct pair *pair);

/* ---- reports ---- */

static void note_problem(struct putback *p, const char *name)
{
	if (p->failed)
		return;
	p->failed = true;
	(void)err_sys(&p->err, "'%s%s'", buf_str(&p->path), name);
}

/* Programs write into hidden folders and caches by themselves. */
static bool is_quiet(const char *path)
{
	static const char *const caches[] = { "__pycache__/", "node_modules/" };

	for (size_t i = 0; i < ARRAY_SIZE(caches); i++)
		if (strstr(path, caches[i]) != NULL)
			return true;
	return path[0] == '.' || strstr(path, "/.") != NULL;
}

/* Reports a file. A hidden one is reported if it is known to be open. */
static void report_in(struct putback *p, enum aside_list list, const char *name, const char *how)
{
	cleanup_free char *path = xasprintf("%s%s", buf_str(&p->path), name);
	bool is_open = list == ASIDE_OPEN || list == ASIDE_STAYS;
	json_t *progress;

	if (!is_open && is_quiet(path))
		return;
	if (p->counts[list]++ >= (is_open ? PUTBACK_OPEN_MAX : PUTBACK_NAMED_MAX))
		return;
	progress = json_object();
	json_put_path(progress, "path", path);
	json_put_str(progress, "how", how);
	json_put_int(progress, "list", (json_int_t)list);
	program_progress(progress);
}

static void report(struct putback *p, const char *name, const char *how)
{
	if (!str_eq(how, "missing") || strncmp(buf_str(&p->path), "input/", 6) != 0)
		report_in(p, ASIDE_CHANGED, name, how);
}

/* Reports a file that processes do not reach any more, if they have it open. */
static void report_unreached(struct putback *p, enum open_files_how open, const char *name,
			     const char *how)
{
	report_in(p,
		  open == OPEN_FILES_NONE      ? ASIDE_CHANGED
		  : open == OPEN_FILES_UNKNOWN ? ASIDE_UNKNOWN
					       : ASIDE_OPEN,
		  name, how);
}

/* ---- opening ---- */

static int open_folder(int dir_fd, const char *name)
{
	cleanup_fd int path = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (path < 0 || unlock_open_folder(path) < 0)
		return -1;
	return openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Returns how a file is open. Its mode stays. */
static enum open_files_how how_open(const struct putback *p, int dir_fd, const char *name,
				    const struct stat *st)
{
	cleanup_fd int fd = unlock_and_open_file(dir_fd, name, O_RDONLY);

	if (fd >= 0 && (st->st_mode & 0600) != 0600)
		(void)fchmod(fd, st->st_mode & 07777);
	return open_files_how(&p->open, fd);
}

/* ---- removing ---- */

static void remove_any(struct putback *p, int dir_fd, const char *name, const struct stat *st)
{
	int problem = 0;

	p->removed++;
	if (!S_ISDIR(st->st_mode))
		problem = unlinkat(dir_fd, name, 0) < 0 ? errno : 0;
	else
		problem = remove_tree(dir_fd, name);
	if (problem == 0 || problem == ENOENT)
		return;
	errno = problem;
	note_problem(p, name);
}

/* Notes an error that ended the list of a folder before its end. Must follow its last entry. */
static void end_list(struct putback *p, DIR *dir)
{
	if (errno != 0)
		note_problem(p, "");
	(void)closedir(dir);
}

static bool clear(struct putback *p, const struct clearing *at, const char *name);

static bool clear_folder(struct putback *p, const struct clearing *at, const char *name,
			 const struct stat *st)
{
	size_t len = p->path.len;
	cleanup_fd int fd = at->depth < PUTBACK_DEPTH_MAX ? open_folder(at->dir_fd, name) : -1;
	const struct clearing below = { fd, at->depth + 1, at->may_stay };
	DIR *dir = fd >= 0 ? fd_list(fd) : NULL;
	const struct dirent *entry;
	bool any = false;

	if (dir == NULL && at->depth < PUTBACK_DEPTH_MAX) {
		if (errno == ENOENT)
			return false;
		note_problem(p, name);
		return true;
	}
	if (dir != NULL) {
		buf_putf(&p->path, "%s/", name);
		while (!p->failed && (entry = fd_next_entry(dir)) != NULL)
			if (!fd_is_dot(entry->d_name))
				any = clear(p, &below, entry->d_name) || any;
		end_list(p, dir);
		p->path.len = len;
		p->path.data[len] = '\0';
	}
	if (p->failed)
		return true;
	if (any)
		(void)fchmod(fd, st->st_mode & 07777);
	else
		remove_any(p, at->dir_fd, name, st);
	return any;
}

/*
 * Removes what the session does not have. A file that is open for writing stays if it may, and so
 * do its folders: its rows or lines would be lost. A file that may be open is removed, and reported
 * as such. Returns true if anything stays.
 */
static bool clear(struct putback *p, const struct clearing *at, const char *name)
{
	enum open_files_how how = OPEN_FILES_NONE;
	struct stat st;

	if (fstatat(at->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (S_ISDIR(st.st_mode))
		return clear_folder(p, at, name, &st);
	if (S_ISREG(st.st_mode))
		how = how_open(p, at->dir_fd, name, &st);
	if (at->may_stay && how > OPEN_FILES_UNKNOWN) {
		report_in(p, ASIDE_STAYS, name, "new");
		return true;
	}
	if (how == OPEN_FILES_UNKNOWN || (!at->may_stay && how != OPEN_FILES_NONE))
		report_unreached(p, how, name, "removed");
	remove_any(p, at->dir_fd, name, &st);
	return false;
}

/* Clears a file that the session did not have, or had as another kind of file. */
static void remove_if_new(struct putback *p, const struct pair *pair, const char *name)
{
	struct stat to;
	struct stat from;
	bool is = fstatat(pair->to, name, &to, AT_SYMLINK_NOFOLLOW) == 0;
	bool had = is && fstatat(pair->from, name, &from, AT_SYMLINK_NOFOLLOW) == 0;
	const struct clearing at = { pair->to, pair->depth, !had };
	size_t removed = p->removed;
	bool stays;

	if (!had && errno != ENOENT)
		note_problem(p, name);
	if (!is || (!had && errno != ENOENT))
		return;
	if (had && (from.st_mode & S_IFMT) == (to.st_mode & S_IFMT))
		return;
	stays = clear(p, &at, name);
	if (!had && p->removed > removed)
		report(p, name, stays ? "new, but for what stays" : "new");
}

static void remove_new(struct putback *p, const struct pair *pair)
{
	DIR *dir = fd_list(pair->to);
	const struct dirent *entry;

	if (dir == NULL) {
		note_problem(p, "");
		return;
	}
	while (!p->failed && (entry = fd_next_entry(dir)) != NULL)
		if (!fd_is_dot(entry->d_name))
			remove_if_new(p, pair, entry->d_name);
	end_list(p, dir);
}

/* ---- files ---- */

static void set_like(struct putback *p, int fd, const struct stat *like, const char *name)
{
	const struct timespec times[] = { like->st_atim, like->st_mtim };

	if ((geteuid() == 0 && fchown(fd, like->st_uid, like->st_gid) < 0) ||
	    fchmod(fd, like->st_mode & 07777) < 0 || futimens(fd, times) < 0)
		note_problem(p, name);
}

/* Links the session's file into place: both names have it until the other one is removed. */
static void link_file(struct putback *p, const struct pair *pair, const char *name)
{
	(void)unlinkat(pair->to, name, 0);
	if (linkat(pair->from, name, pair->to, name, 0) < 0)
		note_problem(p, name);
}

/* Writes the session's bytes into the file that interpreters may have open. Copies keep holes. */
static bool rewrite(int from, int to, off_t size)
{
	struct err ignored;

	return ftruncate(to, 0) == 0 && copy_bytes(from, to, size, &ignored) == 0;
}

static bool is_text(int fd)
{
	unsigned char block[TEXT_BLOCK];
	ssize_t len = pread(fd, block, sizeof(block), 0);

	for (ssize_t i = 0; i < len; i++)
		if (block[i] < TEXT_LEAST)
			return false;
	return len >= 0;
}

/*
 * Returns whether a file that differs may be written in place.
 *
 * A program that writes at its own place, or from a state of its own as a compressor does, would
 * damage the session's bytes. One that reads has state, too: the index of an archive, or a map that
 * ends with the file. A line of text that is appended, as to a log, damages none.
 */
static bool may_share(enum open_files_how how, int from, int to)
{
	if (how == OPEN_FILES_APPENDS)
		return is_text(from) && is_text(to);
	return how == OPEN_FILES_NONE;
}

/* A file on both sides; -1 for one that could not be opened. */
struct both {
	int from;
	int to;
	bool alone; /* neither has another name */
	bool same;  /* they have the same bytes */
};

/*
 * Puts a file back that differs, or that has or had several names. The latter gets the session's
 * own file, which is right under all names. So does a file that must not be shared: its handles
 * then go on with a file that has no name.
 */
static void replace_bytes(struct putback *p, const struct pair *pair, const char *name,
			  const struct stat *st, const struct both *both)
{
	enum open_files_how how = open_files_how(&p->open, both->to);
	bool in_place = both->alone && both->from >= 0 && both->to >= 0 &&
			may_share(how, both->from, both->to);
	cleanup_fd int writable = in_place ? unlock_and_open_file(pair->to, name, O_RDWR) : -1;

	if (in_place || (both->same && how == OPEN_FILES_READS))
		report(p, name, both->same ? "relinked" : "differs");
	else
		report_unreached(p, how, name, both->same ? "relinked" : "differs");
	if (writable >= 0 && rewrite(both->from, writable, st->st_size))
		set_like(p, writable, st, name);
	else
		link_file(p, pair, name);
}

static void put_bytes(struct putback *p, const struct pair *pair, const char *name,
		      const struct stat *st, const struct stat *now)
{
	cleanup_fd int from = unlock_and_open_file(pair->from, name, O_RDONLY);
	cleanup_fd int to = unlock_and_open_file(pair->to, name, O_RDONLY);
	const struct both both = { .from = from,
				   .to = to,
				   .alone = st->st_nlink == 1 && now->st_nlink == 1,
				   .same = from >= 0 && to >= 0 && now->st_size == st->st_size &&
					   copy_is_same(from, to, program_alive) };

	if (both.same && both.alone)
		set_like(p, to, st, name);
	else
		replace_bytes(p, pair, name, st, &both);
	if (from >= 0)
		(void)fchmod(from, st->st_mode & 07777);
}

static void put_file(struct putback *p, const struct pair *pair, const char *name,
		     const struct stat *st)
{
	struct stat now;

	if (fstatat(pair->to, name, &now, AT_SYMLINK_NOFOLLOW) < 0) {
		report(p, name, "missing");
		link_file(p, pair, name);
	} else if (now.st_ino != st->st_ino || now.st_dev != st->st_dev) {
		put_bytes(p, pair, name, st, &now);
	}
}

static void note_bound(struct putback *p, const char *name, enum open_files_how how)
{
	if (p->failed)
		return;
	p->failed = true;
	(void)err_set(&p->err, ERR_BUSY,
		      "a cell %s a connection open, which would damage the log of a database; "
		      "cells should close connections at their end: '%s%s'",
		      how == OPEN_FILES_UNKNOWN ? "may have left" : "has left", buf_str(&p->path),
		      name);
}

/* Replaces a database with its logs, if it differs: an open connection must not go on with it. */
static void put_database(struct putback *p, const struct pair *pair, const char *name)
{
	struct stat st;
	enum open_files_how how;

	if (!database_is(pair->from, name) ||
	    fstatat(pair->to, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
	    database_is_same(pair->from, pair->to, name))
		return;
	how = how_open(p, pair->to, name, &st);
	if (database_is_bound(pair->from, name) && how > OPEN_FILES_READS) {
		note_bound(p, name, how);
		return;
	}
	report_unreached(p, how, name, "differs");
	if (database_remove(pair->to, name) < 0) {
		note_problem(p, name);
		return;
	}
	link_file(p, pair, name);
	for (size_t i = 0; i < DBLOGS_COUNT; i++) {
		cleanup_free char *log = dblogs_name(name, i);

		if (fstatat(pair->from, log, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode)) {
			remove_if_new(p, pair, log);
			link_file(p, pair, log);
		}
	}
}

static void put_link(struct putback *p, const struct pair *pair, const char *name,
		     const struct stat *st)
{
	char before[LINK_TEXT_MAX] = "";
	char after[LINK_TEXT_MAX] = "";
	const struct timespec times[] = { st->st_atim, st->st_mtim };
	ssize_t len = readlinkat(pair->from, name, before, sizeof(before) - 1);
	ssize_t now = readlinkat(pair->to, name, after, sizeof(after) - 1);

	if (len >= 0 && len == now && str_eq(before, after)) {
		(void)utimensat(pair->to, name, times, AT_SYMLINK_NOFOLLOW);
		return;
	}
	report(p, name, now < 0 ? "missing" : "differs");
	link_file(p, pair, name); /* the link itself */
}

/*
 * Puts a named pipe or a socket. The one that cells made stays if it is like that of before:
 * neither has content, and only this one may have a process behind it.
 */
static void put_special(struct putback *p, const struct pair *pair, const char *name,
			const struct stat *st)
{
	const struct timespec times[] = { st->st_atim, st->st_mtim };
	struct stat now;

	if (fstatat(pair->to, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_mode == st->st_mode &&
	    now.st_uid == st->st_uid && now.st_gid == st->st_gid && now.st_nlink == 1 &&
	    st->st_nlink == 1)
		(void)utimensat(pair->to, name, times, AT_SYMLINK_NOFOLLOW);
	else
		link_file(p, pair, name);
}

/* ---- folders ---- */

static void put_below(struct putback *p, const struct pair *pair, const char *name,
		      const struct stat *st)
{
	size_t len = p->path.len;
	struct pair below = { .from = -1, .to = -1, .depth = pair->depth + 1 };

	if (below.depth > PUTBACK_DEPTH_MAX) {
		errno = ENAMETOOLONG;
		note_problem(p, name);
		return;
	}
	(void)mkdirat(pair->to, name, 0700);
	below.from = open_folder(pair->from, name);
	below.to = open_folder(pair->to, name);
	if (below.from < 0 || below.to < 0) {
		note_problem(p, name);
	} else {
		buf_putf(&p->path, "%s/", name);
		put_folder(p, &below);
		p->path.len = len;
		p->path.data[len] = '\0';
		set_like(p, below.to, st, name);
		(void)fchmod(below.from, st->st_mode & 07777);
	}
	fd_close(&below.from);
	fd_close(&below.to);
}

static void put_entry(struct putback *p, const struct pair *pair, const char *name)
{
	struct stat st;

	if (fstatat(pair->from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		note_problem(p, name);
	else if (S_ISDIR(st.st_mode))
		put_below(p, pair, name, &st);
	else if (S_ISREG(st.st_mode))
		put_file(p, pair, name, &st);
	else if (S_ISLNK(st.st_mode))
		put_link(p, pair, name, &st);
	else
		put_special(p, pair, name, &st);
}

/*
 * Puts each entry of a folder. Stops after a problem, because programs could write to files of the
 * session that are linked then.
 */
static void put_each(struct putback *p, const struct pair *pair,
		     void (*put)(struct putback *p, const struct pair *pair, const char *name))
{
	DIR *dir = fd_list(pair->from);
	const struct dirent *entry;

	if (dir == NULL) {
		note_problem(p, "");
		return;
	}
	while (!p->failed && (entry = fd_next_entry(dir)) != NULL)
		if (!fd_is_dot(entry->d_name))
			put(p, pair, entry->d_name);
	end_list(p, dir);
}

static void put_folder(struct putback *p, const struct pair *pair)
{
	program_alive();
	put_each(p, pair, put_database); /* first: its new logs are no files of their own */
	if (!p->failed)
		remove_new(p, pair);
	if (!p->failed)
		put_each(p, pair, put_entry);
}

static void send_result(const struct putback *p)
{
	json_t *result = json_object();
	json_t *counts = json_array();

	for (size_t i = 0; i < ASIDE_LISTS; i++)
		json_append(counts, json_integer((json_int_t)p->counts[i]));
	json_put(result, "counts", counts);
	if (p->failed)
		json_put_str(result, "problem", p->err.msg);
	program_result(result);
}

int putback_run(int session_fd, const json_t *request, struct err *err)
{
	const struct lockdown_rule rule = {
		.fd = session_fd, .rights = lockdown_write | lockdown_rename | lockdown_remove
	};
	struct putback p = { .path = BUF_INIT(BUF_UNBOUNDED) };
	struct pair top = { .depth = 0 };
	struct stat st;

	(void)request;
	open_files_list(&p.open);
	if (lockdown_files(&rule, 1, 2, err) < 0)
		return -1;
	if (fstatat(session_fd, ASIDE_FOLDER, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "looking at the session's own files");
	top.from = open_folder(session_fd, ASIDE_FOLDER);
	top.to = open_folder(session_fd, ASIDE_DATA);
	buf_puts(&p.path, "");
	if (top.from < 0 || top.to < 0) {
		note_problem(&p, "");
	} else {
		put_folder(&p, &top);
		set_like(&p, top.to, &st, "");
	}
	send_result(&p);
	fd_close(&top.from);
	fd_close(&top.to);
	open_files_release(&p.open);
	buf_release(&p.path);
	return 0;
}
