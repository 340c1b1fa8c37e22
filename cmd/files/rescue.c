/* SPDX-License-Identifier: MIT */
#include "rescue.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "copy.h"
#include "helper/say.h"
#include "json/make.h"
#include "keep.h"
#include "text/percent.h"
#include "workspace/beneath.h"
#include "workspace/keepname.h"
#include "workspace/name.h"

#define OUTPUT "output"

enum { COMPARE_BYTES = 64 << 10 };

struct search {
	int data_fd;
	int kept_fd; /* -1: nothing was kept yet */
	json_t *files;
	bool cut;
};

/* Regular files both, at their beginning. */
static bool have_same_bytes(int one, int other)
{
	char a[COMPARE_BYTES];
	char b[COMPARE_BYTES];
	off_t at = 0;

	for (;;) {
		ssize_t n = pread(one, a, sizeof(a), at);

		if (n < 0 || pread(other, b, sizeof(b), at) != n)
			return false;
		if (n == 0)
			return true;
		if (memcmp(a, b, (size_t)n) != 0)
			return false;
		at += n;
		say_alive();
	}
}

static bool is_kept(const struct search *search, const char *from, const char *to)
{
	struct err err;
	cleanup_fd int kept = -1;
	cleanup_fd int file = -1;

	if (search->kept_fd < 0)
		return false;
	kept = beneath_open_regular(search->kept_fd, to, NULL, &err);
	file = kept < 0 ? -1 : beneath_open_regular(search->data_fd, from, NULL, &err);
	return file >= 0 && have_same_bytes(file, kept);
}

/* `path` begins with OUTPUT. Names as the server gives them to what is kept (keeper.c). */
static void add_file(struct search *search, const char *path)
{
	bool altered;
	cleanup_free char *tame = keepname_tame(path + strlen(OUTPUT "/"), &altered);
	cleanup_free char *from = percent_encode(path);
	cleanup_free char *to = NULL;
	json_t *file;

	if (is_kept(search, path, tame))
		return;
	if (json_array_size(search->files) == RESCUE_FILES_MAX) {
		search->cut = true;
		return;
	}
	to = percent_encode(tame);
	file = json_object();
	json_put_str(file, "from", from);
	json_put_str(file, "to", to);
	json_append(search->files, file);
}

static void look_into(struct search *search, const char *path, int depth)
{
	int fd = beneath_open_same_mount(search->data_fd, path, O_RDONLY | O_DIRECTORY);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (folder == NULL) {
		fd_close(&fd);
		return;
	}
	while ((entry = readdir(folder)) != NULL) {
		cleanup_free char *below = xasprintf("%s/%s", path, entry->d_name);
		struct stat st;

		if (str_eq(entry->d_name, ".") || str_eq(entry->d_name, "..") ||
		    fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISREG(st.st_mode))
			add_file(search, below);
		else if (S_ISDIR(st.st_mode) && depth == RESCUE_DEPTH_MAX)
			search->cut = true;
		else if (S_ISDIR(st.st_mode) && !keepname_is_skipped(entry->d_name))
			look_into(search, below, depth + 1);
	}
	(void)closedir(folder);
}

/* What is left of copies that were cut short, where files without a name cannot be had. */
static void remove_halves(int folder_fd, int depth)
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (folder == NULL) {
		fd_close(&fd);
		return;
	}
	while ((entry = readdir(folder)) != NULL) {
		cleanup_fd int below = -1;

		if (name_matches(entry->d_name, COPY_HALF_PREFIX)) {
			(void)unlinkat(dirfd(folder), entry->d_name, 0);
			continue;
		}
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' || depth == RESCUE_DEPTH_MAX)
			continue;
		below = openat(dirfd(folder), entry->d_name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0)
			remove_halves(below, depth + 1);
	}
	(void)closedir(folder);
}

/* -1 when nothing was kept yet. */
static int open_kept(const json_t *order)
{
	const char *root = json_string_value(json_object_get(order, "root"));
	const char *folder = json_string_value(json_object_get(order, "folder"));
	cleanup_free char *path = root == NULL ? NULL : percent_decode(root, strlen(root));
	cleanup_fd int fd = path == NULL ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || folder == NULL ? -1 : beneath_open(fd, folder, O_RDONLY | O_DIRECTORY, 0);
}

int rescue_run(int data_fd, json_t *order, struct err *err)
{
	cleanup_fd int kept_fd = open_kept(order);
	struct search search = { .data_fd = data_fd, .kept_fd = kept_fd, .files = json_array() };

	/* A copy of the dead server's may still be under way. */
	if (flock(data_fd, LOCK_EX) < 0)
		return err_sys(err, "waiting for another copy");
	if (kept_fd >= 0)
		remove_halves(kept_fd, 1);
	look_into(&search, OUTPUT, 1);
	json_put(order, "files", search.files);
	if (json_array_size(search.files) == 0)
		say_result(json_object());
	else if (keep_run(data_fd, order, err) < 0)
		return -1;
	if (search.cut)
		return err_set(err, ERR_LIMIT,
			       "more than %d files, or folders nested deeper than %d",
			       RESCUE_FILES_MAX, RESCUE_DEPTH_MAX);
	return 0;
}
