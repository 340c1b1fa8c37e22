/* SPDX-License-Identifier: MIT */
/*
 * finish.c - the notebook of a session whose server was killed, drawn from its events.
 *
 * The kept notebook is known as the dead server's by its bytes: every copy is the beginning of the
 * whole notebook and what closes it.
 */
#include "finish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "copy.h"
#include "helper/say.h"
#include "journal/journal.h"
#include "journal/notebook.h"
#include "json/make.h"
#include "keep.h"
#include "text/percent.h"
#include "workspace/beneath.h"

enum { COMPARE_BYTES = 64 << 10 };

static int write_tail(int fd, uint64_t size, const struct buf *tail, struct err *err)
{
	if (lseek(fd, (off_t)size, SEEK_SET) < 0 || ftruncate(fd, (off_t)size) < 0)
		return err_sys(err, "drawing the notebook");
	return fd_write_all(fd, tail->data, tail->len, err);
}

static int draw_file(struct journal *journal, int journal_fd, struct err *err)
{
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);
	cleanup_fd int fd = -1;
	uint64_t size;

	if (journal_draw_notebook(journal, &size, &tail, err) < 0)
		return -1;
	fd = openat(journal_fd, JOURNAL_NOTEBOOK_FILE, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "opening the drawn notebook");
	return write_tail(fd, size, &tail, err) < 0 ? -1 : fd_steal(&fd);
}

/* Draws the whole notebook into its file; -1 in *ret_fd where no cell ran. */
static int draw(int journal_fd, int *ret_fd, struct err *err)
{
	struct journal *journal = journal_load(journal_fd, err);
	bool has_run = journal != NULL && journal_has_run(journal);

	*ret_fd = has_run ? draw_file(journal, journal_fd, err) : -1;
	journal_free(journal);
	if (journal == NULL)
		return err->code == ERR_SYSTEM && err->sys == ENOENT ? 0 : -1;
	return has_run && *ret_fd < 0 ? -1 : 0;
}

/* -1 when no notebook was kept. */
static int open_kept(const json_t *order, struct stat *ret_stat)
{
	const char *root = json_string_value(json_object_get(order, "root"));
	const char *folder = json_string_value(json_object_get(order, "folder"));
	cleanup_free char *path = root == NULL ? NULL : percent_decode(root, strlen(root));
	cleanup_fd int root_fd = path == NULL ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int fd = -1;
	cleanup_fd int kept = -1;
	struct err ignored;

	if (root_fd >= 0 && folder != NULL)
		fd = beneath_open(root_fd, folder, O_RDONLY | O_DIRECTORY, 0);
	if (fd >= 0)
		kept = beneath_open_regular(fd, JOURNAL_NOTEBOOK_FILE, NULL, &ignored);
	return kept < 0 || fstat(kept, ret_stat) < 0 ? -1 : fd_steal(&kept);
}

static bool begin_alike(int one, int other, off_t len)
{
	char a[COMPARE_BYTES];
	char b[COMPARE_BYTES];
	off_t at = 0;

	while (at < len) {
		size_t part = size_min(sizeof(a), (size_t)(len - at));

		if (pread(one, a, part, at) != (ssize_t)part ||
		    pread(other, b, part, at) != (ssize_t)part || memcmp(a, b, part) != 0)
			return false;
		at += (off_t)part;
		say_alive();
	}
	return true;
}

/* Is it as the dead server left it: the beginning of what was drawn, and what closes a notebook? */
static bool is_earlier(int kept, const struct stat *st, int drawn)
{
	cleanup_buf struct buf close = BUF_INIT(BUF_UNBOUNDED);
	char end[16];
	off_t begin;

	notebook_tail(&close, 0);
	begin = st->st_size - (off_t)close.len;
	return begin > 0 && close.len <= sizeof(end) &&
	       pread(kept, end, close.len, begin) == (ssize_t)close.len &&
	       memcmp(end, close.data, close.len) == 0 && begin_alike(kept, drawn, begin);
}

static json_t *make_file(const json_t *order, int drawn)
{
	json_t *file = json_object();
	struct stat st;
	cleanup_fd int kept = open_kept(order, &st);

	json_put_str(file, "from", JOURNAL_NOTEBOOK_FILE);
	json_put_str(file, "to", JOURNAL_NOTEBOOK_FILE);
	if (kept >= 0 && is_earlier(kept, &st, drawn)) {
		json_put_bool(file, "known", true);
		json_put_int(file, "ino", (json_int_t)st.st_ino);
		json_put_int(file, "mtime", copy_mtime_ns(&st));
		json_put_int(file, "size", st.st_size);
	}
	return file;
}

int finish_run(int journal_fd, json_t *order, struct err *err)
{
	cleanup_fd int drawn = -1;
	json_t *files;

	if (draw(journal_fd, &drawn, err) < 0)
		return -1;
	if (drawn < 0) {
		say_result(json_object());
		return 0;
	}
	files = json_array();
	json_append(files, make_file(order, drawn));
	json_put(order, "files", files);
	return keep_run(journal_fd, order, err);
}
