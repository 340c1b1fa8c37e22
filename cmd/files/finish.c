/* SPDX-License-Identifier: MIT */
/*
 * finish.c - draws notebook and report of a session whose server was killed, from its events.
 *
 * An exported notebook is recognized as the dead server's by its size and checksum: the journal
 * records those of every copy. So is one that is torn. Any other file is the user's, and stays.
 */
#include "finish.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adopt.h"
#include "base/fd.h"
#include "base/mem.h"
#include "copy.h"
#include "helper/program.h"
#include "journal/journal.h"
#include "journal/journal_report.h"
#include "journal/notebook_setup.h"
#include "json/get.h"
#include "json/make.h"
#include "json/parse.h"
#include "keep.h"
#include "page.h"
#include "workspace/beneath.h"
#include "workspace/keepname.h"
#include "workspace/lostcells.h"
#include "workspace/original.h"
#include "workspace/spool.h"

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
	const char *folder = json_string_value(json_object_get(request, "folder"));
	cleanup_free char *path = json_path_of(json_object_get(request, "root"));
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

/* ---- whole outputs ---- */

/* Returns a name for a folder beside results, which no result has. The caller frees it. */
static char *choose_folder(int journal_fd, const char *wanted)
{
	for (int number = 1;; number++) {
		char *name = keepname_numbered(wanted, number);
		cleanup_free char *path = xasprintf("../data/output/%s", name);

		if (faccessat(journal_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			return name;
		free(name);
	}
}

struct outputs {
	char *folder;
	json_t *files; /* to be exported */
};

static char *add_output(void *data, const struct journal_line *line, const char *file,
			uint64_t bytes)
{
	const struct outputs *outputs = data;
	char *to = xasprintf("%s/cell-%" PRIu64 ".txt", outputs->folder, line->number);

	(void)bytes;
	json_append(outputs->files,
		    json_pack("{s:s, s:s, s:b}", "from", file, "to", to, "whole", 1));
	return to;
}

static void add_outputs(struct journal *journal, int journal_fd, json_t *files)
{
	struct outputs outputs = { .folder = choose_folder(journal_fd, "outputs"), .files = files };

	journal_export_outputs(journal, &(struct journal_outputs){ .name = spool_name,
								   .export = add_output,
								   .data = &outputs });
	free(outputs.folder);
}

/* Adds the inputs. Copies that are there are recognised by their content. */
static void add_inputs(int journal_fd, json_t *files)
{
	cleanup_free char *folder = choose_folder(journal_fd, "input");
	cleanup_original_list struct original_list inputs;

	original_list(journal_fd, &inputs);
	for (size_t i = 0; i < inputs.count; i++) {
		const char *name = inputs.files[i].name;
		enum keepname_reason reason;
		cleanup_free char *tame = keepname_tame(original_import_name(name), &reason);
		cleanup_free char *to = xasprintf("%s/%s", folder, tame);
		json_t *file = json_object();

		json_put_path(file, "from", name);
		json_put_path(file, "to", to);
		json_put_bool(file, "spare", true);
		json_append(files, file);
	}
}

/*
 * Draws the report after the notebook and adds it to the files. Returns its descriptor, or -1
 * without one.
 */
static int add_report(const struct journal *journal, int journal_fd, json_t *request, json_t *files)
{
	const struct journal_report about = { .kept = json_string_value(
						      json_object_get(request, "shown")) };
	const char *name = json_string_value(json_object_get(request, "report"));
	cleanup_json json_t *parts = NULL;
	struct err err;

	if (name == NULL)
		return -1;
	json_append(files, json_pack("{s:s, s:b}", "to", name, "report", 1));
	parts = journal_draw_report(journal, &about, &err);
	if (parts == NULL)
		return -1;
	json_put(request, "facts", json_incref(json_object_get(parts, "facts")));
	return page_join(journal_fd, parts, &err);
}

static int finish(struct journal *journal, int journal_fd, json_t *request, struct err *err)
{
	struct journal_copy drawn;
	json_t *files = json_array();
	json_t *file = make_file(request);
	cleanup_fd int report = -1;

	json_put(request, "files", files);
	add_outputs(journal, journal_fd, files);
	add_inputs(journal_fd, files);
	/* Copies of these are recognised by their content. */
	json_put_bool(request, "compare", json_array_size(files) > 0);
	if (draw_file(journal, journal_fd, &drawn, err) < 0) {
		json_decref(file);
		return -1;
	}
	if (find_kept(request, journal, journal_fd, &drawn, file))
		json_append(files, file);
	else
		json_decref(file);
	report = add_report(journal, journal_fd, request, files);
	if (json_array_size(files) > 0)
		return keep_run(journal_fd, request, report, err);
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

static int report_installed(const struct journal *journal, struct err *err)
{
	cleanup_json json_t *installed = journal_read_installed(journal, err);
	size_t n;
	json_t *fields;

	if (installed == NULL)
		return -1;
	json_array_foreach (installed, n, fields) {
		json_t *progress = json_object();

		json_put(progress, "installed", json_incref(fields));
		json_put(progress, "by", json_incref(json_object_get(fields, NOTE_BY)));
		program_progress(progress);
	}
	return 0;
}

int finish_report_cells(int journal_fd, struct err *err)
{
	struct journal *journal = journal_load(journal_fd, err);
	struct journal_line line;
	int result = 0;

	if (journal == NULL && (err->code != ERR_SYSTEM || err->sys != ENOENT))
		return -1;
	if (journal != NULL)
		result = report_installed(journal, err);
	for (size_t i = 0; journal != NULL && journal_at(journal, i, &line); i++) {
		json_t *progress;

		if (!line.unaudited && (!line.ran || !str_eq(line.state, JOURNAL_KILLED)))
			continue;
		progress = json_object();
		json_put_int(progress, "cell", (json_int_t)line.number);
		json_put_str(progress, "language", line.language);
		json_put_str(progress, "state", line.state);
		json_put(progress, "typed", journal_read_typed(journal, i, LOSTCELLS_TYPED_MAX));
		program_progress(progress);
	}
	journal_free(journal);
	if (result == 0)
		program_result(json_object());
	return result;
}
