/* SPDX-License-Identifier: MIT */
/*
 * kept_index.c - helpers of several servers may draw the page at the same time. A lock on the root
 * makes each of them list the folders after the earlier page is in place, so that no session gets
 * lost. A helper that cannot have the lock leaves the page to the next export. The folders are the
 * user's: a note there is read as untrusted text.
 */
#include "kept_index.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "copy.h"
#include "helper/program.h"
#include "journal/index_page.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "page.h"
#include "workspace/beneath.h"
#include "workspace/keepname.h"
#include "workspace/random_name.h"

#define PAGE_NAME "index.html"

enum {
	NOTE_MAX = 64 << 10,
	FOLDERS_MAX = 20000, /* looked at for one page */
	NAMES_MAX = 100,     /* tried for the page */
	PICTURE_MAX = 4 << 20,
	MAGIC_LEN = 3,
	LOCK_TRIES = 40, /* 2 s: another helper draws a page of many sessions in that time */
	LOCK_PAUSE_MS = 50,
};

/* ---- the note of a folder ---- */

/* Returns whether the folder has a picture at this path that a page can show small. */
static bool has_picture(int folder_fd, const char *path)
{
	unsigned char magic[MAGIC_LEN];
	struct err ignored;
	off_t size = 0;
	cleanup_fd int fd = beneath_path_valid(path)
				    ? beneath_open_regular(folder_fd, path, &size, &ignored)
				    : -1;

	return fd >= 0 && size <= PICTURE_MAX && pread(fd, magic, MAGIC_LEN, 0) == MAGIC_LEN &&
	       (memcmp(magic, "\x89PN", MAGIC_LEN) == 0 ||
		memcmp(magic, "\xff\xd8\xff", MAGIC_LEN) == 0);
}

/* Puts the first of the session's pictures, the newest first, that is among the results. */
static void put_picture(json_t *note, const json_t *pictures, int folder_fd)
{
	size_t n;
	const json_t *value;

	json_array_foreach (pictures, n, value) {
		const char *path = keepname_result(json_string_value(value));

		if (!has_picture(folder_fd, path))
			continue;
		json_put_str(note, "picture", path);
		return;
	}
}

static int write_note(int folder_fd, const char *name, const json_t *note, struct err *err)
{
	cleanup_free char *text = json_write_text(note);
	cleanup_fd int fd =
		openat(folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_sys(err, "making a file");
	return fd_write_all(fd, text, strlen(text), err);
}

int kept_index_note(int folder_fd, const json_t *facts, const char *report, struct err *err)
{
	cleanup_json json_t *note = json_deep_copy(facts);
	cleanup_free char *name = random_name_new(COPY_HALF_PREFIX);

	json_put_str(note, "report", report);
	put_picture(note, json_object_get(facts, "pictures"), folder_fd);
	(void)json_object_del(note, "pictures");
	if (write_note(folder_fd, name, note, err) < 0)
		return -1;
	if (renameat(folder_fd, name, folder_fd, KEEPNAME_NOTE) == 0)
		return 0;
	(void)err_sys(err, "naming it");
	(void)unlinkat(folder_fd, name, 0);
	return -1;
}

/* ---- the page ---- */

/* Puts a link to a file of the folder, which a note names, or to the folder itself. */
static void put_link(json_t *row, const char *key, const char *folder, const char *path)
{
	cleanup_free char *whole = xasprintf("%s/%s", folder, path);

	json_put_path(row, key, whole);
}

static void put_links(json_t *row, const char *folder, int folder_fd)
{
	const char *report = json_string_value(json_object_get(row, "report"));
	const char *picture = json_string_value(json_object_get(row, "picture"));
	struct err ignored;
	cleanup_fd int there = report != NULL && beneath_path_valid(report)
				       ? beneath_open_regular(folder_fd, report, NULL, &ignored)
				       : -1;

	put_link(row, "link", folder, there >= 0 ? report : "");
	if (picture != NULL && has_picture(folder_fd, picture))
		put_link(row, "picture", folder, picture);
	else
		(void)json_object_del(row, "picture");
}

/* Returns the row of a folder, or NULL if it is no session's. */
static json_t *read_row(int root_fd, const char *name)
{
	struct err ignored;
	off_t size = 0;
	cleanup_fd int folder = beneath_open(root_fd, name, O_RDONLY | O_DIRECTORY, 0);
	cleanup_fd int fd =
		folder < 0 ? -1 : beneath_open_regular(folder, KEEPNAME_NOTE, &size, &ignored);
	cleanup_free char *text = NULL;
	json_t *row;

	if (fd < 0 || size <= 0 || size > NOTE_MAX)
		return NULL;
	text = xcalloc(1, (size_t)size);
	if (pread(fd, text, (size_t)size, 0) != size)
		return NULL;
	row = json_parse(text, (size_t)size, &ignored);
	if (!json_is_object(row)) {
		json_decref(row);
		return NULL;
	}
	put_links(row, name, folder);
	return row;
}

static const char *time_of(const json_t *row)
{
	const char *time = json_string_value(json_object_get(row, "ended"));

	if (time == NULL)
		time = json_string_value(json_object_get(row, "begun"));
	return time != NULL ? time : "";
}

static int newest_first(const void *a, const void *b)
{
	const json_t *one = *(json_t *const *)a;
	const json_t *other = *(json_t *const *)b;
	int order = strcmp(time_of(other), time_of(one));

	return order != 0 ? order
			  : strcmp(json_string_value(json_object_get(one, "link")),
				   json_string_value(json_object_get(other, "link")));
}

static json_t *sort_rows(const json_t *rows)
{
	size_t count = json_array_size(rows);
	json_t **sorted = xcalloc(count + 1, sizeof(json_t *));
	json_t *result = json_array();

	for (size_t i = 0; i < count; i++)
		sorted[i] = json_array_get(rows, i);
	qsort(sorted, count, sizeof(json_t *), newest_first);
	for (size_t i = 0; i < count; i++)
		json_append(result, json_incref(sorted[i]));
	free(sorted);
	return result;
}

static json_t *list_rows(int root_fd)
{
	cleanup_json json_t *rows = json_array();
	DIR *root = fd_list(root_fd);
	const struct dirent *entry;

	for (int n = 0; root != NULL && n < FOLDERS_MAX && (entry = readdir(root)) != NULL; n++) {
		json_t *row = entry->d_name[0] == '.' ? NULL : read_row(root_fd, entry->d_name);

		program_alive();
		if (row != NULL)
			json_append(rows, row);
	}
	if (root != NULL)
		(void)closedir(root);
	return sort_rows(rows);
}

static int draw(int root_fd, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_json json_t *rows = list_rows(root_fd);
	struct page page;
	int fd;

	index_page_draw(&text, rows);
	if (page_open(root_fd, &page, err) < 0)
		return -1;
	fd = page_put(&page, &text, err) < 0 ? -1 : page_finish(&page, err);
	fd_close(&page.fd);
	return fd;
}

/* Finds the page that was drawn last. Returns the name for the next one, which the caller frees. */
static char *find_page(int root_fd, struct copy_known *known)
{
	for (int number = 1; number < NAMES_MAX; number++) {
		cleanup_free char *name = keepname_numbered(PAGE_NAME, number);

		page_recognise(root_fd, name, known);
		if (known->known || faccessat(root_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			return mem_steal(&name);
	}
	return xstrdup(PAGE_NAME);
}

/* Returns false if another program keeps the lock. Without locks of the file system all is free. */
static bool lock_root(int fd)
{
	int tries = 1;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return true;
		if (tries++ == LOCK_TRIES)
			return false;
		program_alive();
		(void)poll(NULL, 0, LOCK_PAUSE_MS);
	}
	return true;
}

int kept_index_draw(int root_fd, struct err *err)
{
	struct copy_known known = { .known = false };
	struct copy_source source = { .moved = program_alive };
	struct copy_made made = { .name = NULL };
	cleanup_fd int lock = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int drawn = -1;
	cleanup_free char *name = NULL;
	int result;

	if (!lock_root(lock))
		return err_set(err, ERR_BUSY, "another program holds the folder");
	drawn = draw(root_fd, err);
	if (drawn < 0)
		return -1;
	name = find_page(root_fd, &known);
	source.fd = drawn;
	if (fstat(drawn, &source.stat) < 0)
		return err_sys(err, "looking at it");
	result = copy_file(&source, root_fd, name, &known, &made, err);
	free(made.name);
	return result;
}
