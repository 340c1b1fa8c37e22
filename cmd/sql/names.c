/* SPDX-License-Identifier: MIT */
/*
 * names.c - lists files and matches names. Each file has its path, name, stem and a stem that is a
 * plain SQL word, as written and in composed form. A match has a rank, and the best one wins. Two
 * files with the same best rank make the name ambiguous, except that an exact path always means its
 * file.
 */
#include "names.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/util.h"
#include "text/normal.h"
#include "text/utf8.h"
#include "workspace/beneath.h"

/*
 * The rank of a match: the path is best, exact spelling is better than the composed form, and that
 * better than another case.
 */
enum { MATCH_NONE, MATCH_PLAIN = 1, MATCH_STEM = 4, MATCH_BASE = 7, MATCH_PATH = 10 };

enum form { AS_WRITTEN, COMPOSED, FORMS };

struct file {
	struct {
		char *path;
		char *table; /* k.csv of k.csv.gz; else the stem */
		char *stem;  /* the name without its ending */
		char *plain; /* the stem as a plain word of SQL */
	} names[FORMS];
};

static const char *path_of(const struct file *file)
{
	return file->names[AS_WRITTEN].path;
}

struct list {
	struct file *files;
	size_t count;
};

struct names {
	int dir_fd;
	struct list tables;
	struct list others;
};

#define READ(kind) "import pandas as pd; pd.read_" kind "(", ").to_csv(", ", index=False)", true
#define JSON_LINES                                                                                 \
	"import json, pandas as pd; pd.DataFrame([json.loads(s) for s in open(",                   \
		", 'rb') if s.strip()], dtype=object).to_csv(", ", index=False)", true

/*
 * Other kinds of files, and the line that makes a table of one: BEFORE 'its path' BETWEEN
 * 'path.csv' AFTER.
 */
static const struct {
	const char *ending;
	const char *what;
	const char *before;
	const char *between;
	const char *after;
	bool python;
} others[] = {
	{ ".gz", "is compressed; in bash", "gzip -dc ", " > ", "", false },
	{ ".bz2", "is compressed; in bash", "bzip2 -dc ", " > ", "", false },
	{ ".xz", "is compressed; in bash", "xz -dc ", " > ", "", false },
	{ ".zst", "is compressed; in bash", "zstd -dc ", " > ", "", false },
	{ ".zip", "is compressed; in bash", "unzip -p ", " > ", "", false },
	{ ".parquet", "is a Parquet file; in python", READ("parquet") },
	{ ".feather", "is a Feather file; in python", READ("feather") },
	{ ".xlsx", "is a workbook; in python", READ("excel") },
	{ ".xls", "is a workbook; in python", READ("excel") },
	{ ".ods", "is a workbook; in python", READ("excel") },
	{ ".dta", "is a file of Stata; in python", READ("stata") },
	{ ".sav", "is a file of SPSS; in python", READ("spss") },
	/* read_json() would convert texts to numbers and integers to doubles. */
	{ ".json", "is JSON; in python", "import json, pandas as pd; pd.DataFrame(json.load(open(",
	  ", 'rb')), dtype=object).to_csv(", ", index=False)", true },
	{ ".ndjson", "is JSON in lines; in python", JSON_LINES },
	{ ".jsonl", "is JSON in lines; in python", JSON_LINES },
	{ ".psv", "is not read as a table; if it is one, in bash", "cp ", " ", "", false },
	{ ".tab", "is not read as a table; if it is one, in bash", "cp ", " ", "", false },
	{ ".dat", "is not read as a table; if it is one, in bash", "cp ", " ", "", false },
	{ ".txt", "is not read as a table; if it is one, in bash", "cp ", " ", "", false },
};

struct names *names_new(int dir_fd)
{
	struct names *names = xcalloc(1, sizeof(*names));

	names->dir_fd = dir_fd;
	names->tables.files = xcalloc(NAMES_FILES_MAX, sizeof(struct file));
	names->others.files = xcalloc(NAMES_FILES_MAX, sizeof(struct file));
	return names;
}

/* ---- files ---- */

static bool has_ending(const char *name, const char *ending)
{
	size_t len = strlen(name);
	size_t ending_len = strlen(ending);

	return len > ending_len && strcasecmp(name + len - ending_len, ending) == 0;
}

static bool is_table(const char *name)
{
	return has_ending(name, ".csv") || has_ending(name, ".tsv");
}

static bool is_other(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (has_ending(name, others[i].ending))
			return true;
	return false;
}

static char *without_ending(const char *name)
{
	return xmemdup(name, (size_t)(strrchr(name, '.') - name));
}

/* Returns the name without .csv, or without both of .csv.gz. The caller frees it. */
static char *stem_of(const char *base)
{
	char *stem = without_ending(base);

	if (!is_table(base) && is_table(stem))
		*strrchr(stem, '.') = '\0';
	return stem;
}

static void add_file(struct list *list, const char *path)
{
	struct file *file = &list->files[list->count];

	if (list->count == NAMES_FILES_MAX)
		return;
	file->names[AS_WRITTEN].path = xstrdup(path);
	file->names[COMPOSED].path = normal_compose(path);
	for (size_t i = 0; i < FORMS; i++) {
		file->names[i].table = without_ending(path_base(file->names[i].path));
		file->names[i].stem = stem_of(path_base(file->names[i].path));
		file->names[i].plain = xstrdup(file->names[i].stem);
		for (char *c = file->names[i].plain; *c != '\0'; c++)
			if (strchr(" -.()+,&'", *c) != NULL)
				*c = '_';
	}
	list->count++;
}

static void read_folder(struct names *names, const char *folder, unsigned depth);

static void add_entry(struct names *names, const char *folder, const struct dirent *entry,
		      unsigned depth)
{
	cleanup_free char *path = NULL;

	if (entry->d_name[0] == '.')
		return;
	path = folder[0] == '\0' ? xstrdup(entry->d_name)
				 : xasprintf("%s/%s", folder, entry->d_name);
	if (entry->d_type == DT_DIR && depth < NAMES_DEPTH_MAX)
		read_folder(names, path, depth + 1);
	else if (entry->d_type == DT_REG && is_table(entry->d_name))
		add_file(&names->tables, path);
	else if (entry->d_type == DT_REG && is_other(entry->d_name))
		add_file(&names->others, path);
}

static void read_folder(struct names *names, const char *folder, unsigned depth)
{
	DIR *dir = fd_list_own(
		folder[0] == '\0' ? openat(names->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
				  : beneath_open(names->dir_fd, folder, O_RDONLY | O_DIRECTORY, 0));
	const struct dirent *entry;

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL)
		add_entry(names, folder, entry, depth);
	(void)closedir(dir);
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(path_of(a), path_of(b));
}

static void forget_files(struct list *list)
{
	while (list->count > 0) {
		struct file *file = &list->files[--list->count];

		for (size_t i = 0; i < FORMS; i++) {
			free(file->names[i].path);
			free(file->names[i].table);
			free(file->names[i].stem);
			free(file->names[i].plain);
		}
	}
}

void names_look(struct names *names)
{
	forget_files(&names->tables);
	forget_files(&names->others);
	read_folder(names, "", 0);
	qsort(names->tables.files, names->tables.count, sizeof(struct file), compare_paths);
	qsort(names->others.files, names->others.count, sizeof(struct file), compare_paths);
}

size_t names_count(const struct names *names)
{
	return names->tables.count;
}

const char *names_path(const struct names *names, size_t index)
{
	return path_of(&names->tables.files[index]);
}

/* ---- matching ---- */

static unsigned match_form(const struct file *file, enum form form, const char *text)
{
	unsigned exact = form == AS_WRITTEN ? 2 : 1;
	const struct {
		const char *key;
		unsigned match;
	} keys[] = { { file->names[form].path, MATCH_PATH },
		     { path_base(file->names[form].path), MATCH_BASE },
		     { file->names[form].table, MATCH_STEM },
		     { file->names[form].stem, MATCH_STEM },
		     { file->names[form].plain, MATCH_PLAIN } };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcasecmp(text, keys[i].key) == 0)
			return keys[i].match + (str_eq(text, keys[i].key) ? exact : 0);
	return MATCH_NONE;
}

/* Returns the rank of a match. `key` is the name in composed form. */
static unsigned match_file(const struct file *file, const char *name, const char *key)
{
	unsigned written = match_form(file, AS_WRITTEN, name);
	unsigned composed = match_form(file, COMPOSED, key);

	return written > composed ? written : composed;
}

static const struct file *find_file(const struct list *list, const char *name)
{
	cleanup_free char *key = normal_compose(name);
	const struct file *found = NULL;
	unsigned best = MATCH_NONE;

	for (size_t i = 0; i < list->count; i++) {
		unsigned this = match_file(&list->files[i], name, key);

		if (str_eq(name, path_of(&list->files[i])))
			return &list->files[i];
		if (this == MATCH_NONE || this < best)
			continue;
		found = this > best ? &list->files[i] : NULL;
		best = this;
	}
	return found;
}

const char *names_find(const struct names *names, const char *name)
{
	const struct file *file = find_file(&names->tables, name);

	return file != NULL ? path_of(file) : NULL;
}

char *names_shortest(const struct names *names, const char *path)
{
	cleanup_free char *stem = stem_of(path_base(path));
	const char *found = names_find(names, stem);

	/* SQLite reserves names with this prefix. */
	if (strncasecmp(stem, "sqlite_", 7) == 0)
		return xstrdup(path);
	return xstrdup(found != NULL && str_eq(found, path) ? stem : path);
}

/* Returns true when another file's path looks the same. */
static bool has_double(const struct list *list, const struct file *file)
{
	for (size_t i = 0; i < list->count; i++)
		if (&list->files[i] != file &&
		    str_eq(list->files[i].names[COMPOSED].path, file->names[COMPOSED].path))
			return true;
	return false;
}

void names_put_escaped(struct buf *out, const char *text)
{
	struct utf8_decoder decoder = { 0 };

	for (; *text != '\0'; text++) {
		int32_t got[2];

		utf8_decode(&decoder, (unsigned char)*text, &got[0], &got[1]);
		for (size_t i = 0; i < ARRAY_SIZE(got); i++)
			if (got[i] >= 0x80)
				buf_putf(out, "\\u%04X", (unsigned)got[i]);
			else if (got[i] != UTF8_MORE)
				buf_put_char(out, (char)got[i]);
	}
}

size_t names_put(const struct names *names, const char *name, struct buf *out)
{
	cleanup_free char *key = name != NULL ? normal_compose(name) : NULL;
	size_t count = 0;

	for (size_t i = 0; i < names->tables.count; i++) {
		const struct file *file = &names->tables.files[i];
		cleanup_free char *shown = name == NULL ? names_shortest(names, path_of(file))
							: xstrdup(path_of(file));

		if (name != NULL && match_file(file, name, key) == MATCH_NONE)
			continue;
		buf_puts(out, count++ > 0 ? ", " : "");
		if (has_double(&names->tables, file))
			names_put_escaped(out, shown);
		else
			buf_puts(out, shown);
	}
	return count;
}

static bool is_there(int dir_fd, const char *path)
{
	struct err err;
	struct stat stat;
	const char *name;
	cleanup_fd int parent = beneath_open_parent(dir_fd, path, &name, &err);

	return parent >= 0 && fstatat(parent, name, &stat, AT_SYMLINK_NOFOLLOW) == 0;
}

char *names_unused(int dir_fd, const char *stem, const char *ending)
{
	char *path = xasprintf("%s.%s", stem, ending);

	for (unsigned i = 2; is_there(dir_fd, path); i++) {
		free(path);
		path = xasprintf("%s_%u.%s", stem, i, ending);
	}
	return path;
}

void names_put_quoted(struct buf *out, const char *path, bool python)
{
	buf_put_char(out, '\'');
	for (; *path != '\0'; path++) {
		if (*path == '\'')
			buf_puts(out, python ? "\\'" : "'\\''");
		else if (*path == '\\' && python)
			buf_puts(out, "\\\\");
		else
			buf_put_char(out, *path);
	}
	buf_put_char(out, '\'');
}

bool names_put_other(const struct names *names, const char *name, struct buf *out)
{
	const struct file *file = find_file(&names->others, name);
	cleanup_free char *to = NULL;
	cleanup_free char *csv = NULL;

	if (file == NULL)
		return false;
	to = without_ending(path_of(file));
	if (is_table(to))
		*strrchr(to, '.') = '\0';
	csv = names_unused(names->dir_fd, to, "csv");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (!has_ending(path_of(file), others[i].ending))
			continue;
		buf_putf(out, "'%s' %s: %s", path_of(file), others[i].what, others[i].before);
		names_put_quoted(out, path_of(file), others[i].python);
		buf_puts(out, others[i].between);
		names_put_quoted(out, csv, others[i].python);
		buf_puts(out, others[i].after);
		return true;
	}
	return false;
}
