/* SPDX-License-Identifier: MIT */
/*
 * sweep.c - measures the folders of ended sessions and removes what exceeds the limits. Files are
 * as code left them: folders are opened one below the other, never through a link or into another
 * mount, and a mode that forbids reading is lifted while a folder is opened.
 */
#include "sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "helper/program.h"
#include "json/make.h"
#include "lockdown.h"
#include "remove.h"
#include "unlock.h"
#include "workspace/beneath.h"
#include "workspace/home.h"
#include "workspace/lasting.h"
#include "workspace/random_name.h"

enum { BLOCK = 512, SIZE_CHARS = 24 };

struct folder {
	char *name;
	char *session_id;
	struct timespec used;
	uint64_t bytes; /* UINT64_MAX: not known */
};

struct sweep {
	int home_fd;
	int all_fd; /* LASTING_FOLDER */
	struct folder *folders;
	size_t count;
	uint64_t bytes;
	json_int_t removed;
};

/* ---- measuring ---- */

static int open_below(int dir_fd, const char *name)
{
	int fd = beneath_open_same_mount(dir_fd, name, O_RDONLY | O_DIRECTORY);
	cleanup_fd int closed = -1;
	struct stat st;

	if (fd >= 0 || errno != EACCES)
		return fd;
	closed = beneath_open_same_mount(dir_fd, name, O_PATH | O_DIRECTORY);
	if (closed < 0 || fstat(closed, &st) < 0 || unlock_open_folder(closed) < 0)
		return -1;
	fd = beneath_open_same_mount(dir_fd, name, O_RDONLY | O_DIRECTORY);
	if (fd >= 0)
		(void)fchmod(fd, st.st_mode & 07777);
	return fd;
}

static bool measure(int fd_own, int depth, uint64_t *bytes);

/* Adds an entry. A file with several names counts in part with each. */
static bool measure_entry(int dir_fd, const char *name, int depth, uint64_t *bytes)
{
	struct stat st;
	int fd;

	if (fd_is_dot(name) || fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return true;
	*bytes += (uint64_t)st.st_blocks * BLOCK /
		  (S_ISDIR(st.st_mode) || st.st_nlink == 0 ? 1 : st.st_nlink);
	if (!S_ISDIR(st.st_mode))
		return true;
	if (depth == SWEEP_DEPTH_MAX)
		return false;
	fd = open_below(dir_fd, name);
	/* Another mount, or gone: it takes nothing here. */
	return fd < 0 ? errno != EMFILE && errno != ENFILE : measure(fd, depth + 1, bytes);
}

/* Returns false if the size cannot be found out. */
static bool measure(int fd_own, int depth, uint64_t *bytes)
{
	DIR *dir = fd_list_own(fd_own);
	const struct dirent *entry;
	bool known = true;

	if (dir == NULL)
		return false;
	program_alive();
	while (known && (entry = fd_next_entry(dir)) != NULL)
		known = measure_entry(dirfd(dir), entry->d_name, depth, bytes);
	known = known && errno == 0;
	(void)closedir(dir);
	return known;
}

static bool read_size(int journal_fd, uint64_t *ret)
{
	char text[SIZE_CHARS + 1] = "";
	struct err ignored;
	cleanup_fd int fd = beneath_open_regular(journal_fd, LASTING_SIZE, NULL, &ignored);
	char *end = NULL;

	if (fd < 0 || read(fd, text, SIZE_CHARS) <= 0)
		return false;
	*ret = strtoull(text, &end, 10);
	return *end == '\n';
}

static void write_size(int journal_fd, uint64_t bytes)
{
	cleanup_fd int fd = openat(journal_fd, LASTING_SIZE,
				   O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0)
		(void)dprintf(fd, "%" PRIu64 "\n", bytes);
}

static uint64_t size_of(int session_fd, int journal_fd)
{
	cleanup_fd int top = openat(session_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t bytes = 0;

	if (read_size(journal_fd, &bytes))
		return bytes;
	bytes = 0;
	if (top < 0 || !measure(fd_steal(&top), 1, &bytes))
		return UINT64_MAX;
	write_size(journal_fd, bytes);
	return bytes;
}

/* ---- the folders ---- */

static void take_folder(void *data, const struct lasting_session *session,
			struct lasting_record *record)
{
	struct sweep *sweep = data;
	struct folder *folder;

	sweep->folders = xrealloc(sweep->folders, (sweep->count + 1) * sizeof(*sweep->folders));
	folder = &sweep->folders[sweep->count++];
	folder->name = xstrdup(session->name);
	folder->session_id = xstrdup(record->session_id);
	folder->used = session->used;
	folder->bytes = size_of(session->fd, session->journal_fd);
}

/* Orders folders of unknown size first, then the longest unused. */
static int compare_folders(const void *a, const void *b)
{
	const struct folder *one = a;
	const struct folder *two = b;

	if ((one->bytes == UINT64_MAX) != (two->bytes == UINT64_MAX))
		return one->bytes == UINT64_MAX ? -1 : 1;
	return lasting_compare_use(&one->used, &two->used);
}

static void report_removed(const struct folder *folder, const char *why)
{
	json_t *progress = json_object();

	json_put_str(progress, "session_id", folder->session_id);
	json_put_str(progress, "why", why);
	if (folder->bytes != UINT64_MAX)
		json_put_int(progress, "bytes", (json_int_t)folder->bytes);
	json_put_int(progress, "used_s", folder->used.tv_sec);
	program_progress(progress);
}

/* Returns false if a server has taken the folder over. */
static bool remove_one(struct sweep *sweep, const struct folder *folder, const char *why)
{
	cleanup_free char *hidden = random_name_new(HOME_REMOVE_PREFIX);

	if (renameat(sweep->all_fd, folder->name, sweep->home_fd, hidden) < 0)
		return false;
	report_removed(folder, why);
	(void)remove_tree(sweep->home_fd, hidden);
	sweep->removed++;
	return true;
}

static const char *why_removed(const struct sweep *sweep, const struct folder *folder,
			       int64_t oldest_s, uint64_t bytes_max)
{
	if (folder->used.tv_sec < oldest_s)
		return "age";
	return folder->bytes == UINT64_MAX || sweep->bytes > bytes_max ? "size" : NULL;
}

static void remove_excess(struct sweep *sweep, int64_t oldest_s, uint64_t bytes_max)
{
	for (size_t i = 0; i < sweep->count; i++)
		if (sweep->folders[i].bytes != UINT64_MAX)
			sweep->bytes += sweep->folders[i].bytes;
	for (size_t i = 0; i < sweep->count; i++) {
		const struct folder *folder = &sweep->folders[i];
		const char *why = why_removed(sweep, folder, oldest_s, bytes_max);

		if (why == NULL)
			continue;
		(void)remove_one(sweep, folder, why);
		/* A folder that was taken over does not count any more either. */
		if (folder->bytes != UINT64_MAX)
			sweep->bytes -= folder->bytes;
	}
}

/* Each nested folder takes a descriptor while it is measured. */
static void allow_descriptors(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
}

static void send_result(const struct sweep *sweep)
{
	json_t *result = json_object();

	json_put_int(result, "removed", sweep->removed);
	json_put_int(result, "bytes", (json_int_t)sweep->bytes);
	program_result(result);
}

int sweep_run(int home_fd, const json_t *request, struct err *err)
{
	const struct lockdown_rule rule = { .fd = home_fd,
					    .rights = lockdown_write | lockdown_remove };
	json_int_t age_s = json_integer_value(json_object_get(request, "age_s"));
	json_int_t bytes_max = json_integer_value(json_object_get(request, "bytes_max"));
	struct sweep sweep = { .home_fd = home_fd };
	cleanup_fd int all = -1;

	if (age_s <= 0 || bytes_max < 0)
		return err_set(err, ERR_INVALID, "the request lacks its limits");
	allow_descriptors();
	if (lockdown_files(&rule, 1, 2, err) < 0)
		return -1;
	all = beneath_open(home_fd, LASTING_FOLDER, O_RDONLY | O_DIRECTORY, 0);
	sweep.all_fd = all;
	/* The next sweep looks at what this one could not read. */
	(void)lasting_each(fcntl(all, F_DUPFD_CLOEXEC, 3), take_folder, &sweep);
	if (sweep.count > 1)
		qsort(sweep.folders, sweep.count, sizeof(*sweep.folders), compare_folders);
	remove_excess(&sweep, time(NULL) - age_s, (uint64_t)bytes_max);
	send_result(&sweep);
	for (size_t i = 0; i < sweep.count; i++) {
		free(sweep.folders[i].name);
		free(sweep.folders[i].session_id);
	}
	free(sweep.folders);
	return 0;
}
