/* SPDX-License-Identifier: MIT */
/*
 * beneath.c - opens paths component by component if openat2 is missing (ENOSYS), or if an old
 * container's seccomp filter answers EPERM for it. This fallback does not notice a bind mount of
 * the same file system. openat2 fails with EAGAIN if session code renames something during the
 * walk, so it is retried.
 */
#include "workspace/beneath.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "text/normal.h"

/* ALIKE_MAX: maximum of entries of a folder that are compared with a name. */
enum { OPEN_TRIES = 8, ALIKE_MAX = 100000 };

/* Returns the length of the part that starts at `part`. */
static size_t part_len(const char *part)
{
	return strcspn(part, "/");
}

bool beneath_path_valid(const char *path)
{
	if (strlen(path) > BENEATH_PATH_MAX)
		return false;
	for (const char *part = path;;) {
		size_t len = part_len(part);

		if (len == 0 || len > BENEATH_NAME_MAX)
			return false;
		if (part[0] == '.' && (len == 1 || (len == 2 && part[1] == '.')))
			return false;
		if (part[len] == '\0')
			return true;
		part += len + 1;
	}
}

/* Opens one component; `part` need not end in NUL. */
static int open_part(int dir_fd, const char *part, size_t len, int flags, mode_t mode)
{
	char name[BENEATH_NAME_MAX + 1];

	memcpy(name, part, len);
	name[len] = '\0';
	return openat(dir_fd, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
}

static int same_device(int fd, int other_fd)
{
	struct stat a;
	struct stat b;

	if (fstat(fd, &a) < 0 || fstat(other_fd, &b) < 0)
		return -1;
	if (a.st_dev == b.st_dev)
		return 0;
	errno = EXDEV;
	return -1;
}

/*
 * Opens a path component by component, for kernels without openat2. Does not notice a bind mount of
 * the same file system.
 */
static int walk(int dir_fd, const char *path, const struct open_how *how)
{
	cleanup_fd int held = -1;
	cleanup_fd int last = -1;
	int at = dir_fd;

	for (size_t len = part_len(path); path[len] == '/'; len = part_len(path)) {
		int next = open_part(at, path, len, O_PATH | O_DIRECTORY, 0);

		if (next < 0)
			return -1;
		fd_close(&held);
		held = next;
		at = next;
		path += len + 1;
	}
	last = open_part(at, path, part_len(path), (int)how->flags, (mode_t)how->mode);
	if (last >= 0 && (how->resolve & RESOLVE_NO_XDEV) != 0 && same_device(last, dir_fd) < 0)
		return -1;
	return fd_steal(&last);
}

static int resolve(int dir_fd, const char *path, struct open_how *how)
{
	int fd = -1;

	if (!beneath_path_valid(path)) {
		errno = EINVAL;
		return -1;
	}
	how->flags |= O_CLOEXEC | O_NOFOLLOW;
	how->resolve |= RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
	/* EAGAIN: something was renamed during the walk. */
	for (int i = 0; i < OPEN_TRIES; i++) {
		fd = (int)syscall(SYS_openat2, dir_fd, path, how, sizeof(*how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	/* Old seccomp filters of containers answer EPERM for unknown calls. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return walk(dir_fd, path, how);
	return fd;
}

int beneath_open(int dir_fd, const char *path, int flags, mode_t mode)
{
	struct open_how how = { .flags = (uint64_t)(unsigned int)flags, .mode = mode };

	return resolve(dir_fd, path, &how);
}

int beneath_open_same_mount(int dir_fd, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)(unsigned int)flags,
				.resolve = RESOLVE_NO_XDEV };

	return resolve(dir_fd, path, &how);
}

/*
 * Sets *err for errno. The message never contains `path`: it may be untrusted, and only the caller
 * can clean it.
 */
static int open_failed(struct err *err)
{
	switch (errno) {
	case EINVAL:
		return err_set(err, ERR_INVALID,
			       "the path must be relative and stay inside the folder");
	case ENOENT:
		return err_set(err, ERR_NOT_FOUND, "there is no such file");
	case ELOOP:
		return err_set(err, ERR_DENIED, "symbolic links are not followed");
	case ENOTDIR:
		return err_set(err, ERR_DENIED, "a part of the path is not a folder");
	case ENXIO:
		return err_set(err, ERR_DENIED, "it is not a regular file");
	case EACCES:
		return err_set(err, ERR_DENIED, "its permissions forbid it");
	default:
		return err_sys(err, "opening the file");
	}
}

/* ---- the other Unicode form ---- */

static bool is_ascii(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text >= 0x80)
			return false;
	return true;
}

/* Returns a name in the folder `at` that looks the same as `part`, or NULL. The caller frees it. */
static char *find_alike(int at, const char *part)
{
	cleanup_free char *wanted = normal_compose(part);
	DIR *folder = fd_list(at);
	const struct dirent *entry;
	char *found = NULL;

	if (folder == NULL)
		return NULL;
	for (int i = 0; i < ALIKE_MAX && found == NULL && (entry = readdir(folder)) != NULL; i++) {
		cleanup_free char *name =
			is_ascii(entry->d_name) ? NULL : normal_compose(entry->d_name);

		if (name != NULL && str_eq(name, wanted))
			found = xstrdup(entry->d_name);
	}
	(void)closedir(folder);
	return found;
}

/*
 * Returns `path` with its names as the folders spell them, or NULL if one does not exist in any
 * form. The caller frees it.
 */
static char *spell(int dir_fd, const char *path)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	cleanup_fd int held = -1;
	int at = dir_fd;

	for (size_t len = part_len(path);; len = part_len(path)) {
		cleanup_free char *part = xmemdup(path, len);
		cleanup_free char *name = NULL;
		struct stat st;
		int next;

		if (is_ascii(part) || fstatat(at, part, &st, AT_SYMLINK_NOFOLLOW) == 0)
			name = mem_steal(&part);
		else
			name = find_alike(at, part);
		if (name == NULL)
			return NULL;
		buf_puts(&out, name);
		if (path[len] == '\0')
			return buf_steal(&out);
		next = open_part(at, name, strlen(name), O_PATH | O_DIRECTORY, 0);
		if (next < 0)
			return NULL;
		buf_puts(&out, "/");
		fd_close(&held);
		held = next;
		at = next;
		path += len + 1;
	}
}

static int open_either(int dir_fd, const char *path, int flags)
{
	int fd = beneath_open(dir_fd, path, flags, 0);
	cleanup_free char *spelled = NULL;

	if (fd >= 0 || errno != ENOENT || is_ascii(path))
		return fd;
	spelled = spell(dir_fd, path);
	errno = ENOENT;
	return spelled != NULL ? beneath_open(dir_fd, spelled, flags, 0) : -1;
}

int beneath_open_regular(int dir_fd, const char *path, off_t *ret_size, struct err *err)
{
	cleanup_fd int fd = open_either(dir_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return open_failed(err);
	if (fstat(fd, &st) < 0)
		return err_sys(err, "looking at the file");
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_DENIED, "it is not a regular file");
	if (ret_size != NULL)
		*ret_size = st.st_size;
	return fd_steal(&fd);
}

int beneath_inherit_owner(int dir_fd, int fd, struct err *err)
{
	struct stat st;

	if (fstat(dir_fd, &st) < 0)
		return err_sys(err, "looking at the folder");
	if (st.st_uid != geteuid() && fchown(fd, st.st_uid, st.st_gid) < 0)
		return err_sys(err, "giving the file to the session");
	return 0;
}

int beneath_enter(int dir_fd, const char *name, struct err *err)
{
	cleanup_fd int fd = -1;
	bool made;

	made = mkdirat(dir_fd, name, 0700) == 0;
	if (!made && errno != EEXIST)
		return err_sys(err, "making a folder");
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return open_failed(err);
	if (made && beneath_inherit_owner(dir_fd, fd, err) < 0)
		return -1;
	return fd_steal(&fd);
}

static int enter_part(int dir_fd, const char *part, size_t len, struct err *err)
{
	char name[BENEATH_NAME_MAX + 1];

	memcpy(name, part, len);
	name[len] = '\0';
	return beneath_enter(dir_fd, name, err);
}

int beneath_open_parent(int dir_fd, const char *path, const char **ret_name, struct err *err)
{
	cleanup_fd int held = -1;

	if (!beneath_path_valid(path)) {
		errno = EINVAL;
		return open_failed(err);
	}
	held = fd_dup(dir_fd, err);
	if (held < 0)
		return -1;
	for (size_t len = part_len(path); path[len] == '/'; len = part_len(path)) {
		int next = enter_part(held, path, len, err);

		if (next < 0)
			return -1;
		fd_close(&held);
		held = next;
		path += len + 1;
	}
	*ret_name = path;
	return fd_steal(&held);
}

int beneath_move_new(int from_fd, const char *from, int to_fd, const char *to)
{
	struct stat st;

	if (renameat2(from_fd, from, to_fd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS && errno != EPERM)
		return -1;
	/*
	 * Network and Windows file systems lack RENAME_NOREPLACE; on some of them link() has the
	 * same effect.
	 */
	if (linkat(from_fd, from, to_fd, to, 0) == 0)
		return unlinkat(from_fd, from, 0);
	if (errno == EEXIST)
		return -1;
	if (fstatat(to_fd, to, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	return renameat(from_fd, from, to_fd, to);
}

int beneath_rename_new(int dir_fd, const char *from, const char *to)
{
	return beneath_move_new(dir_fd, from, dir_fd, to);
}
