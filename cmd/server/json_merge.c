/* SPDX-License-Identifier: MIT */
/*
 * json_merge.c - reads the file, updates a copy of its JSON and writes only when the two differ.
 * The order of the writes keeps the user's data safe: the backup is complete before the new file is
 * renamed over the old one.
 */
#include "json_merge.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"

/* The file may hold secrets in the `env` of its entries. */
enum { NEW_FILE_MODE = 0600 };

/* Searches for // and slash-star outside of strings: VS Code allows them, JSON does not. */
static bool has_comments(const char *text)
{
	bool quoted = false;

	for (; *text; text++) {
		if (quoted && *text == '\\' && text[1])
			text++;
		else if (*text == '"')
			quoted = !quoted;
		else if (!quoted && text[0] == '/' && (text[1] == '/' || text[1] == '*'))
			return true;
	}
	return false;
}

static json_t *parse_config(const char *text, size_t len, struct err *err)
{
	json_t *root;

	if (strspn(text, " \t\r\n") == len)
		return json_object();
	root = json_parse(text, len, err);
	if (!root) {
		if (has_comments(text))
			(void)err_set(
				err, ERR_INVALID,
				"it has comments, which would be lost; put the entry in by hand");
		else
			(void)err_wrap(err, "it is not valid JSON");
		return NULL;
	}
	if (!json_is_object(root)) {
		(void)err_set(err, ERR_INVALID, "it is JSON, but no object");
		json_decref(root);
		return NULL;
	}
	return root;
}

/* Returns the object under `key`, created when missing. Borrowed from `object`. */
static json_t *require_object(json_t *object, const char *key, struct err *err)
{
	json_t *found = json_object_get(object, key);

	if (!found) {
		found = json_object();
		json_put(object, key, found);
	}
	if (json_is_object(found))
		return found;
	(void)err_set(err, ERR_INVALID, "its member '%s' is %s, not an object", key,
		      json_get_type_name(found));
	return NULL;
}

static int update_entry(json_t *root, const char *servers, const char *name, json_t *entry,
			struct err *err)
{
	json_t *list = require_object(root, servers, err);
	json_t *ours = list ? require_object(list, name, err) : NULL;

	if (!ours)
		return -1;
	if (json_object_update(ours, entry) < 0)
		return err_set(err, ERR_INTERNAL, "an entry that JSON cannot hold");
	return 0;
}

static int make_folders(const char *path, struct err *err)
{
	cleanup_free char *copy = xstrdup(path);

	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0700) < 0 && errno != EEXIST)
			return err_sys(err, "making the folder '%s'", copy);
		*slash = '/';
	}
	return 0;
}

/* Leaves no partial file behind. */
static int write_new(const char *path, const char *text, size_t len, mode_t mode, struct err *err)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	if (fd < 0)
		return err_sys(err, "making '%s'", path);
	if (fd_write_all(fd, text, len, err) < 0) {
		(void)unlink(path);
		return -1;
	}
	if (fchmod(fd, mode) < 0 || fsync(fd) < 0) {
		(void)err_sys(err, "finishing '%s'", path);
		(void)unlink(path);
		return -1;
	}
	return 0;
}

static int replace_file(const char *path, const char *text, size_t len, mode_t mode,
			struct err *err)
{
	cleanup_free char *temporary = xasprintf("%s.%d.tmp", path, (int)getpid());

	if (write_new(temporary, text, len, mode, err) < 0)
		return -1;
	if (rename(temporary, path) < 0) {
		(void)err_sys(err, "replacing '%s'", path);
		unlink(temporary);
		return -1;
	}
	return 0;
}

/* Writes PATH.DATE-TIME.bak, so that a second run does not overwrite the first backup. */
static char *back_up(const char *path, const char *text, size_t len, mode_t mode, struct err *err)
{
	time_t now = time(NULL);
	struct tm local;
	char stamp[32];
	char *backup;

	if (!localtime_r(&now, &local) ||
	    strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &local) == 0)
		stamp[0] = '\0';
	backup = xasprintf("%s.%s.bak", path, stamp);
	if (write_new(backup, text, len, mode, err) == 0)
		return backup;
	free(backup);
	return NULL;
}

struct old_file {
	char *text; /* "" when there is no file */
	size_t len;
	mode_t mode;
	bool exists;
};

static int read_old(const char *path, struct old_file *ret_old, struct err *err)
{
	struct old_file old = { .mode = NEW_FILE_MODE };
	struct stat st;

	if (stat(path, &st) < 0) {
		if (errno != ENOENT)
			return err_sys(err, "looking at '%s'", path);
		old.text = xstrdup("");
		*ret_old = old;
		return make_folders(path, err);
	}
	old.text = fd_read_file(AT_FDCWD, path, JSON_MERGE_FILE_MAX, &old.len, err);
	if (!old.text)
		return -1;
	old.mode = st.st_mode & 0777;
	old.exists = true;
	*ret_old = old;
	return 0;
}

static int store(const char *path, const struct old_file *old, const json_t *root,
		 struct json_merge_result *result, struct err *err)
{
	cleanup_buf struct buf text;

	buf_init(&text, (size_t)2 * JSON_MERGE_FILE_MAX);
	if (json_write_indented(&text, root, err) < 0 || buf_add_str(&text, "\n", err) < 0)
		return -1;
	if (old->exists) {
		result->backup = back_up(path, old->text, old->len, old->mode, err);
		if (!result->backup)
			return -1;
	}
	if (replace_file(path, text.data, text.len, old->mode, err) < 0)
		return -1;
	result->changed = true;
	return 0;
}

/* Returns the target of a symbolic link, so that the link itself stays. */
static char *resolve(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : xstrdup(path);
}

int json_merge_file(const char *path, const char *servers, const char *name, json_t *entry,
		    struct json_merge_result *ret_result, struct err *err)
{
	cleanup_free char *real = resolve(path);
	struct json_merge_result result = { 0 };
	struct old_file old = { 0 };
	cleanup_json json_t *before = NULL;
	cleanup_json json_t *root = NULL;
	int rc = -1;

	if (read_old(real, &old, err) < 0)
		return -1;
	root = parse_config(old.text, old.len, err);
	before = root ? json_deep_copy(root) : NULL;
	if (before && update_entry(root, servers, name, entry, err) == 0)
		rc = json_equal(before, root) ? 0 : store(real, &old, root, &result, err);
	free(old.text);
	if (rc < 0) {
		json_merge_result_release(&result);
		return -1;
	}
	*ret_result = result;
	return 0;
}

void json_merge_result_release(struct json_merge_result *result)
{
	mem_cleanup(&result->backup);
	result->backup = NULL;
}
