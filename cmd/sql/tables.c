/* SPDX-License-Identifier: MIT */
#include "tables.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "lite.h"
#include "loader.h"
#include "sql/token.h"
#include "stop.h"
#include "text/clean.h"
#include "workspace/beneath.h"

enum { SHOWN_MAX = 120 };

struct loaded {
	char *table;
	struct stat stat;
};

/* A file that could not be loaded, under a name that the query may not mean for a table. */
struct failure {
	char *table;
	struct err err;
};

struct tables {
	int dir_fd;
	sqlite3 *db;
	char **files; /* paths, of the last look */
	size_t file_count;
	struct loaded *loaded;
	size_t loaded_count;
	struct failure *failures; /* of this query */
	size_t failure_count;
};

/* ---- which files there are ---- */

static bool has_ending(const char *name)
{
	size_t len = strlen(name);

	return len > 4 &&
	       (strcasecmp(name + len - 4, ".csv") == 0 || strcasecmp(name + len - 4, ".tsv") == 0);
}

static void add_file(struct tables *tables, char *path_own)
{
	if (tables->file_count == TABLES_FILES_MAX) {
		free(path_own);
		return;
	}
	tables->files[tables->file_count++] = path_own;
}

static void look_into(struct tables *tables, const char *folder, unsigned depth);

static void look_at(struct tables *tables, const char *folder, const struct dirent *entry,
		    unsigned depth)
{
	cleanup_free char *path = NULL;

	if (entry->d_name[0] == '.')
		return;
	path = folder[0] == '\0' ? xstrdup(entry->d_name)
				 : xasprintf("%s/%s", folder, entry->d_name);
	if (entry->d_type == DT_DIR && depth < TABLES_DEPTH_MAX)
		look_into(tables, path, depth + 1);
	else if (entry->d_type == DT_REG && has_ending(entry->d_name))
		add_file(tables, mem_steal(&path));
}

static void look_into(struct tables *tables, const char *folder, unsigned depth)
{
	int fd = folder[0] == '\0'
			 ? openat(tables->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			 : beneath_open(tables->dir_fd, folder, O_RDONLY | O_DIRECTORY, 0);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (dir == NULL) {
		fd_close(&fd);
		return;
	}
	while ((entry = readdir(dir)) != NULL)
		look_at(tables, folder, entry, depth);
	(void)closedir(dir);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void forget_files(struct tables *tables)
{
	for (size_t i = 0; i < tables->file_count; i++)
		free(tables->files[i]);
	tables->file_count = 0;
}

static void look(struct tables *tables)
{
	forget_files(tables);
	look_into(tables, "", 0);
	qsort(tables->files, tables->file_count, sizeof(*tables->files), compare);
}

/* ---- names ---- */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* The file's name without ending, as a plain name if `plain`. */
static char *stem_of(const char *path, bool plain)
{
	const char *base = base_of(path);
	char *stem = xmemdup(base, strlen(base) - 4);

	for (char *c = stem; plain && *c != '\0'; c++)
		if (strchr(" -.()+,&'", *c) != NULL)
			*c = '_';
	return stem;
}

static bool means(const char *name, const char *path)
{
	cleanup_free char *stem = stem_of(path, false);
	cleanup_free char *plain = stem_of(path, true);

	return strcasecmp(name, base_of(path)) == 0 || strcasecmp(name, stem) == 0 ||
	       strcasecmp(name, plain) == 0;
}

/* The file that `name` means; NULL when there is none, or when several are meant. */
static const char *find(const struct tables *tables, const char *name)
{
	const char *found = NULL;

	for (size_t i = 0; i < tables->file_count; i++) {
		if (str_eq(name, tables->files[i]))
			return tables->files[i];
		if (!means(name, tables->files[i]))
			continue;
		if (found != NULL)
			return NULL;
		found = tables->files[i];
	}
	return found;
}

/* ---- loading ---- */

static struct loaded *find_loaded(struct tables *tables, const char *name)
{
	for (size_t i = 0; i < tables->loaded_count; i++)
		if (strcasecmp(tables->loaded[i].table, name) == 0)
			return &tables->loaded[i];
	return NULL;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static void drop(struct tables *tables, struct loaded *loaded)
{
	char *sql = sqlite3_mprintf("DROP TABLE IF EXISTS \"%w\"", loaded->table);

	(void)sqlite3_exec(tables->db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
	free(loaded->table);
	*loaded = tables->loaded[--tables->loaded_count];
}

static int load(struct tables *tables, const char *name, const char *path, struct err *err)
{
	struct loaded *known = find_loaded(tables, name);
	cleanup_fd int fd = beneath_open_regular(tables->dir_fd, path, NULL, err);
	struct stat st;

	if (fd < 0)
		return err_wrap(err, "'%s'", path);
	if (fstat(fd, &st) < 0)
		return err_sys(err, "'%s'", path);
	if (known != NULL && is_same(&known->stat, &st))
		return 0;
	if (known != NULL)
		drop(tables, known);
	if (loader_load(tables->db, name, fd, path, err) < 0)
		return -1;
	tables->loaded =
		xrealloc(tables->loaded, (tables->loaded_count + 1) * sizeof(*tables->loaded));
	tables->loaded[tables->loaded_count++] =
		(struct loaded){ .table = xstrdup(name), .stat = st };
	return 0;
}

static const struct failure *find_failure(const struct tables *tables, const char *name)
{
	for (size_t i = 0; i < tables->failure_count; i++)
		if (strcasecmp(tables->failures[i].table, name) == 0)
			return &tables->failures[i];
	return NULL;
}

static void forget_failures(struct tables *tables)
{
	while (tables->failure_count > 0)
		free(tables->failures[--tables->failure_count].table);
}

/* To be told if the query wants that table. What the file held before is not read any more. */
static void remember(struct tables *tables, const char *name, const struct err *err)
{
	struct loaded *known = find_loaded(tables, name);

	if (known != NULL)
		drop(tables, known);
	tables->failures =
		xrealloc(tables->failures, (tables->failure_count + 1) * sizeof(*tables->failures));
	tables->failures[tables->failure_count++] =
		(struct failure){ .table = xstrdup(name), .err = *err };
}

/* A file that cannot be loaded fails nothing yet; `full_ends`: but for want of memory it does. */
static int try_load(struct tables *tables, const char *name, const char *path, bool full_ends,
		    struct err *err)
{
	if (find_failure(tables, name) != NULL || load(tables, name, path, err) == 0)
		return 0;
	if (stop_requested() || (full_ends && err->code == ERR_LIMIT))
		return -1;
	remember(tables, name, err);
	return 0;
}

static int load_all(struct tables *tables, struct err *err)
{
	for (size_t i = 0; i < tables->file_count; i++) {
		cleanup_free char *stem = stem_of(tables->files[i], false);
		const char *name = find(tables, stem) != NULL ? stem : tables->files[i];

		if (try_load(tables, name, tables->files[i], true, err) < 0)
			return -1;
	}
	return 0;
}

static bool is_schema(const char *name)
{
	return strcasecmp(name, "sqlite_master") == 0 || strcasecmp(name, "sqlite_schema") == 0 ||
	       strncasecmp(name, "pragma_", 7) == 0;
}

/* 'sales.csv': SQLite takes a string for a name where only a name can be. */
static char *name_of(const struct lexer *lexer, const struct token *token)
{
	if (token->kind == TOKEN_STRING)
		return token->len >= 2 ? xmemdup(lexer->text + token->at + 1, token->len - 2)
				       : xstrdup("");
	return token_name(lexer, token);
}

static int load_named(struct tables *tables, const char *name, bool full_ends, struct err *err)
{
	const char *path;

	if (is_schema(name))
		return load_all(tables, err);
	path = find(tables, name);
	return path != NULL ? try_load(tables, name, path, full_ends, err) : 0;
}

/* Each word and text of the query may be a table's name, or a column's, or only a text. */
static int load_each(struct tables *tables, const char *sql, size_t len, bool full_ends,
		     struct err *err)
{
	struct lexer lexer;
	struct token token = { .kind = TOKEN_OTHER };

	forget_failures(tables);
	token_start(&lexer, SQL_SQLITE, sql, len);
	while (token.kind != TOKEN_END) {
		cleanup_free char *name = NULL;

		if (token_next(&lexer, &token, err) < 0)
			return -1;
		if (token.kind != TOKEN_WORD && token.kind != TOKEN_QUOTED &&
		    token.kind != TOKEN_STRING)
			continue;
		name = name_of(&lexer, &token);
		if (load_named(tables, name, full_ends, err) < 0)
			return -1;
	}
	return 0;
}

/* A file that is gone is no table any more. */
static void drop_missing(struct tables *tables)
{
	for (size_t i = tables->loaded_count; i-- > 0;)
		if (find(tables, tables->loaded[i].table) == NULL)
			drop(tables, &tables->loaded[i]);
}

static int open_empty(struct tables *tables, struct err *err)
{
	if (tables->db != NULL)
		(void)sqlite3_close(tables->db);
	while (tables->loaded_count > 0)
		free(tables->loaded[--tables->loaded_count].table);
	tables->db = lite_open_memory(err);
	return tables->db != NULL ? 0 : -1;
}

int tables_load(struct tables *tables, const char *sql, size_t len, struct err *err)
{
	bool others;

	look(tables);
	if (tables->db == NULL && open_empty(tables, err) < 0)
		return -1;
	lite_unseal(tables->db);
	drop_missing(tables);
	others = tables->loaded_count > 0;
	if (load_each(tables, sql, len, others, err) < 0) {
		/* Tables of earlier queries give way. */
		if (err->code != ERR_LIMIT || !others || open_empty(tables, err) < 0 ||
		    load_each(tables, sql, len, false, err) < 0)
			return -1;
	}
	return lite_seal(tables->db, err);
}

/* ---- the object ---- */

struct tables *tables_new(int dir_fd, struct err *err)
{
	struct tables *tables = xcalloc(1, sizeof(*tables));

	if (open_empty(tables, err) < 0) {
		free(tables);
		return NULL;
	}
	tables->dir_fd = dir_fd;
	tables->files = xcalloc(TABLES_FILES_MAX, sizeof(*tables->files));
	return tables;
}

sqlite3 *tables_db(const struct tables *tables)
{
	return tables->db;
}

/* The files that a name means, or all tables for NULL; how many. */
static size_t put_files(const struct tables *tables, const char *name, struct buf *out)
{
	size_t count = 0;

	for (size_t i = 0; i < tables->file_count; i++) {
		cleanup_free char *stem = stem_of(tables->files[i], false);
		bool alone = name == NULL && find(tables, stem) != NULL;

		if (name == NULL || means(name, tables->files[i]))
			buf_putf(out, "%s%s", count++ > 0 ? ", " : "",
				 alone ? stem : tables->files[i]);
	}
	return count;
}

static bool explain_failure(const struct tables *tables, const char *name, struct err *err)
{
	static const char schema[] = "main.";
	size_t len = sizeof(schema) - 1;
	const struct failure *failure = find_failure(tables, name);

	if (failure == NULL && strncasecmp(name, schema, len) == 0)
		failure = find_failure(tables, name + len);
	if (failure != NULL)
		*err = failure->err;
	return failure != NULL;
}

void tables_explain(const struct tables *tables, struct err *err)
{
	static const char missing[] = "no such table: ";
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf list = BUF_INIT(BUF_UNBOUNDED);
	const char *why = "the session's CSV files are the tables ";
	char message[sizeof(err->msg)];

	if (strncmp(err->msg, missing, sizeof(missing) - 1) != 0)
		return;
	memcpy(message, err->msg, sizeof(message));
	if (explain_failure(tables, message + sizeof(missing) - 1, err))
		return;
	if (put_files(tables, message + sizeof(missing) - 1, &list) > 1) {
		why = "several files have that name, ask for one by its path in quotes: ";
	} else {
		buf_clear(&list);
		(void)put_files(tables, NULL, &list);
	}
	clean_line(&shown, buf_str(&list), list.len, SHOWN_MAX);
	(void)err_set(err, err->code, "%s; %s%s", message,
		      shown.len > 0 ? why : "the session has no CSV file", buf_str(&shown));
}
