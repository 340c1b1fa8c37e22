/* SPDX-License-Identifier: MIT */
/*
 * leads.c - resolves paths, by their words or by the kernel. Two questions are answered in two
 * ways. Where git would go is computed from the words of a path, and a path that turns back behind
 * a name is rejected, because ".." leaves from where a link led. Where a link goes now is asked of
 * the kernel, by an O_PATH descriptor and its name in /proc/self/fd.
 */
#include "leads.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "inspection.h"
#include "json/get.h"
#include "workspace/beneath.h"
#include "workspace/gitconfig.h"

enum { TRIES = 3 /* of a link that may be magic */ };

/* Returns an absolute path without ".", ".." and double slashes, as if no part were a link. */
static char *plain(const char *path)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	while (*path != '\0') {
		size_t len = strcspn(path, "/");

		if (len == 2 && path[0] == '.' && path[1] == '.') {
			while (out.len > 0 && out.data[--out.len] != '/')
				;
		} else if (len > 0 && !(len == 1 && path[0] == '.')) {
			buf_puts(&out, "/");
			buf_put(&out, path, len);
		}
		path += len + (path[len] == '/');
	}
	buf_put(&out, "", 0);
	return buf_steal(&out);
}

static char *plain_from(const struct inspection *inspection, const char *from, const char *to)
{
	cleanup_free char *whole =
		to[0] == '/' ? xstrdup(to)
			     : xasprintf("%s/%s/%s", inspection->share_path, from, to);

	return plain(whole);
}

static bool is_within(const char *folder, const char *path)
{
	size_t len = strlen(folder);

	return strncmp(folder, path, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

/* Returns true when ".." follows a name: if the name is a link, ".." goes up from its target. */
static bool turns_back(const char *path)
{
	bool named = path[0] == '/';

	while (*path != '\0') {
		size_t len = strcspn(path, "/");

		if (len == 2 && path[0] == '.' && path[1] == '.') {
			if (named)
				return true;
		} else if (len > 0 && !(len == 1 && path[0] == '.')) {
			named = true;
		}
		path += len + (path[len] == '/');
	}
	return false;
}

static int open_folder(int share, const char *path)
{
	return path[0] == '\0' ? openat(share, ".", O_PATH | O_CLOEXEC)
			       : beneath_open(share, path, O_PATH | O_DIRECTORY, 0);
}

static bool is_plain_folder(int share, const char *path)
{
	cleanup_fd int fd = open_folder(share, path);

	return fd >= 0 || errno == ENOENT;
}

/* Returns the part of `path` below the share, or NULL when it is outside. */
static const char *below(const char *share_path, const char *path)
{
	size_t len = strlen(share_path);

	if (!is_within(share_path, path))
		return NULL;
	return path + len + (path[len] == '/');
}

static bool is_in_another(const struct inspection *inspection, const char *path)
{
	for (size_t i = 0; i < json_array_size(inspection->shares); i++) {
		cleanup_free char *share = json_path_of(json_array_get(inspection->shares, i));
		const char *rest = share != NULL ? below(share, path) : NULL;

		if (rest != NULL)
			return is_plain_folder(INSPECT_FIRST_FD + (int)i, rest);
	}
	return false;
}

bool leads_inside(const struct inspection *inspection, const char *from, const char *to,
		  char **ret_path)
{
	cleanup_free char *path = plain_from(inspection, from, to);
	const char *rest;

	if (to[0] == '\0' || turns_back(to))
		return false;
	rest = below(inspection->share_path, path);
	if (rest == NULL)
		return is_in_another(inspection, path);
	if (!is_plain_folder(inspection->share, rest))
		return false;
	if (ret_path != NULL)
		*ret_path = xstrdup(rest);
	return true;
}

/* ---- links ---- */

char *leads_to(int dir, const char *path, int flags)
{
	cleanup_fd int fd = openat(dir, path, O_PATH | O_CLOEXEC | flags);

	return fd >= 0 ? fd_path(fd) : NULL;
}

static bool leads_somewhere(int dir, const char *path, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = resolve };
	cleanup_fd int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));

	return fd >= 0;
}

/*
 * Returns true for a magic link of /proc, which can lead into another namespace. The kernel does
 * not resolve those of processes that the helper must not inspect. names_home() therefore judges
 * them by their text, and a link to a folder of /proc does not stay either. ELOOP alone does not
 * show one: a chain of many ordinary links fails so now and then, since the kernel counts its links
 * anew when it tries again.
 */
static bool is_magic(int dir, const char *path)
{
	for (int i = 0; i < TRIES; i++)
		if (leads_somewhere(dir, path, RESOLVE_NO_MAGICLINKS) || errno != ELOOP ||
		    !leads_somewhere(dir, path, 0))
			return false;
	return true;
}

static bool names_home(const struct inspection *inspection, const char *from, const char *to)
{
	cleanup_free char *path = plain_from(inspection, from, to);

	return is_within(inspection->home, path) || gitconfig_passes_fd(to) ||
	       gitconfig_passes_fd(path) ||
	       (is_within("/proc", path) &&
		(strstr(path, "/root") != NULL || strstr(path, "/cwd") != NULL));
}

bool leads_home(const struct inspection *inspection, const struct folder_at *folder,
		const char *name)
{
	cleanup_free char *real = leads_to(folder->fd, name, O_DIRECTORY);
	char to[PATH_MAX];
	ssize_t len = readlinkat(folder->fd, name, to, sizeof(to) - 1);

	if (len < 0)
		return false;
	to[len] = '\0';
	if (names_home(inspection, folder->path, to))
		return true;
	if (real == NULL)
		return false; /* not a folder, or not yet */
	return (inspection->home_real != NULL && is_within(inspection->home_real, real)) ||
	       is_within("/proc", real) || is_magic(folder->fd, name);
}

bool leads_out(const struct inspection *inspection, const struct folder_at *folder,
	       const char *name)
{
	char to[PATH_MAX];
	ssize_t len = readlinkat(folder->fd, name, to, sizeof(to) - 1);
	cleanup_free char *path = NULL;

	to[len > 0 ? len : 0] = '\0';
	if (to[0] == '/')
		return false;
	path = plain_from(inspection, folder->path, to);
	return turns_back(to) || !is_within(inspection->share_path, path);
}

static bool open_place(struct leads_place *place, const char *below_share)
{
	place->fd = open_folder(place->share, below_share);
	place->path = xstrdup(below_share);
	if (place->fd >= 0)
		return true;
	leads_place_release(place);
	return false;
}

bool leads_to_share(const struct inspection *inspection, int dir, const char *path, bool is_file,
		    struct leads_place *ret)
{
	cleanup_free char *real = leads_to(dir, path, is_file ? 0 : O_DIRECTORY);
	char *name = real != NULL ? strrchr(real, '/') : NULL;

	*ret = (struct leads_place){ .fd = -1 };
	if (name == NULL)
		return false;
	if (is_file) {
		ret->name = xstrdup(name + 1);
		*name = '\0';
	}
	for (size_t i = 0; i < json_array_size(inspection->shares); i++) {
		cleanup_free char *share = json_path_of(json_array_get(inspection->shares, i));
		const char *rest = share != NULL ? below(share, real) : NULL;

		if (rest == NULL)
			continue;
		ret->share = INSPECT_FIRST_FD + (int)i;
		ret->share_path = mem_steal(&share);
		return open_place(ret, rest);
	}
	leads_place_release(ret);
	return false;
}

void leads_place_release(struct leads_place *place)
{
	fd_close(&place->fd);
	free(place->share_path);
	free(place->name);
	free(place->path);
}
