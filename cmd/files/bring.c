/* SPDX-License-Identifier: MIT */
/* bring.c - finds the source of each file that has the right bytes, and copies it. */
#include "bring.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "copy.h"
#include "helper/program.h"
#include "journal/digest.h"
#include "json/get.h"
#include "json/make.h"
#include "lockdown.h"
#include "workspace/aside.h"
#include "workspace/beneath.h"
#include "workspace/original.h"

enum { READ_SIZE = 256 << 10 };

struct bring {
	int aside;
	int data;
	int kept; /* -1: none */
	int journal;
};

/* A file as the cells had it. */
struct wanted {
	char *path;
	json_int_t size;    /* -1: any */
	const char *sha256; /* or NULL */
};

static bool has_digest(int fd, const char *expected)
{
	cleanup_free char *buffer = xcalloc(1, READ_SIZE);
	char text[DIGEST_LEN + 1];
	struct digest digest;
	ssize_t n;

	digest_init(&digest);
	for (off_t at = 0; (n = pread(fd, buffer, READ_SIZE, at)) > 0; at += n) {
		digest_add(&digest, buffer, (size_t)n);
		program_alive();
	}
	digest_end(&digest, text);
	return n == 0 && str_eq(text, expected);
}

/* Opens a file. Sets *ret_right if its bytes are those that are wanted. */
static int open_source(int dir_fd, const char *path, const struct wanted *wanted, bool *ret_right)
{
	struct err ignored;
	off_t size = 0;
	int fd = dir_fd < 0 ? -1 : beneath_open_regular(dir_fd, path, &size, &ignored);

	*ret_right = fd >= 0 && (wanted->size < 0 || size == wanted->size) &&
		     (wanted->sha256 == NULL || has_digest(fd, wanted->sha256));
	return fd;
}

static void report(const struct wanted *wanted, const char *how)
{
	json_t *progress = json_object();

	json_put_path(progress, "path", wanted->path);
	json_put_str(progress, "how", how);
	program_progress(progress);
}

static int copy_in(const struct bring *bring, int from, const char *path, struct err *err)
{
	const char *name = NULL;
	cleanup_fd int dir = beneath_open_parent(bring->data, path, &name, err);
	cleanup_fd int to = -1;
	struct stat st;

	if (dir < 0)
		return -1;
	(void)unlinkat(dir, name, 0);
	to = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0 || fstat(from, &st) < 0)
		return err_sys(err, "making '%s'", path);
	if (copy_bytes(from, to, st.st_size, err) < 0 || beneath_inherit_owner(dir, to, err) < 0)
		return -1;
	(void)fchmod(to, st.st_mode & 0777);
	(void)futimens(to, (struct timespec[]){ st.st_atim, st.st_mtim });
	return 0;
}

/* Removes the file of an earlier cell, which the missing one had replaced. */
static void remove_earlier(const struct bring *bring, const char *path)
{
	const char *name = NULL;
	struct err ignored;
	cleanup_fd int dir = beneath_open_parent(bring->data, path, &name, &ignored);

	if (dir >= 0)
		(void)unlinkat(dir, name, 0);
}

/* Opens the original of an upload (workspace/original.h), or returns -1. */
static int open_original(const struct bring *bring, const struct wanted *wanted)
{
	cleanup_original_list struct original_list all;
	bool right = false;
	int fd = -1;

	original_list(bring->journal, &all);
	for (size_t i = 0; i < all.count && !right; i++) {
		cleanup_free char *path = NULL;

		if (!str_eq(original_import_name(all.files[i].name), path_base(wanted->path)))
			continue;
		path = xasprintf("%s/%s", ORIGINAL_FOLDER, all.files[i].name);
		fd_close(&fd);
		fd = open_source(bring->journal, path, wanted, &right);
	}
	if (!right)
		fd_close(&fd);
	return fd;
}

/* Opens the file where it may still be as it was. Sets *ret_right if its bytes are. */
static int open_other(const struct bring *bring, const struct wanted *wanted, bool *ret_right)
{
	cleanup_fd int own = open_source(bring->aside, wanted->path, wanted, ret_right);
	cleanup_fd int kept = -1;

	if (*ret_right)
		return fd_steal(&own);
	kept = open_source(bring->kept, wanted->path, wanted, ret_right);
	return *ret_right || own < 0 ? fd_steal(&kept) : fd_steal(&own);
}

static int bring_one(const struct bring *bring, const struct wanted *wanted, struct err *err)
{
	bool right = true;
	cleanup_fd int from = wanted->size < 0 ? -1 : open_original(bring, wanted);

	if (from < 0)
		from = open_other(bring, wanted, &right);
	if (from < 0) {
		report(wanted, "missing");
		remove_earlier(bring, wanted->path);
		return 0;
	}
	if (!right)
		report(wanted, "changed");
	else if (wanted->size >= 0 && wanted->sha256 == NULL)
		report(wanted, "not compared, except its size");
	return copy_in(bring, from, wanted->path, err);
}

static int bring_all(const struct bring *bring, const json_t *request, struct err *err)
{
	const json_t *files = json_object_get(request, "files");
	size_t n;
	json_t *file;

	json_array_foreach (files, n, file) {
		const json_t *size = json_object_get(file, "size");
		cleanup_free char *path = json_path_of(json_object_get(file, "path"));
		const struct wanted wanted = {
			.path = path,
			.size = json_is_integer(size) ? json_integer_value(size) : -1,
			.sha256 = json_string_value(json_object_get(file, "sha256"))
		};

		if (path == NULL || !beneath_path_valid(path))
			return err_set(err, ERR_INVALID, "the request names a file by no path");
		if (bring_one(bring, &wanted, err) < 0)
			return -1;
	}
	return 0;
}

int bring_run(int session_fd, int kept_fd, const json_t *request, struct err *err)
{
	bool has_kept = json_is_true(json_object_get(request, "kept"));
	const struct lockdown_rule rules[] = { { .fd = session_fd, .rights = lockdown_write },
					       { .fd = kept_fd, .rights = lockdown_read } };
	struct bring bring = {
		.aside = -1, .data = -1, .kept = has_kept ? kept_fd : -1, .journal = -1
	};
	int result = lockdown_files(rules, has_kept ? 2 : 1, 1, err);

	if (result == 0) {
		bring.aside = beneath_open(session_fd, ASIDE_FOLDER, O_RDONLY | O_DIRECTORY, 0);
		bring.data = beneath_open(session_fd, ASIDE_DATA, O_RDONLY | O_DIRECTORY, 0);
		bring.journal = beneath_open(session_fd, "journal", O_RDONLY | O_DIRECTORY, 0);
		if (bring.aside < 0 || bring.data < 0 || bring.journal < 0)
			result = err_sys(err, "opening the session's folders");
		else
			result = bring_all(&bring, request, err);
	}
	if (result == 0)
		program_result(json_object());
	fd_close(&bring.aside);
	fd_close(&bring.data);
	fd_close(&bring.journal);
	return result;
}
