/* SPDX-License-Identifier: MIT */
/*
 * remove.c - empties a tree in rounds. The folder is first renamed to a hidden name, under which
 * the next server finds it if this process is cut short. Rounds over the top then remove files and
 * move inner folders up, until a round gains nothing. The removal waits for a copy of results that
 * reads the folder, which holds a shared lock on it.
 */
#include "remove.h"
#include "helper/program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "json/make.h"
#include "lockdown.h"
#include "unlock.h"
#include "workspace/beneath.h"
#include "workspace/home.h"
#include "workspace/keeplog.h"
#include "workspace/random_name.h"
#include "workspace/rescue_record.h"

enum {
	NAMES_SIZE = 32 << 10,
	IDLE_ROUNDS_MAX = 100, /* in a row, while another process moves entries about */
	COPY_ENDED_MS = 200,   /* what ended a copy before its time may end this process, too */
	MOVED_NAME_SIZE = RANDOM_NAME_RANDOM_LEN + 24,
};

struct remover {
	int top;
	bool leaves; /* a folder whose results are due, to the next server */
	uint64_t deadline_ms;
	char moved_prefix[RANDOM_NAME_RANDOM_LEN + 1];
	uint64_t moved; /* names given so far */
	uint64_t removed;
	/* In this round: */
	uint64_t done; /* entries removed or moved */
	bool raced;    /* an entry was gone before it was reached */
	int problem;   /* errno of an entry that could not be removed */
	char top_names[NAMES_SIZE];
	char names[NAMES_SIZE];
};

static void note(struct remover *remover, int error)
{
	if (error == ENOENT)
		remover->raced = true;
	else
		remover->problem = error;
}

static void note_removed(struct remover *remover)
{
	remover->removed++;
	remover->done++;
}

/* Gives the owner, this process, all rights on the folder. Never follows a link. */
static int unlock_folder(int dir, const char *name)
{
	cleanup_fd int fd = beneath_open_same_mount(dir, name, O_PATH | O_DIRECTORY);

	return fd < 0 ? -1 : unlock_open_folder(fd);
}

static int open_folder(int dir, const char *name)
{
	int fd = beneath_open_same_mount(dir, name, O_RDONLY | O_DIRECTORY);
	struct stat st;

	if (fd < 0 && errno == EACCES && unlock_folder(dir, name) == 0)
		fd = beneath_open_same_mount(dir, name, O_RDONLY | O_DIRECTORY);
	/* A mode may allow reading but not removing. */
	if (fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700)
		(void)fchmod(fd, 0700);
	return fd;
}

/* ---- a folder directly below the top ---- */

/* Renames the folder to a new name at the top, skipping names that exist. */
static int move_up(struct remover *remover, int dir, const char *name)
{
	char to[MOVED_NAME_SIZE];
	int result;

	do {
		(void)snprintf(to, sizeof(to), "%s-%llu", remover->moved_prefix,
			       (unsigned long long)remover->moved++);
		result = renameat(dir, name, remover->top, to);
	} while (result < 0 && (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR));
	return result;
}

static void move_folder_up(struct remover *remover, int dir, const char *name)
{
	/* Moving a folder writes to it: its ".." changes. */
	if (move_up(remover, dir, name) == 0 ||
	    (errno == EACCES && unlock_folder(dir, name) == 0 && move_up(remover, dir, name) == 0))
		remover->done++;
	else
		note(remover, errno);
}

/* Returns true for a folder that is not empty, or that must be opened to find out. */
static bool remove_entry(struct remover *remover, int dir, const struct dirent64 *entry)
{
	if (entry->d_type != DT_DIR) {
		if (unlinkat(dir, entry->d_name, 0) == 0) {
			note_removed(remover);
			return false;
		}
		/* Links to folders and unknown types: the kernel's error says what it is. */
		if (errno != EISDIR && !(errno == EPERM && entry->d_type == DT_UNKNOWN)) {
			note(remover, errno);
			return false;
		}
	}
	if (unlinkat(dir, entry->d_name, AT_REMOVEDIR) == 0) {
		note_removed(remover);
		return false;
	}
	if (errno == ENOTEMPTY || errno == EEXIST || errno == EACCES)
		return true;
	note(remover, errno);
	return false;
}

static bool out_of_time(const struct remover *remover)
{
	return clock_ms() > remover->deadline_ms;
}

static void empty_folder(struct remover *remover, int dir)
{
	ssize_t len;

	while (!out_of_time(remover) && (len = getdents64(dir, remover->names, NAMES_SIZE)) > 0) {
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *entry = (const void *)(remover->names + at);

			at += entry->d_reclen;
			if (!fd_is_dot(entry->d_name) && remove_entry(remover, dir, entry))
				move_folder_up(remover, dir, entry->d_name);
		}
	}
}

/*
 * Repeats until the folder is gone or a pass gains nothing: removing may make a reader skip names.
 */
static void remove_folder(struct remover *remover, const char *name)
{
	cleanup_fd int dir = open_folder(remover->top, name);
	uint64_t before;

	if (dir < 0) {
		note(remover, errno);
		return;
	}
	do {
		before = remover->done;
		empty_folder(remover, dir);
		if (unlinkat(remover->top, name, AT_REMOVEDIR) == 0) {
			note_removed(remover);
			return;
		}
		if (errno != ENOTEMPTY && errno != EEXIST) {
			note(remover, errno);
			return;
		}
		(void)lseek(dir, 0, SEEK_SET);
	} while (remover->done > before && !out_of_time(remover));
}

/* ---- the top ---- */

static void round_over_top(struct remover *remover)
{
	ssize_t len;

	remover->done = 0;
	remover->raced = false;
	remover->problem = 0;
	(void)lseek(remover->top, 0, SEEK_SET);
	while (!out_of_time(remover) &&
	       (len = getdents64(remover->top, remover->top_names, NAMES_SIZE)) > 0) {
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *entry = (const void *)(remover->top_names + at);

			at += entry->d_reclen;
			if (!fd_is_dot(entry->d_name) && remove_entry(remover, remover->top, entry))
				remove_folder(remover, entry->d_name);
		}
	}
}

/* Returns 0 when all is gone, else the errno of what stayed. */
static int remove_all(struct remover *remover, int home_fd, const char *name)
{
	int idle = 0;

	for (;;) {
		round_over_top(remover);
		if (unlinkat(home_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
			return 0;
		if (errno != ENOTEMPTY && errno != EEXIST)
			return errno;
		idle = remover->done > 0 ? 0 : idle + 1;
		if (out_of_time(remover))
			return ETIMEDOUT;
		if (idle > 0 && !remover->raced && remover->problem != 0)
			return remover->problem;
		if (idle > IDLE_ROUNDS_MAX)
			return remover->problem != 0 ? remover->problem : ENOTEMPTY;
	}
}

/*
 * Waits for a copy of results, which holds a shared lock on the data folder: see
 * lib/workspace/keeper.c. However long it takes, it needs the files; one that hangs ends by itself.
 */
static void wait_for_copy(int top)
{
	cleanup_fd int data = beneath_open_same_mount(top, "data", O_RDONLY | O_DIRECTORY);

	if (data < 0 || flock(data, LOCK_EX | LOCK_NB) == 0)
		return;
	while (flock(data, LOCK_EX) < 0 && errno == EINTR)
		continue;
	(void)poll(NULL, 0, COPY_ENDED_MS);
}

/* Returns true, once, if the server has left results that the next one saves (rescue.h). */
static bool has_due(int top)
{
	cleanup_fd int journal = beneath_open_same_mount(top, "journal", O_RDONLY | O_DIRECTORY);

	return journal >= 0 && faccessat(journal, RESCUE_RECORD, F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
	       unlinkat(journal, KEEPLOG_DUE, 0) == 0;
}

/* From now on nothing of the session is due, and no later server looks for it (rescue.h). */
static void forget_results(int top)
{
	cleanup_fd int journal = beneath_open_same_mount(top, "journal", O_RDONLY | O_DIRECTORY);

	if (journal >= 0)
		(void)unlinkat(journal, RESCUE_RECORD, 0);
}

/*
 * Renames the folder to a name that the next server finds when this process is cut short. Returns
 * the name, which the caller frees, or NULL when there is none.
 */
static char *hide(int home_fd, const char *name, const char *prefix, struct err *err)
{
	char *hidden;

	if (random_name_matches(name, HOME_REMOVE_PREFIX) ||
	    random_name_matches(name, HOME_SPENT_PREFIX))
		return xstrdup(name);
	hidden = random_name_new(prefix);
	if (renameat(home_fd, name, home_fd, hidden) == 0 ||
	    (errno == EACCES && unlock_folder(home_fd, name) == 0 &&
	     renameat(home_fd, name, home_fd, hidden) == 0))
		return hidden;
	(void)err_sys(err, "taking '%s' away", name);
	mem_cleanup(&hidden);
	return NULL;
}

static void send_result(uint64_t removed, int problem)
{
	json_t *result = json_object();

	json_put_int(result, "removed", (json_int_t)removed);
	if (problem != 0)
		json_put_str(result, "problem",
			     problem == ETIMEDOUT ? "it did not end in time"
						  : strerrordesc_np(problem));
	program_result(result);
}

/* Returns 0, or the errno of what stays; a top that cannot be opened leaves `top` at -1. */
static int remove_from(struct remover *remover, int home_fd, const char *name)
{
	random_name_fill(remover->moved_prefix, RANDOM_NAME_RANDOM_LEN);
	remover->top = open_folder(home_fd, name);
	if (remover->top < 0)
		return errno;
	(void)flock(remover->top, LOCK_EX | LOCK_NB);
	if (random_name_matches(name, HOME_REMOVE_PREFIX)) { /* a folder of the server's own */
		wait_for_copy(remover->top);
		if (remover->leaves && has_due(remover->top))
			return 0;
		forget_results(remover->top);
	}
	remover->deadline_ms = clock_ms() + (uint64_t)REMOVE_SECONDS_MAX * 1000;
	return remove_all(remover, home_fd, name);
}

int remove_tree(int home_fd, const char *name)
{
	struct remover *remover = xcalloc(1, sizeof(*remover));
	int problem = remove_from(remover, home_fd, name);

	fd_close(&remover->top);
	free(remover);
	return problem;
}

static int remove_hidden(int home_fd, const char *name, struct err *err)
{
	struct remover *remover = xcalloc(1, sizeof(*remover));
	struct lockdown_rule rule = { .fd = home_fd, .rights = lockdown_remove };
	int result = lockdown_files(&rule, 1, 2, err);
	int problem;

	remover->top = -1;
	remover->leaves = true;
	problem = result < 0 ? 0 : remove_from(remover, home_fd, name);

	if (result == 0 && remover->top >= 0) {
		send_result(remover->removed, problem);
	} else if (result == 0 && (problem == ENOENT || unlinkat(home_fd, name, 0) == 0)) {
		send_result(0, 0);
	} else if (result == 0) {
		errno = problem;
		result = err_sys(err, "opening what is to be removed");
	}
	fd_close(&remover->top);
	mem_cleanup(&remover);
	return result;
}

int remove_run(int home_fd, const json_t *request, struct err *err)
{
	const char *name = json_string_value(json_object_get(request, "name"));
	const char *prefix = json_string_value(json_object_get(request, "prefix"));
	cleanup_free char *hidden = NULL;

	if (name == NULL || !beneath_path_valid(name))
		return err_set(err, ERR_INVALID,
			       "the request's name is not a path below the folder");
	hidden = hide(home_fd, name, prefix != NULL ? prefix : HOME_SPENT_PREFIX, err);
	if (hidden != NULL)
		return remove_hidden(home_fd, hidden, err);
	if (err->sys != ENOENT)
		return -1;
	send_result(0, 0);
	return 0;
}
