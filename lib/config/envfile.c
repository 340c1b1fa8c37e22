/* SPDX-License-Identifier: MIT */
/*
 * envfile.c - reads a whole file with dotenv.c and expands it while reading, so that a line sees
 * only those before it. An unreadable line is reported, not fatal: a server that does not start
 * would be worse than a variable that is missing.
 */
#include "config/envfile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "config/dotenv.h"
#include "config/paths.h"

struct envfile {
	struct dotenv_scope scope;
	char *const *env; /* during envfile_read() */
	struct dotenv_entry *entries;
	size_t count;
	size_t bad_line;
};

/*
 * Looks up ${NAME}. The environment hides the file, as in python-dotenv. Within the file the last
 * entry counts.
 */
static const char *find_variable(struct dotenv_scope *scope, const char *name)
{
	struct envfile *file = container_of(scope, struct envfile, scope);
	const char *found = paths_getenv(file->env, name);

	for (size_t i = file->count; i-- > 0 && !found;) {
		if (str_eq(file->entries[i].name, name))
			found = file->entries[i].value;
	}
	return found;
}

static void note_bad(struct envfile *file, size_t line)
{
	if (file->bad_line == 0)
		file->bad_line = line;
}

static void add_entry(struct envfile *file, const struct dotenv_entry *entry)
{
	struct err ignored = { 0 };
	char *value;

	if (!entry->name) {
		note_bad(file, entry->line);
		return;
	}
	if (!entry->value) {
		note_bad(file, entry->line);
		return;
	}
	value = dotenv_expand(entry->value, &file->scope, &ignored);
	if (!value) {
		note_bad(file, entry->line);
		return;
	}
	file->entries = xrealloc(file->entries, (file->count + 1) * sizeof(*file->entries));
	file->entries[file->count++] = (struct dotenv_entry){
		.name = xstrdup(entry->name),
		.value = value,
		.line = entry->line,
	};
}

struct envfile *envfile_read(const char *path, char *const env[], struct err *err)
{
	cleanup_free char *absolute = paths_absolute(env, geteuid(), path);
	cleanup_free char *data = NULL;
	struct envfile *file;
	struct dotenv parser;
	struct dotenv_entry entry;
	size_t len;

	data = fd_read_file(AT_FDCWD, absolute ? absolute : path, ENVFILE_MAX, &len, err);
	if (!data)
		return NULL;
	if (memchr(data, '\0', len)) {
		(void)err_set(err, ERR_INVALID,
			      "it holds NUL bytes, as text in UTF-16 does: save it as UTF-8 "
			      "(iconv -f UTF-16 -t UTF-8)");
		return NULL;
	}
	file = xcalloc(1, sizeof(*file));
	file->scope.find = find_variable;
	file->env = env;
	dotenv_init(&parser, data, len);
	while (dotenv_next(&parser, &entry)) {
		add_entry(file, &entry);
		dotenv_entry_release(&entry);
	}
	file->env = NULL;
	return file;
}

void envfile_free(struct envfile *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->count; i++)
		dotenv_entry_release(&file->entries[i]);
	free(file->entries);
	free(file);
}

const char *envfile_name(const struct envfile *file, size_t index)
{
	return index < file->count ? file->entries[index].name : NULL;
}

const char *envfile_value(const struct envfile *file, size_t index)
{
	return file->entries[index].value;
}

size_t envfile_line(const struct envfile *file, size_t index)
{
	return file->entries[index].line;
}

size_t envfile_bad_line(const struct envfile *file)
{
	return file->bad_line;
}
