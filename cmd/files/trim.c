/* SPDX-License-Identifier: MIT */
/*
 * trim.c - removes unused entries under a lock. An exclusive lock on an entry keeps others from
 * linking it while it is removed, and the entry is inspected again under that lock. Whether a
 * session uses an entry is read from the link count of its first file.
 */
#include "trim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "helper/program.h"
#include "json/make.h"
#include "json/parse.h"
#include "lockdown.h"
#include "tree.h"
#include "wheels.h"
#include "workspace/beneath.h"
#include "workspace/random_name.h"

#define SETS "sets"
#define INDEX "index"
#define WHEELS "wheels"

enum { MANIFEST_MAX = 64 << 20, RECORD_MAX = 8 << 20 };

/* An entry of sets/, a file of wheels/, or a record of index/. */
struct item {
	char *name;
	int folder;
	/* Returns false if it is still there: it has been used since it was inspected. */
	bool (*remove)(const struct item *item);
	struct timespec used;
	uint64_t bytes;
};

struct items {
	struct item *all;
	size_t count;
	size_t room;
};

static void items_add(struct items *items, const struct item *item)
{
	if (items->count == items->room) {
		items->room = items->room * 2 + 64;
		items->all = xrealloc(items->all, items->room * sizeof(*items->all));
	}
	items->all[items->count++] = *item;
}

static void items_release(struct items *items)
{
	for (size_t i = 0; i < items->count; i++)
		free(items->all[i].name);
	free(items->all);
}

#define cleanup_items __attribute__((cleanup(items_release)))

static int compare_used(const void *a, const void *b)
{
	const struct timespec *one = &((const struct item *)a)->used;
	const struct timespec *two = &((const struct item *)b)->used;

	if (one->tv_sec != two->tv_sec)
		return one->tv_sec < two->tv_sec ? -1 : 1;
	return (one->tv_nsec > two->tv_nsec) - (one->tv_nsec < two->tv_nsec);
}

static void sort(struct items *items)
{
	if (items->count > 1)
		qsort(items->all, items->count, sizeof(*items->all), compare_used);
}

static bool is_fresh(const struct timespec *used)
{
	return used->tv_sec + TRIM_FRESH_S > time(NULL);
}

/*
 * Returns the time of the last use. A time in the future comes from a clock that was wrong: the
 * entry counts as unused for long.
 */
static struct timespec last_use(const struct stat *st)
{
	return st->st_mtim.tv_sec > time(NULL) + TRIM_FRESH_S ? (struct timespec){ .tv_sec = 0 }
							      : st->st_mtim;
}

/* Reads all names before anything in the folder changes. */
static int read_names(int dir_fd, struct items *names, struct err *err)
{
	DIR *dir = fd_list(dir_fd);
	const struct dirent *entry;
	int rc;

	if (dir == NULL)
		return err_sys(err, "reading the folder of packages");
	while ((entry = fd_next_entry(dir)) != NULL)
		if (!fd_is_dot(entry->d_name))
			items_add(names, &(struct item){ .name = xstrdup(entry->d_name) });
	rc = errno == 0 ? 0 : err_sys(err, "reading the folder of packages");
	(void)closedir(dir);
	return rc;
}

/* ---- entries ---- */

/* Locks an entry: no process makes, links or removes it meanwhile. Returns -1 when one does now. */
static int lock_entry(int sets, const char *name)
{
	cleanup_fd int fd = beneath_open(sets, name, O_RDONLY | O_DIRECTORY, 0);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? fd_steal(&fd) : -1;
}

static void remove_leftover(int sets, const char *name)
{
	cleanup_fd int lock = lock_entry(sets, name);

	if (lock >= 0)
		tree_remove(sets, name);
}

/* Returns true when a session has the file of this line as well. */
static bool is_linked(int entry, const char *path)
{
	cleanup_free char *below = xasprintf("files/%s", path);
	cleanup_fd int fd = beneath_open(entry, below, O_PATH, 0);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_nlink > 1;
}

/*
 * Sums the manifest's sizes. Returns true when a session has the entry, which its first file shows.
 */
static bool measure(int entry, char *manifest, uint64_t *ret_bytes)
{
	bool linked = false;
	char *line;

	*ret_bytes = 0;
	for (bool first = true; (line = strsep(&manifest, "\n")) != NULL; first = false) {
		const char *size = strsep(&line, " ");

		*ret_bytes += strtoull(size, NULL, 10);
		(void)strsep(&line, " ");
		(void)strsep(&line, " ");
		if (first && line != NULL)
			linked = is_linked(entry, line);
	}
	return linked;
}

/* Returns true when the entry may be removed. Sets its size and last use in both cases. */
static bool look_at(int sets, struct item *item)
{
	cleanup_fd int entry = beneath_open(sets, item->name, O_RDONLY | O_DIRECTORY, 0);
	cleanup_free char *manifest = NULL;
	struct stat st = { .st_size = 0 };
	struct err err;
	size_t len;

	if (entry < 0)
		return false;
	/* An entry without a manifest cannot be used: it goes first. */
	if (fstatat(entry, "manifest", &st, AT_SYMLINK_NOFOLLOW) == 0)
		item->used = last_use(&st);
	manifest = fd_read_file(entry, "manifest", MANIFEST_MAX, &len, &err);
	return manifest == NULL ||
	       (!measure(entry, manifest, &item->bytes) && !is_fresh(&item->used));
}

static bool remove_entry(const struct item *item)
{
	const int sets = item->folder;
	cleanup_fd int lock = lock_entry(sets, item->name);
	cleanup_free char *hidden = NULL;
	struct item now = { .name = item->name };

	if (lock < 0 || !look_at(sets, &now))
		return false;
	hidden = tree_hide(sets, item->name);
	if (hidden == NULL)
		return false;
	tree_remove(sets, hidden);
	return true;
}

static bool remove_wheel(const struct item *item)
{
	return unlinkat(item->folder, item->name, 0) == 0;
}

/* Adds a wheel's size to *bytes, and the wheel to `idle` if it may be removed. */
static void look_at_wheel(int wheels, const char *name, struct items *idle, uint64_t *bytes)
{
	struct stat st;
	struct timespec used;

	if (fstatat(wheels, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	used = last_use(&st);
	if (wheels_has_name(name)) {
		*bytes += (uint64_t)st.st_size;
		if (!is_fresh(&used))
			items_add(idle, &(struct item){ .name = xstrdup(name),
							.folder = wheels,
							.remove = remove_wheel,
							.used = used,
							.bytes = (uint64_t)st.st_size });
	} else if (!is_fresh(&used)) { /* one that is being written is renamed in a moment */
		(void)unlinkat(wheels, name, 0);
	}
}

static int look_at_wheels(int wheels, struct items *idle, uint64_t *bytes, struct err *err)
{
	cleanup_items struct items names = { .count = 0 };

	if (read_names(wheels, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		look_at_wheel(wheels, names.all[i].name, idle, bytes);
	return 0;
}

static int trim_sets(int sets, int wheels, uint64_t bytes_max, json_t *result, struct err *err)
{
	cleanup_items struct items names = { .count = 0 };
	cleanup_items struct items idle = { .count = 0 };
	uint64_t bytes = 0;
	json_int_t removed = 0;

	if (read_names(sets, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		struct item item = names.all[i];

		if (tree_is_hidden(item.name)) {
			remove_leftover(sets, item.name);
		} else if (random_name_matches(item.name, "")) {
			bool may_go = look_at(sets, &item);

			bytes += item.bytes;
			item.name = xstrdup(item.name);
			item.folder = sets;
			item.remove = remove_entry;
			if (may_go)
				items_add(&idle, &item);
			else
				free(item.name);
		}
	}
	if (look_at_wheels(wheels, &idle, &bytes, err) < 0)
		return -1;
	sort(&idle);
	for (size_t i = 0; i < idle.count && bytes > bytes_max; i++) {
		if (!idle.all[i].remove(&idle.all[i]))
			continue;
		bytes -= idle.all[i].bytes;
		removed++;
	}
	json_put_int(result, "removed", removed);
	json_put_int(result, "bytes", (json_int_t)bytes);
	return 0;
}

/* ---- records ---- */

static bool has_entry(int index, int sets, const char *name)
{
	struct err err;
	cleanup_json json_t *record = json_parse_file(index, name, RECORD_MAX, &err);
	const char *entry = json_string_value(json_object_get(record, "entry"));

	return entry != NULL && random_name_matches(entry, "") &&
	       faccessat(sets, entry, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int trim_index(int index, int sets, struct err *err)
{
	cleanup_items struct items names = { .count = 0 };
	cleanup_items struct items records = { .count = 0 };

	if (read_names(index, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		struct item item = names.all[i];
		struct stat st;

		/* A record that is being written is renamed in a moment. */
		if (fstatat(index, item.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		item.used = last_use(&st);
		if (is_fresh(&item.used))
			continue;
		if (tree_is_hidden(item.name) || !has_entry(index, sets, item.name)) {
			(void)unlinkat(index, item.name, 0);
		} else {
			item.name = xstrdup(item.name);
			items_add(&records, &item);
		}
	}
	sort(&records);
	for (size_t i = 0; i + TRIM_RECORDS_MAX < records.count; i++)
		(void)unlinkat(index, records.all[i].name, 0);
	return 0;
}

int trim_run(int cache_fd, const json_t *request, struct err *err)
{
	const json_t *bytes_max = json_object_get(request, "bytes_max");
	const struct lockdown_rule rule = { .fd = cache_fd,
					    .rights = lockdown_write | lockdown_remove };
	cleanup_json json_t *result = json_object();
	cleanup_fd int sets = -1;
	cleanup_fd int wheels = -1;
	cleanup_fd int index = -1;

	if (!json_is_integer(bytes_max) || json_integer_value(bytes_max) < 0)
		return err_set(err, ERR_INVALID, "the request lacks bytes_max");
	if (lockdown_files(&rule, 1, 2, err) < 0)
		return -1;
	sets = beneath_open(cache_fd, SETS, O_RDONLY | O_DIRECTORY, 0);
	wheels = beneath_open(cache_fd, WHEELS, O_RDONLY | O_DIRECTORY, 0);
	index = beneath_open(cache_fd, INDEX, O_RDONLY | O_DIRECTORY, 0);
	if (sets < 0 || wheels < 0 || index < 0)
		return err_sys(err, "opening the folders of packages");
	if (trim_sets(sets, wheels, (uint64_t)json_integer_value(bytes_max), result, err) < 0 ||
	    trim_index(index, sets, err) < 0)
		return -1;
	program_result(json_incref(result));
	return 0;
}
