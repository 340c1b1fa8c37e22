/* SPDX-License-Identifier: MIT */
/*
 * unreported.c - writes each change at once, because a killed server writes no more. The file is
 * changed in place: a new one in its place would have no lock.
 */
#include "workspace/unreported.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "text/sanitize.h"
#include "workspace/beneath.h"
#include "workspace/home.h"
#include "workspace/random_name.h"

#define FILE_PREFIX "look-"

enum { SHARES_SHOWN_MAX = 5, FILE_MAX = 1 << 20 };

struct unreported {
	int folder_fd;
	int fd; /* of the file, which is locked */
	char *name;
	char *session_id;
	char *incomplete; /* the sentence; NULL: the shares were looked through */
	json_t *texts;
	size_t others;
};

/* ---- the folder ---- */

static bool is_own(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) == 0;
}

static int open_folder(const struct home *home)
{
	cleanup_fd int fd =
		beneath_open(home_fd(home), UNREPORTED_FOLDER, O_RDONLY | O_DIRECTORY, 0);

	return fd >= 0 && is_own(fd) ? fd_steal(&fd) : -1;
}

static int open_file(int folder_fd, const char *name, int flags)
{
	cleanup_fd int fd =
		openat(folder_fd, name, flags | O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? fd_steal(&fd) : -1;
}

/* ---- a session's file ---- */

static char *make_sentence(const char *const *paths, size_t count)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_puts(&out, "It ended before ptycell had looked a last time through the shared folder ");
	for (size_t i = 0; i < size_min(count, SHARES_SHOWN_MAX); i++) {
		cleanup_free char *path = sanitize_quote(paths[i]);

		buf_putf(&out, "%s'%s'", i > 0 ? ", " : "", path);
	}
	if (count > SHARES_SHOWN_MAX)
		buf_putf(&out, " and %zu more", count - SHARES_SHOWN_MAX);
	buf_puts(&out, ". A git repository that code made or changed there since the look before, "
		       "or where no look came, was not looked at, and the user's git would run "
		       "what code wrote into it; tell the user.");
	return buf_steal(&out);
}

static char *write_record(const struct unreported *unreported)
{
	cleanup_json json_t *record = json_object();
	cleanup_json json_t *texts = json_array();

	if (unreported_is_empty(unreported))
		return xstrdup("");
	json_array_extend(texts, unreported->texts);
	if (unreported->others > 0) {
		cleanup_free char *more = xasprintf("%zu more messages of this kind are left out.",
						    unreported->others);

		json_append(texts, json_make_str(more));
	}
	if (unreported->incomplete != NULL)
		json_append(texts, json_make_str(unreported->incomplete));
	json_put_str(record, "session_id", unreported->session_id);
	json_put(record, "texts", json_incref(texts));
	return json_write_text(record);
}

static void save(const struct unreported *unreported)
{
	cleanup_free char *text = write_record(unreported);
	size_t len = strlen(text);

	if (pwrite(unreported->fd, text, len, 0) != (ssize_t)len ||
	    ftruncate(unreported->fd, (off_t)len) < 0)
		log_warn("lookout",
			 "'%s': should this server end now, the next one would not report what was "
			 "found in shared folders: %s",
			 unreported->session_id, strerrordesc_np(errno));
}

struct unreported *unreported_new(const struct home *home, const char *session_id,
				  const char *const *paths, size_t count)
{
	cleanup_fd int folder = -1;
	cleanup_free char *name = random_name_new(FILE_PREFIX);
	struct unreported *unreported;
	int fd;

	(void)mkdirat(home_fd(home), UNREPORTED_FOLDER, 0700);
	folder = open_folder(home);
	fd = folder < 0 ? -1 : open_file(folder, name, O_CREAT | O_EXCL);
	if (fd < 0) {
		log_warn("lookout",
			 "'%s': the next server will not report what was found in shared folders: "
			 "no file could be made in the folder '" UNREPORTED_FOLDER
			 "' of PTYCELL_HOME",
			 session_id);
		return NULL;
	}
	unreported = xcalloc(1, sizeof(*unreported));
	unreported->folder_fd = fd_steal(&folder);
	unreported->fd = fd;
	unreported->name = mem_steal(&name);
	unreported->session_id = xstrdup(session_id);
	unreported->incomplete = make_sentence(paths, count);
	unreported->texts = json_array();
	save(unreported);
	return unreported;
}

void unreported_add(struct unreported *unreported, const char *text)
{
	if (json_array_size(unreported->texts) < UNREPORTED_TEXTS_MAX)
		json_append(unreported->texts, json_make_str(text));
	else
		unreported->others++;
	save(unreported);
}

void unreported_clear(struct unreported *unreported)
{
	if (json_array_size(unreported->texts) == 0)
		return;
	(void)json_array_clear(unreported->texts);
	unreported->others = 0;
	save(unreported);
}

bool unreported_is_empty(const struct unreported *unreported)
{
	return json_array_size(unreported->texts) == 0 && unreported->incomplete == NULL;
}

void unreported_complete(struct unreported *unreported)
{
	mem_cleanup(&unreported->incomplete);
	save(unreported);
}

void unreported_free(struct unreported *unreported)
{
	if (unreported == NULL)
		return;
	if (unreported_is_empty(unreported))
		(void)unlinkat(unreported->folder_fd, unreported->name, 0);
	json_decref(unreported->texts);
	fd_close(&unreported->fd);
	fd_close(&unreported->folder_fd);
	free(unreported->incomplete);
	free(unreported->session_id);
	free(unreported->name);
	free(unreported);
}

/* ---- what others left ---- */

static void put_record(const json_t *record, struct buf *out)
{
	const char *session_id = json_string_value(json_object_get(record, "session_id"));
	const json_t *texts = json_object_get(record, "texts");
	cleanup_free char *quoted = session_id == NULL ? NULL : sanitize_quote(session_id);
	const char *text;

	for (size_t i = 0; (text = json_string_value(json_array_get(texts, i))) != NULL; i++)
		buf_putf(out, "%sOf the session '%s', which has ended: %s",
			 out->len > 0 ? "\n" : "", quoted == NULL ? "" : quoted, text);
}

/* Removes the file of an ended owner and appends its sentences. Returns false for no such file. */
static bool take_file(int folder_fd, const char *name, struct buf *out)
{
	cleanup_fd int fd = open_file(folder_fd, name, 0);
	cleanup_free char *text = NULL;
	cleanup_json json_t *record = NULL;
	struct err err;
	struct stat st;
	size_t len = 0;

	/* Without a name it was taken by another server, before this one had the lock. */
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink == 0)
		return false;
	text = fd_read_file(folder_fd, name, FILE_MAX, &len, &err);
	if (unlinkat(folder_fd, name, 0) < 0)
		return false; /* it would be said in each answer */
	record = text == NULL || len == 0 ? NULL : json_parse(text, len, &err);
	put_record(record, out);
	return true;
}

char *unreported_take(const struct home *home)
{
	DIR *folder = fd_list_own(open_folder(home));
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct dirent *entry;
	size_t taken = 0;

	if (folder == NULL)
		return NULL;
	while (taken < UNREPORTED_TAKEN_MAX && (entry = readdir(folder)) != NULL)
		if (random_name_matches(entry->d_name, FILE_PREFIX))
			taken += take_file(dirfd(folder), entry->d_name, &out);
	(void)closedir(folder);
	return out.len > 0 ? buf_steal(&out) : NULL;
}
