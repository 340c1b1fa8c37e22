/* SPDX-License-Identifier: MIT */
/*
 * finish.c - draws the notebook of a session whose server was killed, from its events.
 *
 * An exported notebook is recognized as the dead server's by its size and checksum: the journal
 * records those of every copy. So is one that is torn. Any other file is the user's, and stays.
 */
#include "finish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adopt.h"
#include "base/fd.h"
#include "base/mem.h"
#include "copy.h"
#include "helper/program.h"
#include "journal/journal.h"
#include "json/make.h"
#include "json/parse.h"
#include "keep.h"
#include "text/percent.h"
#include "workspace/beneath.h"

enum { COMPARE_BYTES = 64 << 10, TORN_MAX = 256 << 20 };

static int write_tail(int fd, uint64_t size, const struct buf *tail, struct err *err)
{
	if (lseek(fd, (off_t)size, SEEK_SET) < 0 || ftruncate(fd, (off_t)size) < 0)
		return err_sys(err, "drawing the notebook");
	return fd_write_all(fd, tail->data, tail->len, err);
}

static int draw_file(struct journal *journal, int journal_fd, struct journal_copy *ret_drawn,
		     struct err *err)
{
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);
	cleanup_fd int fd = -1;
	uint64_t size;

	if (journal_draw_notebook(journal, &size, &tail, err) < 0)
		return -1;
	fd = openat(journal_fd, JOURNAL_NOTEBOOK_FILE, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "opening the drawn notebook");
	*ret_drawn = journal_drawn(journal, &tail);
	return write_tail(fd, size, &tail, err);
}

/* Returns the name under which the notebook was exported. */
static const char *kept_name(const json_t *request)
{
	const char *name = json_string_value(json_object_get(request, "notebook"));

	return name != NULL ? name : JOURNAL_NOTEBOOK_FILE;
}

/* Returns -1 when no notebook was exported. */
static int open_kept(const json_t *request, struct stat *ret_stat)
{
	const char *root = json_string_value(json_object_get(request, "root"));
	const char *folder = json_string_value(json_object_get(request, "folder"));
	cleanup_free char *path = root == NULL ? NULL : percent_decode(root, strlen(root));
	cleanup_fd int root_fd = path == NULL ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int fd = -1;
	cleanup_fd int kept = -1;
	struct err ignored;

	if (root_fd >= 0 && folder != NULL)
		fd = beneath_open(root_fd, folder, O_RDONLY | O_DIRECTORY, 0);
	if (fd >= 0)
		kept = beneath_open_regular(fd, kept_name(request), NULL, &ignored);
	return kept < 0 || fstat(kept, ret_stat) < 0 ? -1 : fd_steal(&kept);
}

static json_t *make_file(const json_t *request)
{
	json_t *file = json_object();

	json_put_str(file, "from", JOURNAL_NOTEBOOK_FILE);
	json_put_str(file, "to", kept_name(request));
	return file;
}

/* Returns how many bytes two files have in common from their beginning, at most `len`. */
static off_t common_bytes(int one, int other, off_t len)
{
	char a[COMPARE_BYTES];
	char b[COMPARE_BYTES];

	for (off_t at = 0; at < len;) {
		size_t part = size_min(sizeof(a), (size_t)(len - at));
		ssize_t n = pread(one, a, part, at);

		if (n <= 0 || pread(other, b, (size_t)n, at) != n)
			return at;
		for (ssize_t i = 0; i < n; i++)
			if (a[i] != b[i])
				return at + i;
		at += n;
		program_alive();
	}
	return len;
}

static bool is_json(int fd, off_t len)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_json json_t *value = NULL;
	struct err err;
	char *room = buf_reserve(&text, (size_t)len, &err);

	if (room == NULL || pread(fd, room, (size_t)len, 0) != len)
		return true;
	buf_commit(&text, (size_t)len);
	value = json_parse_mended(text.data, text.len);
	return value != NULL;
}

/*
 * Returns whether the dead server's helper was cut in the write that was to make the newest copy of
 * the one before it. A notebook that a user saved is whole.
 */
static bool is_torn(const struct journal *journal, int journal_fd, int kept, off_t len)
{
	off_t stayed = (off_t)journal_copy_stayed(journal);
	cleanup_fd int drawn = -1;

	if (stayed == 0 || len < stayed || len > TORN_MAX)
		return false;
	drawn = openat(journal_fd, JOURNAL_NOTEBOOK_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return drawn >= 0 && common_bytes(drawn, kept, stayed) == stayed && !is_json(kept, len);
}

/* Returns false when the exported notebook is complete already. */
static bool find_kept(const json_t *request, const struct journal *journal, int journal_fd,
		      const struct journal_copy *drawn, json_t *file)
{
	struct stat st;
	cleanup_fd int kept = open_kept(request, &st);
	struct journal_copy copy = { .size = 0 };

	if (kept < 0 || adopt_crc(kept, st.st_size, &copy.crc) < 0)
		return true;
	copy.size = (uint64_t)st.st_size;
	if (copy.size == drawn->size && copy.crc == drawn->crc)
		return false;
	if (!journal_has_copy(journal, &copy) && !is_torn(journal, journal_fd, kept, st.st_size))
		return true;
	json_put_bool(file, "known", true);
	json_put_int(file, "ino", (json_int_t)st.st_ino);
	json_put_int(file, "mtime", copy_mtime_ns(&st));
	json_put_int(file, "size", st.st_size);
	return true;
}

static int finish(struct journal *journal, int journal_fd, json_t *request, struct err *err)
{
	struct journal_copy drawn;
	json_t *files = json_array();
	json_t *file = make_file(request);

	json_append(files, file);
	json_put(request, "files", files);
	if (draw_file(journal, journal_fd, &drawn, err) < 0)
		return -1;
	if (find_kept(request, journal, journal_fd, &drawn, file))
		return keep_run(journal_fd, request, err);
	program_result(json_object());
	return 0;
}

int finish_run(int journal_fd, json_t *request, struct err *err)
{
	struct journal *journal;
	int result = 0;

	/* A helper of another server may still be working on it. */
	if (flock(journal_fd, LOCK_EX) < 0)
		return err_sys(err, "waiting for another copy");
	journal = journal_load(journal_fd, err);
	if (journal == NULL && (err->code != ERR_SYSTEM || err->sys != ENOENT))
		return -1;
	if (journal != NULL && journal_has_run(journal))
		result = finish(journal, journal_fd, request, err);
	else
		program_result(json_object());
	journal_free(journal);
	return result;
}

int finish_report_cells(int journal_fd, struct err *err)
{
	struct journal *journal = journal_load(journal_fd, err);
	struct journal_line line;

	if (journal == NULL && (err->code != ERR_SYSTEM || err->sys != ENOENT))
		return -1;
	for (size_t i = 0; journal != NULL && journal_at(journal, i, &line); i++) {
		json_t *progress;

		if (!line.ends_last && (!line.ran || !str_eq(line.state, JOURNAL_KILLED)))
			continue;
		progress = json_object();
		json_put_int(progress, "cell", (json_int_t)line.number);
		json_put_str(progress, "language", line.language);
		json_put_str(progress, "state", line.state);
		program_progress(progress);
	}
	journal_free(journal);
	program_result(json_object());
	return 0;
}
