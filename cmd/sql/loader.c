/* SPDX-License-Identifier: MIT */
#include "loader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "lite.h"
#include "sink.h"
#include "sql/csv.h"
#include "sql/infer.h"
#include "stop.h"

enum { READ_SIZE = 256 << 10 };

struct loader {
	sqlite3 *db;
	sqlite3_stmt *insert; /* NULL while types are found out */
	struct csv_reader *reader;
	char **names;
	enum infer_kind *kinds;
	size_t columns;
	size_t column; /* the next field's */
	bool headed;   /* the first line is over */
};

/* ---- the first line ---- */

static bool is_taken(const struct loader *loader, const char *name)
{
	for (size_t i = 0; i < loader->columns; i++)
		if (strcasecmp(loader->names[i], name) == 0)
			return true;
	return false;
}

/* SQLite wants names that differ in more than case. */
static char *free_name(const struct loader *loader, const char *s, size_t len)
{
	size_t used = strnlen(s, len);
	char *name = used > 0 ? xmemdup(s, used) : xasprintf("column%zu", loader->columns + 1);
	cleanup_free char *wanted = xstrdup(name);

	for (unsigned n = 2; is_taken(loader, name); n++) {
		free(name);
		name = xasprintf("%s_%u", wanted, n);
	}
	return name;
}

static int add_column(struct loader *loader, const char *s, size_t len, struct err *err)
{
	if (loader->columns == SINK_COLUMNS_MAX)
		return err_set(err, ERR_INVALID, "it has more than %d columns", SINK_COLUMNS_MAX);
	loader->names[loader->columns] = free_name(loader, s, len);
	loader->columns++;
	return 0;
}

/* ---- the others ---- */

static int bind(struct loader *loader, const char *s, size_t len, bool missing, struct err *err)
{
	int index = (int)loader->column + 1;
	int result;

	if (missing)
		result = sqlite3_bind_null(loader->insert, index);
	else if (loader->kinds[loader->column] == INFER_INTEGER)
		result = sqlite3_bind_int64(loader->insert, index, strtoll(s, NULL, 10));
	else if (loader->kinds[loader->column] == INFER_REAL)
		result = sqlite3_bind_double(loader->insert, index, strtod(s, NULL));
	else
		result = sqlite3_bind_text64(loader->insert, index, s, len, SQLITE_TRANSIENT,
					     SQLITE_UTF8);
	return result == SQLITE_OK ? 0 : lite_fail(loader->db, err);
}

static int on_field(void *data, const char *s, size_t len, bool missing, struct err *err)
{
	struct loader *loader = data;
	enum infer_kind kind;

	if (!loader->headed)
		return loader->insert == NULL ? add_column(loader, s, len, err) : 0;
	if (loader->column == loader->columns)
		return err_set(err, ERR_INVALID, "line %zu has more fields than the first line",
			       loader->reader->line);
	if (loader->insert != NULL) {
		if (bind(loader, s, len, missing, err) < 0)
			return -1;
	} else if (!missing) {
		kind = infer_text(s, len);
		if (kind > loader->kinds[loader->column])
			loader->kinds[loader->column] = kind;
	}
	loader->column++;
	return 0;
}

static int on_row(void *data, struct err *err)
{
	struct loader *loader = data;

	loader->column = 0;
	if (stop_requested())
		return stop_fail(err);
	if (!loader->headed) {
		loader->headed = true;
		return 0;
	}
	if (loader->insert == NULL)
		return 0;
	if (sqlite3_step(loader->insert) != SQLITE_DONE)
		return lite_fail(loader->db, err);
	(void)sqlite3_reset(loader->insert);
	(void)sqlite3_clear_bindings(loader->insert);
	return 0;
}

static const struct csv_handlers handlers = { .field = on_field, .row = on_row };

/* ---- the file, twice ---- */

static char separator_of(const char *path, const char *data, size_t len)
{
	size_t path_len = strlen(path);

	if (path_len > 4 && strcasecmp(path + path_len - 4, ".tsv") == 0)
		return '\t';
	return csv_separator(data, len);
}

static size_t skip_mark(const char *data, size_t len)
{
	static const char mark[] = "\xef\xbb\xbf";

	return len >= 3 && memcmp(data, mark, 3) == 0 ? 3 : 0;
}

/* What spreadsheets call "Unicode text". */
static bool is_utf16(const char *data, size_t len)
{
	return len >= 2 && (memcmp(data, "\xff\xfe", 2) == 0 || memcmp(data, "\xfe\xff", 2) == 0);
}

static int begin_file(struct csv_reader *reader, const char *path, const char *data, size_t len,
		      struct err *err)
{
	if (is_utf16(data, len))
		return err_set(err, ERR_INVALID, "it is UTF-16; write it as UTF-8 first");
	reader->separator = separator_of(path, data, len);
	return 0;
}

static int feed_file(struct loader *loader, int fd, const char *path, struct err *err)
{
	cleanup_free char *data = xcalloc(1, READ_SIZE);
	struct csv_reader reader;
	off_t offset = 0;
	int result = 0;

	csv_start(&reader, ',', &handlers, loader);
	loader->reader = &reader;
	loader->headed = false;
	loader->column = 0;
	while (result == 0) {
		ssize_t n = pread(fd, data, READ_SIZE, offset);
		size_t skip = offset == 0 && n > 0 ? skip_mark(data, (size_t)n) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			result = err_sys(err, "reading it");
		if (n <= 0)
			break;
		if (offset == 0)
			result = begin_file(&reader, path, data, (size_t)n, err);
		offset += n;
		if (result == 0)
			result = csv_feed(&reader, data + skip, (size_t)n - skip, err);
	}
	if (result == 0)
		result = csv_finish(&reader, err);
	csv_release(&reader);
	loader->reader = NULL;
	return result;
}

static void put_quoted(struct buf *out, const char *name)
{
	buf_puts(out, "\"");
	for (; *name != '\0'; name++)
		buf_put(out, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
	buf_puts(out, "\"");
}

static int create(const struct loader *loader, const char *table, struct err *err)
{
	static const char *const types[] = {
		[INFER_NONE] = "TEXT",
		[INFER_INTEGER] = "INTEGER",
		[INFER_REAL] = "REAL",
		[INFER_TEXT] = "TEXT",
	};
	cleanup_buf struct buf sql = BUF_INIT(BUF_UNBOUNDED);

	buf_puts(&sql, "CREATE TABLE ");
	put_quoted(&sql, table);
	for (size_t i = 0; i < loader->columns; i++) {
		buf_puts(&sql, i == 0 ? " (" : ", ");
		put_quoted(&sql, loader->names[i]);
		buf_putf(&sql, " %s", types[loader->kinds[i]]);
	}
	buf_puts(&sql, ")");
	if (sqlite3_exec(loader->db, buf_str(&sql), NULL, NULL, NULL) != SQLITE_OK)
		return lite_fail(loader->db, err);
	return 0;
}

static int prepare_insert(struct loader *loader, const char *table, struct err *err)
{
	cleanup_buf struct buf sql = BUF_INIT(BUF_UNBOUNDED);

	buf_puts(&sql, "INSERT INTO ");
	put_quoted(&sql, table);
	for (size_t i = 0; i < loader->columns; i++)
		buf_puts(&sql, i == 0 ? " VALUES (?" : ", ?");
	buf_puts(&sql, ")");
	if (sqlite3_prepare_v2(loader->db, buf_str(&sql), -1, &loader->insert, NULL) != SQLITE_OK)
		return lite_fail(loader->db, err);
	return 0;
}

static int load(struct loader *loader, const char *table, int fd, const char *path, struct err *err)
{
	int result;

	if (feed_file(loader, fd, path, err) < 0)
		return -1;
	if (loader->columns == 0)
		return err_set(err, ERR_INVALID, "it is empty");
	if (create(loader, table, err) < 0 || prepare_insert(loader, table, err) < 0)
		return -1;
	result = feed_file(loader, fd, path, err);
	(void)sqlite3_finalize(loader->insert);
	return result;
}

int loader_load(sqlite3 *db, const char *table, int fd, const char *path, struct err *err)
{
	struct loader loader = { .db = db };
	int result;

	loader.names = xcalloc(SINK_COLUMNS_MAX, sizeof(*loader.names));
	loader.kinds = xcalloc(SINK_COLUMNS_MAX, sizeof(*loader.kinds));
	(void)sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
	result = load(&loader, table, fd, path, err);
	(void)sqlite3_exec(db, result == 0 ? "COMMIT" : "ROLLBACK", NULL, NULL, NULL);
	for (size_t i = 0; i < loader.columns; i++)
		free(loader.names[i]);
	free(loader.names);
	free(loader.kinds);
	return result < 0 ? err_wrap(err, "'%s'", path) : 0;
}
