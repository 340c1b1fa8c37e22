/* SPDX-License-Identifier: MIT */
/*
 * original.c - a file has a random name until it is complete. Its final name begins with the time,
 * in sixteen hexadecimal digits, so that the order of names is that of the uploads.
 */
#include "workspace/original.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/util.h"
#include "workspace/beneath.h"
#include "workspace/random_name.h"
#include "workspace/workspace.h"

#define PART_PREFIX "part-"

enum { TIME_LEN = 16, NAME_TRIES = 100 };

struct original {
	int dir_fd;
	int fd;
	char *name; /* NULL after it was placed */
};

struct original *original_new(const struct workspace *workspace, struct err *err)
{
	struct original *original = xcalloc(1, sizeof(*original));

	original->fd = -1;
	original->dir_fd = beneath_enter(workspace_journal_fd(workspace), ORIGINAL_FOLDER, err);
	if (original->dir_fd < 0) {
		original_free(original);
		return NULL;
	}
	original->name = random_name_new(PART_PREFIX);
	original->fd = openat(original->dir_fd, original->name,
			      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (original->fd < 0) {
		(void)err_sys(err, "making a file");
		original_free(original);
		return NULL;
	}
	return original;
}

void original_free(struct original *original)
{
	if (original == NULL)
		return;
	if (original->name != NULL)
		(void)unlinkat(original->dir_fd, original->name, 0);
	fd_close(&original->fd);
	fd_close(&original->dir_fd);
	free(original->name);
	free(original);
}

int original_fd(const struct original *original)
{
	return original->fd;
}

int original_place(struct original *original, const char *path, struct err *err)
{
	const char *base = path_base(path);
	struct timespec now;
	uint64_t ns;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	for (int i = 0; i < NAME_TRIES; i++) {
		cleanup_free char *name =
			xasprintf("%0*" PRIx64 "-%s", TIME_LEN, ns + (uint64_t)i, base);

		if (beneath_rename_new(original->dir_fd, original->name, name) == 0) {
			mem_cleanup(&original->name);
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return err_sys(err, "naming a file");
}

static bool is_name(const char *name)
{
	return strspn(name, "0123456789abcdef") == TIME_LEN && name[TIME_LEN] == '-';
}

const char *original_import_name(const char *name)
{
	return is_name(name) ? name + TIME_LEN + 1 : name;
}

static int compare_names(const void *a, const void *b)
{
	const struct original_file *one = a;
	const struct original_file *two = b;

	return strcmp(one->name, two->name);
}

void original_list(int journal_fd, struct original_list *ret)
{
	DIR *folder =
		fd_list_own(beneath_open(journal_fd, ORIGINAL_FOLDER, O_RDONLY | O_DIRECTORY, 0));
	const struct dirent *entry;
	struct stat st;

	*ret = (struct original_list){ .files = NULL };
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		if (!is_name(entry->d_name) ||
		    fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		ret->files = xrealloc(ret->files, (ret->count + 1) * sizeof(*ret->files));
		ret->files[ret->count++] = (struct original_file){ .name = xstrdup(entry->d_name),
								   .size = (uint64_t)st.st_size };
		ret->bytes += (uint64_t)st.st_size;
	}
	if (folder != NULL)
		(void)closedir(folder);
	if (ret->count > 0)
		qsort(ret->files, ret->count, sizeof(*ret->files), compare_names);
}

void original_list_release(struct original_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->files[i].name);
	free(list->files);
}
