/* SPDX-License-Identifier: MIT */
#include "leads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "gitfolder.h"
#include "text/percent.h"
#include "workspace/beneath.h"

/* Absolute; without ".", ".." and doubled slashes, as if no part were a link. */
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

static char *plain_from(const struct look *look, const char *from, const char *to)
{
	cleanup_free char *whole =
		to[0] == '/' ? xstrdup(to) : xasprintf("%s/%s/%s", look->share_path, from, to);

	return plain(whole);
}

static bool is_within(const char *folder, const char *path)
{
	size_t len = strlen(folder);

	return strncmp(folder, path, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

/* Behind a name, ".." goes up from where a link may have led. */
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

static bool is_plain_folder(const struct look *look, const char *path)
{
	cleanup_fd int fd = path[0] == '\0'
				    ? openat(look->share, ".", O_PATH | O_CLOEXEC)
				    : beneath_open(look->share, path, O_PATH | O_DIRECTORY, 0);

	return fd >= 0 || errno == ENOENT;
}

static bool is_in_another(const struct look *look, const char *path)
{
	for (size_t i = 0; i < json_array_size(look->shares); i++) {
		const char *text = json_string_value(json_array_get(look->shares, i));
		cleanup_free char *share = percent_decode(text, strlen(text));

		if (share != NULL && is_within(share, path))
			return true;
	}
	return false;
}

bool leads_inside(const struct look *look, const char *from, const char *to, char **ret_path)
{
	cleanup_free char *path = plain_from(look, from, to);
	const char *below;

	if (to[0] == '\0' || turns_back(to))
		return false;
	if (!is_within(look->share_path, path))
		return is_in_another(look, path);
	below = path + strlen(look->share_path);
	below += *below == '/';
	if (!is_plain_folder(look, below))
		return false;
	if (ret_path != NULL)
		*ret_path = xstrdup(below);
	return true;
}

bool leads_home(const struct look *look, const char *from, const char *to)
{
	cleanup_free char *path = plain_from(look, from, to);

	return is_within(look->home, path) ||
	       (is_within("/proc", path) &&
		(strstr(path, "/root") != NULL || strstr(path, "/cwd") != NULL));
}
