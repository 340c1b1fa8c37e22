/* SPDX-License-Identifier: MIT */
/*
 * pack.c - copies untrusted files into an entry.
 *
 * The installer's files may be hostile, so they are copied rather than moved: only regular files,
 * with modes of our own, counted against the limits. A hidden folder is swapped in when it is
 * complete.
 */
#include "pack.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "helper/program.h"
#include "lockdown.h"
#include "tree.h"
#include "wheels.h"
#include "workspace/beneath.h"

enum { TO_FD = 4, WHEELS_FD = 5 };

static int write_manifest(int dir_fd, const struct buf *manifest, struct err *err)
{
	cleanup_fd int fd =
		openat(dir_fd, "manifest", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_sys(err, "making the manifest");
	if (fd_write_all(fd, manifest->data, manifest->len, err) < 0)
		return -1;
	return fsync(fd) == 0 ? 0 : err_sys(err, "writing the manifest");
}

static int pack_entry(int from, int to, const struct tree_limits *limits, struct err *err)
{
	cleanup_buf struct buf manifest = BUF_INIT(BUF_UNBOUNDED);
	cleanup_fd int files = -1;

	if (mkdirat(to, "files", 0700) < 0)
		return err_sys(err, "making a folder for packages");
	files = openat(to, "files", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (files < 0)
		return err_sys(err, "opening a folder for packages");
	if (tree_copy(from, files, limits, &manifest, err) < 0)
		return -1;
	buf_puts(&manifest, TREE_MANIFEST_END);
	return write_manifest(to, &manifest, err);
}

static int pack(int from, const json_t *request, struct err *err)
{
	const char *name = json_string_value(json_object_get(request, "to"));
	bool entry = json_is_true(json_object_get(request, "entry"));
	const struct tree_limits limits = {
		.bytes = (uint64_t)json_integer_value(json_object_get(request, "bytes_max")),
		.files = (uint64_t)json_integer_value(json_object_get(request, "files_max")),
	};
	cleanup_free char *hidden = NULL;
	cleanup_fd int to = tree_make(TO_FD, &hidden, err);
	int result;

	if (to < 0)
		return -1;
	result = entry ? pack_entry(from, to, &limits, err)
		       : tree_copy(from, to, &limits, NULL, err);
	if (result == 0)
		result = tree_replace(TO_FD, hidden, name, err);
	if (result < 0)
		tree_remove(TO_FD, hidden);
	return result;
}

int pack_run(int from_fd, const json_t *request, struct err *err)
{
	const char *from = json_string_value(json_object_get(request, "from"));
	const char *to = json_string_value(json_object_get(request, "to"));
	const json_t *wheels = json_object_get(request, "wheels");
	cleanup_fd int source = -1;
	const struct lockdown_rule rules[] = {
		{ .fd = from_fd, .rights = lockdown_read },
		{ .fd = TO_FD, .rights = lockdown_write | lockdown_remove },
		{ .fd = WHEELS_FD, .rights = lockdown_write | lockdown_remove },
	};

	if (from == NULL || to == NULL || !beneath_path_valid(from) || !beneath_path_valid(to))
		return err_set(err, ERR_INVALID, "the request lacks from or to");
	if (lockdown_files(rules, ARRAY_SIZE(rules) - (wheels == NULL), 2, err) < 0)
		return -1;
	source = beneath_open(from_fd, from, O_RDONLY | O_DIRECTORY, 0);
	if (source < 0)
		return err_sys(err, "opening what was installed");
	if (pack(source, request, err) < 0)
		return -1;
	wheels_keep(from_fd, WHEELS_FD, wheels);
	program_result(json_object());
	return 0;
}
