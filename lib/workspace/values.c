/* SPDX-License-Identifier: MIT */
/* values.c - a file with saved variables, and the record that makes it count by one rename. */
#include "workspace/values.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "workspace/random_name.h"

#define RECORD "variables"
#define PREFIX RECORD "-"

enum { RECORD_MAX = 4 << 10, RANDOM_LEN = 12, PRIVATE = 0600, READABLE = 0444 };

struct values_file {
	int journal_fd; /* borrowed */
	int fd;
	uint64_t left;  /* bytes that still fit */
	uint64_t bytes; /* written */
	char name[VALUES_NAME_MAX];
};

/* ---- the record ---- */

static uint64_t take_number(const json_t *value, const char *key)
{
	json_int_t number = json_integer_value(json_object_get(value, key));

	return number > 0 ? (uint64_t)number : 0;
}

static bool is_values_file(const char *name)
{
	return strncmp(name, PREFIX, strlen(PREFIX)) == 0 && strchr(name, '/') == NULL &&
	       strlen(name) < VALUES_NAME_MAX;
}

void values_read(int journal_fd, struct values_record *ret)
{
	struct err err;
	struct stat st;
	cleanup_json json_t *value = json_parse_file(journal_fd, RECORD, RECORD_MAX, &err);
	const char *file = json_string_value(json_object_get(value, "file"));

	*ret = (struct values_record){ .cell = 0 };
	if (file == NULL || !is_values_file(file) ||
	    fstatat(journal_fd, file, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_size != take_number(value, "bytes"))
		return;
	memcpy(ret->file, file, strlen(file) + 1);
	ret->cell = take_number(value, "cell");
	ret->first_cell = take_number(value, "first_cell");
	ret->gap.first = take_number(value, "gap_first");
	ret->gap.last = take_number(value, "gap_last");
	ret->names = take_number(value, "names");
	ret->ms = take_number(value, "ms");
}

static int write_record(int journal_fd, const struct values_record *record, uint64_t bytes,
			struct err *err)
{
	cleanup_json json_t *value = json_object();

	json_put_str(value, "file", record->file);
	json_put_int(value, "bytes", (json_int_t)bytes);
	json_put_int(value, "cell", (json_int_t)record->cell);
	json_put_int(value, "first_cell", (json_int_t)record->first_cell);
	json_put_int(value, "gap_first", (json_int_t)record->gap.first);
	json_put_int(value, "gap_last", (json_int_t)record->gap.last);
	json_put_int(value, "names", (json_int_t)record->names);
	json_put_int(value, "ms", (json_int_t)record->ms);
	return json_write_file(journal_fd, RECORD, value, err);
}

/* Removes the files but `kept`, which may be "". */
static void remove_others(int journal_fd, const char *kept)
{
	DIR *dir = fd_list(journal_fd);
	const struct dirent *entry;

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (is_values_file(entry->d_name) && !str_eq(entry->d_name, kept))
			(void)unlinkat(journal_fd, entry->d_name, 0);
	(void)closedir(dir);
}

void values_tidy(const struct workspace *workspace)
{
	struct values_record record;

	values_read(workspace_journal_fd(workspace), &record);
	values_take_back(workspace, &record);
	remove_others(workspace_journal_fd(workspace), record.file);
}

/* ---- a new file ---- */

struct values_file *values_begin(const struct workspace *workspace, uint64_t max_bytes,
				 struct err *err)
{
	struct values_file *file = xcalloc(1, sizeof(*file));
	char random[RANDOM_LEN + 1];

	random_name_fill(random, RANDOM_LEN);
	(void)snprintf(file->name, sizeof(file->name), PREFIX "%s", random);
	file->journal_fd = workspace_journal_fd(workspace);
	file->left = max_bytes;
	file->fd = openat(file->journal_fd, file->name,
			  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, PRIVATE);
	if (file->fd >= 0)
		return file;
	(void)err_sys(err, "making a file for variables");
	free(file);
	return NULL;
}

bool values_write(struct values_file *file, const char *data, size_t len)
{
	struct err err;

	if (len > file->left)
		return false;
	file->left -= len;
	file->bytes += len;
	if (fd_write_all(file->fd, data, len, &err) == 0)
		return true;
	log_warn("workspace", "saving variables: %s", err.msg);
	return false;
}

void values_drop(struct values_file *file)
{
	if (file == NULL)
		return;
	(void)unlinkat(file->journal_fd, file->name, 0);
	fd_close(&file->fd);
	free(file);
}

int values_commit(struct values_file *file, struct values_record *record, struct err *err)
{
	const int journal_fd = file->journal_fd;

	memcpy(record->file, file->name, sizeof(record->file));
	if (write_record(journal_fd, record, file->bytes, err) < 0) {
		values_drop(file);
		return -1;
	}
	remove_others(journal_fd, record->file);
	fd_close(&file->fd);
	free(file);
	return 0;
}

/* ---- reading ---- */

char *values_lend(const struct workspace *workspace, const struct values_record *record,
		  struct err *err)
{
	const int journal_fd = workspace_journal_fd(workspace);
	const int spool_fd = workspace_spool_fd(workspace);

	(void)unlinkat(spool_fd, RECORD, 0);
	if (linkat(journal_fd, record->file, spool_fd, RECORD, 0) < 0 ||
	    fchmodat(spool_fd, RECORD, READABLE, 0) < 0) {
		(void)err_sys(err, "giving the saved variables to the interpreter");
		return NULL;
	}
	return xasprintf("%s/" RECORD, workspace_spool_path(workspace));
}

void values_take_back(const struct workspace *workspace, const struct values_record *record)
{
	(void)unlinkat(workspace_spool_fd(workspace), RECORD, 0);
	if (record->file[0] != '\0')
		(void)!fchmodat(workspace_journal_fd(workspace), record->file, PRIVATE, 0);
}
