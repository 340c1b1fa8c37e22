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
#include "workspace/beside.h"
#include "workspace/keepname.h"
#include "workspace/mark.h"
#include "workspace/name.h"

#define INPUT "input"
#define OUTPUT "output"

enum { COMPARE_BYTES = 64 << 10 };

struct search {
	int data_fd;
	int kept_fd; /* -1: nothing was kept yet */
	json_t *files;
	char *beside; /* keepname_place's */
	bool cut;
	char *large; /* a folder beside output/ with too many files for results, or NULL */
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

/* Of lists: as `array` was when it had `size`. */
static void shorten(json_t *array, size_t size)
{
	while (json_array_size(array) > size)
		(void)json_array_remove(array, json_array_size(array) - 1);
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

/* Names as the server gives them to what is kept (keeper.c). */
static void add_file(struct search *search, const char *path)
{
	bool altered;
	cleanup_free char *place = keepname_place(path, search->data_fd, &search->beside);
	cleanup_free char *tame = keepname_tame(place, &altered);
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

/* ---- beside output/ (workspace/beside.h) ---- */

static bool is_aside(const char *name)
{
	return name[0] == '.' || keepname_is_skipped(name);
}

static void look_beside(struct search *search, const char *path, int depth);

static void look_at(struct search *search, int folder_fd, const char *path, const char *name,
		    int depth)
{
	struct stat st;

	if (is_aside(name) || fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISREG(st.st_mode))
		add_file(search, path);
	else if (S_ISDIR(st.st_mode) && depth == RESCUE_DEPTH_MAX)
		search->cut = true;
	else if (S_ISDIR(st.st_mode))
		look_beside(search, path, depth + 1);
}

/* `path` is below data, which itself is "". */
static void look_beside(struct search *search, const char *path, int depth)
{
	bool at_top = path[0] == '\0';
	int fd = at_top ? openat(search->data_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			: beneath_open_same_mount(search->data_fd, path, O_RDONLY | O_DIRECTORY);
	DIR *folder = fd < 0 || mark_of(search->data_fd, path) != NULL ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (folder == NULL) {
		fd_close(&fd);
		return;
	}
	while ((entry = readdir(folder)) != NULL) {
		cleanup_free char *below =
			at_top ? xstrdup(entry->d_name) : xasprintf("%s/%s", path, entry->d_name);
		size_t before = json_array_size(search->files);

		if (at_top && (str_eq(below, INPUT) || str_eq(below, OUTPUT)))
			continue;
		look_at(search, dirfd(folder), below, entry->d_name, depth);
		if (!at_top || json_array_size(search->files) - before <= BESIDE_TREE_MAX)
			continue;
		shorten(search->files, before);
		free(search->large);
		search->large = mem_steal(&below);
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

/* Before the copies: their result is the last word. */
static void tell_left(const struct search *search)
{
	cleanup_free char *left = NULL;
	json_t *progress;

	if (search->large != NULL)
		left = xasprintf("'%s' has more than %d files that were not kept", search->large,
				 BESIDE_TREE_MAX);
	else if (search->cut)
		left = xasprintf("there are more than %d files, or folders nested deeper than %d",
				 RESCUE_FILES_MAX, RESCUE_DEPTH_MAX);
	if (left == NULL)
		return;
	progress = json_object();
	json_put_str(progress, "left", left);
	say_progress(progress);
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
	look_beside(&search, "", 1);
	tell_left(&search);
	free(search.beside);
	free(search.large);
	json_put(order, "files", search.files);
	if (json_array_size(search.files) > 0)
		return keep_run(data_fd, order, err);
	say_result(json_object());
	return 0;
}
