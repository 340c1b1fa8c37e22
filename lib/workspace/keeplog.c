/* SPDX-License-Identifier: MIT */
/*
 * keeplog.c - writes and reads the record of copies. Loading names all files before it sets where
 * their copies are: only then no name must give way to another one.
 */
#include "workspace/keeplog.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/util.h"
#include "json/get.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "workspace/beneath.h"
#include "workspace/keeper_internal.h"

#define NEW_FILE ".copies.new"
/* The name of the notebook in the journal's folder. */
#define NOTEBOOK_FILE "notebook.ipynb"

enum { LOG_MAX = 64 << 20 };

static void put_line(struct buf *out, const json_t *value)
{
	cleanup_free char *text = json_write_text(value);

	buf_putf(out, "%s\n", text);
}

/* Returns what a line says the copy is from. */
static const char *from_of(const struct kept *kept)
{
	if (kept->is_report)
		return KEEPLOG_REPORT;
	return kept->is_notebook ? KEEPLOG_NOTEBOOK : kept->from;
}

static void put_copy(struct keeper *keeper, const struct kept *kept)
{
	cleanup_json json_t *line = json_object();
	cleanup_free char *to = keeptree_path(kept->place);

	json_put_path(line, "from", from_of(kept));
	json_put_path(line, "to", to);
	json_put_int(line, "ino", kept->ino);
	json_put_int(line, "mtime", kept->mtime_ns);
	json_put_int(line, "size", kept->size);
	if (kept->linked)
		json_put_bool(line, "linked", true);
	if (kept->spare)
		json_put_bool(line, "input", true);
	if (kept->whole)
		json_put_bool(line, "whole", true);
	put_line(&keeper->log, line);
}

void keeplog_add(struct keeper *keeper, const struct kept *kept)
{
	if (!keeper->log_renewed)
		put_copy(keeper, kept);
}

void keeplog_renew(struct keeper *keeper)
{
	keeper->log_renewed = true;
}

/* ---- writing ---- */

static void put_all(struct keeper *keeper)
{
	buf_clear(&keeper->log);
	if (keeptree_folds(keeper->kept.tree))
		buf_puts(&keeper->log, "{\"folds\":true}\n");
	list_for_each (struct kept, kept, &keeper->kept.all, node)
		if (kept->known)
			put_copy(keeper, kept);
}

static int write_log(const struct keeper *keeper, const char *name, int mode, struct err *err)
{
	cleanup_fd int fd = openat(keeper->journal_fd, name,
				   O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | mode, 0600);

	if (fd < 0)
		return err_sys(err, "opening it");
	return fd_write_all(fd, buf_str(&keeper->log), keeper->log.len, err);
}

static int renew(struct keeper *keeper, struct err *err)
{
	put_all(keeper);
	if (write_log(keeper, NEW_FILE, O_TRUNC, err) < 0)
		return -1;
	if (renameat(keeper->journal_fd, NEW_FILE, keeper->journal_fd, KEEPLOG_FILE) < 0)
		return err_sys(err, "naming it");
	return 0;
}

void keeplog_write(struct keeper *keeper)
{
	struct err err;
	int result;

	if (!keeper->log_renewed && keeper->log.len == 0)
		return;
	result = keeper->log_renewed ? renew(keeper, &err)
				     : write_log(keeper, KEEPLOG_FILE, O_APPEND, &err);
	if (result < 0)
		log_warn("keeper", "'%s': a later server will not know the copies: %s", keeper->id,
			 err.msg);
	/* A line that was cut would spoil the next one. */
	keeper->log_renewed = result < 0;
	buf_clear(&keeper->log);
}

static void put_member(json_t *line, const json_t *progress, const char *key)
{
	json_put(line, key, json_incref(json_object_get(progress, key)));
}

void keeplog_set_due(int journal_fd, bool due)
{
	if (due)
		fd_touch(journal_fd, KEEPLOG_DUE);
	else
		(void)unlinkat(journal_fd, KEEPLOG_DUE, 0);
}

bool keeplog_is_due(int journal_fd)
{
	return faccessat(journal_fd, KEEPLOG_DUE, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Returns true for a copy that was put beside the recorded one. */
static bool is_beside(const json_t *progress, const json_t *request)
{
	const json_t *recorded = json_object_get(request, "recorded");
	const json_t *copy = json_object_get(recorded, json_text_at(progress, "from"));

	return copy != NULL && !json_is_true(json_object_get(request, "replaces")) &&
	       !json_is_true(json_object_get(progress, "whole")) &&
	       !str_eq(json_text_at(copy, "to"), json_text_at(progress, "to"));
}

void keeplog_append(int journal_fd, const json_t *progress, const json_t *request)
{
	static const char *const keys[] = { "to", "ino", "mtime", "size", "whole" };
	cleanup_json json_t *line = json_object();
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_fd int fd = -1;
	struct err ignored;

	if (is_beside(progress, request))
		return;
	fd = openat(journal_fd, KEEPLOG_FILE,
		    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (json_object_get(progress, "from") != NULL)
		put_member(line, progress, "from");
	else if (json_is_true(json_object_get(progress, "report")))
		json_put_path(line, "from", KEEPLOG_REPORT);
	else
		json_put_path(line, "from", KEEPLOG_NOTEBOOK);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		put_member(line, progress, keys[i]);
	put_line(&text, line);
	if (fd >= 0)
		(void)!fd_write_all(fd, buf_str(&text), text.len, &ignored);
}

/* ---- loading ---- */

static char *read_log(int journal_fd, size_t *ret_len)
{
	struct err err;
	off_t size = 0;
	cleanup_fd int fd = beneath_open_regular(journal_fd, KEEPLOG_FILE, &size, &err);
	cleanup_free char *text = NULL;
	ssize_t len;

	if (fd < 0 || size > LOG_MAX)
		return NULL;
	text = xcalloc(1, (size_t)size + 1);
	len = pread(fd, text, (size_t)size, 0);
	if (len < 0)
		return NULL;
	*ret_len = (size_t)len;
	return mem_steal(&text);
}

/* Returns the file of a line, or NULL if the line is of another kind. */
static struct kept *find_file(struct keeper *keeper, const json_t *line)
{
	cleanup_free char *from = json_path_of(json_object_get(line, "from"));
	cleanup_free char *to = json_path_of(json_object_get(line, "to"));

	if (json_is_true(json_object_get(line, "folds")) && !keeptree_folds(keeper->kept.tree))
		keeptree_fold(keeper->kept.tree);
	if (from == NULL)
		return NULL;
	if (str_eq(from, KEEPLOG_NOTEBOOK))
		return kept_notebook(&keeper->kept, NOTEBOOK_FILE);
	if (str_eq(from, KEEPLOG_REPORT))
		return kept_report(&keeper->kept);
	if (!beneath_path_valid(from))
		return NULL;
	if (to != NULL && json_is_true(json_object_get(line, "whole")))
		return kept_output(&keeper->kept, from, path_base(to));
	return json_is_true(json_object_get(line, "input")) ? kept_input(&keeper->kept, from)
							    : kept_find(&keeper->kept, from);
}

static void take_line(struct keeper *keeper, const json_t *line)
{
	struct kept *kept = find_file(keeper, line);
	cleanup_free char *to = json_path_of(json_object_get(line, "to"));

	if (kept == NULL || to == NULL || !beneath_path_valid(to))
		return;
	keeptree_put(keeper->kept.tree, kept->place, to);
	kept->ino = json_integer_value(json_object_get(line, "ino"));
	kept->mtime_ns = json_integer_value(json_object_get(line, "mtime"));
	kept->size = json_integer_value(json_object_get(line, "size"));
	kept->linked = json_is_true(json_object_get(line, "linked"));
	kept->known = true;
	kept->synced = false;
}

static void each_line(struct keeper *keeper, const char *text, size_t len, bool take)
{
	const char *end;

	for (; (end = memchr(text, '\n', len)) != NULL; text = end + 1) {
		size_t line_len = (size_t)(end - text);
		struct err ignored;
		cleanup_json json_t *line = json_parse(text, line_len, &ignored);

		len -= line_len + 1;
		if (take)
			take_line(keeper, line);
		else
			(void)find_file(keeper, line);
	}
}

/* Returns true if the line is of a file of session code and both paths are valid. */
static bool is_of_session(const json_t *line)
{
	cleanup_free char *from = json_path_of(json_object_get(line, "from"));
	cleanup_free char *to = json_path_of(json_object_get(line, "to"));

	return from != NULL && to != NULL && beneath_path_valid(from) && beneath_path_valid(to) &&
	       !json_is_true(json_object_get(line, "input")) &&
	       !json_is_true(json_object_get(line, "whole"));
}

json_t *keeplog_copies(int journal_fd)
{
	size_t len = 0;
	cleanup_free char *text = read_log(journal_fd, &len);
	json_t *copies = text == NULL ? NULL : json_object();
	const char *end;

	for (const char *at = text; at != NULL && (end = memchr(at, '\n', len)) != NULL;) {
		struct err ignored;
		json_t *line = json_parse(at, (size_t)(end - at), &ignored);

		if (is_of_session(line))
			json_put(copies, json_text_at(line, "from"), json_incref(line));
		json_decref(line);
		len -= (size_t)(end + 1 - at);
		at = end + 1;
	}
	return copies;
}

bool keeplog_load(struct keeper *keeper)
{
	size_t len = 0;
	bool any = false;
	cleanup_free char *text = read_log(keeper->journal_fd, &len);

	if (text == NULL)
		return false;
	each_line(keeper, text, len, false);
	each_line(keeper, text, len, true);
	list_for_each (struct kept, kept, &keeper->kept.all, node) {
		any |= kept->known;
		keeper->used += kept->known && kept->size > 0 ? (uint64_t)kept->size : 0;
	}
	keeplog_renew(keeper);
	return any;
}
