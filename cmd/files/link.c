/* SPDX-License-Identifier: MIT */
/*
 * link.c - links an entry file by file. The manifest decides what is linked: a file that it does
 * not list is left out, and one that differs in size, mtime or mode fails the entry. The folder is
 * made under a hidden name and swapped in when it is complete. A shared lock on the entry keeps
 * trim.c from removing it meanwhile.
 */
#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "copy.h"
#include "helper/program.h"
#include "lockdown.h"
#include "tree.h"
#include "workspace/beneath.h"

enum { TO_FD = 4, MANIFEST_MAX = 64 << 20 };

struct linker {
	int files; /* of the entry */
	int to;
	bool copy;
	/* The folder of the last file. Manifests list the files of a folder in a row. */
	char *folder;
	int from_dir;
	int to_dir;
};

static int differs(const char *path, struct err *err)
{
	return err_set(err, ERR_INVALID, "'%s' is not as it was", path);
}

/* Creates each missing folder of `path`, which ends in a slash. */
static int make_folders(const struct linker *linker, const char *path, struct err *err)
{
	cleanup_free char *copy = xstrdup(path);

	for (char *p = strchr(copy, '/'); p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdirat(linker->to, copy, TREE_FOLDER_MODE) == 0) {
			if (fchmodat(linker->to, copy, TREE_FOLDER_MODE, 0) < 0)
				return err_sys(err, "making the folder '%s'", copy);
		} else if (errno != EEXIST) {
			return err_sys(err, "making the folder '%s'", copy);
		}
		*p = '/';
	}
	return 0;
}

static int enter(struct linker *linker, const char *path, size_t len, struct err *err)
{
	cleanup_free char *folder = xmemdup(path, len);
	cleanup_free char *name = len > 0 ? xmemdup(path, len - 1) : NULL;

	if (linker->folder != NULL && str_eq(linker->folder, folder))
		return 0;
	if (make_folders(linker, folder, err) < 0)
		return -1;
	fd_close(&linker->from_dir);
	fd_close(&linker->to_dir);
	linker->from_dir = name != NULL
				   ? beneath_open(linker->files, name, O_RDONLY | O_DIRECTORY, 0)
				   : openat(linker->files, ".", O_RDONLY | O_CLOEXEC);
	linker->to_dir = name != NULL ? beneath_open(linker->to, name, O_RDONLY | O_DIRECTORY, 0)
				      : openat(linker->to, ".", O_RDONLY | O_CLOEXEC);
	if (linker->from_dir < 0)
		return differs(folder, err);
	if (linker->to_dir < 0)
		return err_sys(err, "opening the folder '%s'", folder);
	free(linker->folder);
	linker->folder = mem_steal(&folder);
	return 0;
}

static int copy_file_to(const struct linker *linker, const char *name, const struct stat *st,
			struct err *err)
{
	cleanup_fd int from = openat(linker->from_dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_fd int to =
		openat(linker->to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (from < 0 || to < 0)
		return err_sys(err, "copying '%s'", name);
	if (copy_bytes(from, to, st->st_size, err) < 0)
		return -1;
	if (fchmod(to, st->st_mode & 0777) < 0 ||
	    futimens(to, (struct timespec[]){ st->st_mtim, st->st_mtim }) < 0)
		return err_sys(err, "copying '%s'", name);
	return 0;
}

static int link_file(struct linker *linker, const char *size, const char *mtime, const char *mode,
		     const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash != NULL ? (size_t)(slash - path) + 1 : 0;
	const char *name = path + len;
	struct stat st;

	if (!beneath_path_valid(path))
		return differs(path, err);
	if (enter(linker, path, len, err) < 0)
		return -1;
	if (fstatat(linker->from_dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !tree_matches(&st, size, mtime, mode))
		return differs(path, err);
	if (!linker->copy && linkat(linker->from_dir, name, linker->to_dir, name, 0) == 0)
		return 0;
	/* Another disk, too many links, or a file system without links. */
	return copy_file_to(linker, name, &st, err);
}

static int link_line(struct linker *linker, char *line, struct err *err)
{
	const char *size = strsep(&line, " ");
	const char *mtime = strsep(&line, " ");
	const char *mode = strsep(&line, " ");

	if (size == NULL || mtime == NULL || mode == NULL || line == NULL)
		return err_set(err, ERR_INVALID, "the manifest is none");
	return link_file(linker, size, mtime, mode, line, err);
}

/* Removes the last line. Returns false if it is not the one that every manifest has. */
static bool cut_end(char *manifest, size_t len)
{
	const size_t end = strlen(TREE_MANIFEST_END);

	if (len < end || !str_eq(manifest + len - end, TREE_MANIFEST_END) ||
	    (len > end && manifest[len - end - 1] != '\n'))
		return false;
	manifest[len - end] = '\0';
	return true;
}

static int link_all(struct linker *linker, char *manifest, struct err *err)
{
	char *line;
	int result = 0;

	while (result == 0 && (line = strsep(&manifest, "\n")) != NULL)
		if (line[0] != '\0')
			result = link_line(linker, line, err);
	fd_close(&linker->from_dir);
	fd_close(&linker->to_dir);
	free(linker->folder);
	return result;
}

static int link_entry(int entry, const json_t *request, struct err *err)
{
	const char *name = json_string_value(json_object_get(request, "to"));
	struct linker linker = { .copy = json_is_true(json_object_get(request, "copy")),
				 .from_dir = -1,
				 .to_dir = -1 };
	size_t len = 0;
	cleanup_free char *manifest = fd_read_file(entry, "manifest", MANIFEST_MAX, &len, err);
	cleanup_free char *hidden = NULL;
	cleanup_fd int files = beneath_open(entry, "files", O_RDONLY | O_DIRECTORY, 0);
	cleanup_fd int to = -1;
	int result;

	if (manifest == NULL || !cut_end(manifest, len))
		return differs("manifest", err);
	if (files < 0)
		return differs("files", err);
	to = tree_make(TO_FD, &hidden, err);
	if (to < 0)
		return -1;
	linker.files = files;
	linker.to = to;
	result = link_all(&linker, manifest, err);
	if (result == 0)
		result = tree_replace(TO_FD, hidden, name, err);
	if (result < 0)
		tree_remove(TO_FD, hidden);
	return result;
}

/*
 * Opens and locks the entry: the lock keeps it from being removed (trim.h). Returns -1 when it was
 * removed before.
 */
static int open_locked(int cache_fd, const char *name)
{
	cleanup_fd int entry = beneath_open(cache_fd, name, O_RDONLY | O_DIRECTORY, 0);
	struct stat st;

	if (entry < 0)
		return -1;
	(void)flock(entry, LOCK_SH);
	return fstat(entry, &st) == 0 && st.st_nlink > 0 ? fd_steal(&entry) : -1;
}

int link_run(int cache_fd, const json_t *request, struct err *err)
{
	const char *name = json_string_value(json_object_get(request, "entry"));
	const char *to = json_string_value(json_object_get(request, "to"));
	cleanup_fd int entry = -1;
	/*
	 * Landlock refuses a link that would give a file new rights, so both folders get the same.
	 */
	const struct lockdown_rule rules[] = {
		{ .fd = cache_fd, .rights = lockdown_write | lockdown_remove },
		{ .fd = TO_FD, .rights = lockdown_write | lockdown_remove },
	};

	if (name == NULL || to == NULL || !beneath_path_valid(name) || !beneath_path_valid(to))
		return err_set(err, ERR_INVALID, "the request lacks entry or to");
	if (lockdown_files(rules, ARRAY_SIZE(rules), 2, err) < 0)
		return -1;
	entry = open_locked(cache_fd, name);
	if (entry < 0)
		return err_set(err, ERR_NOT_FOUND, "there is no such entry");
	if (link_entry(entry, request, err) < 0)
		return -1;
	/* The time of the last use decides which entries are removed first (trim.h). */
	(void)utimensat(entry, "manifest", NULL, 0);
	program_result(json_object());
	return 0;
}
