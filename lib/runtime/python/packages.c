/* SPDX-License-Identifier: MIT */
/*
 * packages.c - reads the site folders of a Python installation.
 *
 * Debian has its own layout (dist-packages), so all known folders are read. If two have a package,
 * one of them is kept: which one the interpreter would import is not known without running it.
 */
#include "runtime/python/packages.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fd.h"
#include "base/mem.h"

struct found {
	struct python_package *items;
	size_t count;
};

static bool has_suffix(const char *name, const char *suffix)
{
	size_t len = strlen(name);
	size_t suffix_len = strlen(suffix);

	return len > suffix_len && str_eq(name + len - suffix_len, suffix);
}

/* Adds an entry like "numpy-1.24.2.dist-info" or "six-1.16.0-py3.11.egg-info". */
static void add_package(struct found *found, const char *entry)
{
	size_t len = strlen(entry) - strlen(".dist-info"); /* .egg-info is one shorter */
	struct python_package *package;
	const char *dash;
	size_t version_len;

	if (has_suffix(entry, ".egg-info"))
		len++;
	dash = memchr(entry, '-', len);
	if (found->count == PYTHON_PACKAGES_MAX)
		return;
	found->items = xrealloc(found->items, (found->count + 1) * sizeof(*found->items));
	package = &found->items[found->count++];
	package->name = xmemdup(entry, dash != NULL ? (size_t)(dash - entry) : len);
	version_len = dash != NULL ? len - (size_t)(dash + 1 - entry) : 0;
	if (dash != NULL && memchr(dash + 1, '-', version_len) != NULL)
		version_len = strcspn(dash + 1, "-");
	package->version = xmemdup(dash != NULL ? dash + 1 : "", version_len);
}

/* Closes `dir`, which may be NULL. */
static void read_entries(struct found *found, DIR *dir)
{
	const struct dirent *entry;

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (has_suffix(entry->d_name, ".dist-info") ||
		    has_suffix(entry->d_name, ".egg-info"))
			add_package(found, entry->d_name);
	(void)closedir(dir);
}

static void read_pattern(struct found *found, const char *prefix, const char *below)
{
	cleanup_free char *pattern = xasprintf("%s/%s", prefix, below);
	glob_t matches;

	if (glob(pattern, GLOB_NOSORT, NULL, &matches) == 0)
		for (size_t i = 0; i < matches.gl_pathc; i++)
			read_entries(found, opendir(matches.gl_pathv[i]));
	globfree(&matches);
}

static int by_name(const void *a, const void *b)
{
	const struct python_package *left = a;
	const struct python_package *right = b;

	return strcasecmp(left->name, right->name);
}

static void drop_duplicates(struct found *found)
{
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++) {
		if (kept > 0 && by_name(&found->items[kept - 1], &found->items[i]) == 0) {
			free(found->items[i].name);
			free(found->items[i].version);
			continue;
		}
		found->items[kept++] = found->items[i];
	}
	found->count = kept;
}

struct python_package *python_packages(const char *interpreter_path, size_t *ret_count)
{
	static const char *const below[] = {
		"lib/python3*/site-packages",
		"lib64/python3*/site-packages",
		"lib/python3*/dist-packages",
		"local/lib/python3*/dist-packages",
	};
	struct found found = { .items = NULL };
	cleanup_free char *prefix = xstrdup(interpreter_path);
	char *slash;

	for (int i = 0; i < 2; i++) { /* PREFIX/bin/python3 */
		slash = strrchr(prefix, '/');
		if (slash != NULL)
			*slash = '\0';
	}
	for (size_t i = 0; i < ARRAY_SIZE(below); i++)
		read_pattern(&found, prefix, below[i]);
	if (found.count > 0)
		qsort(found.items, found.count, sizeof(*found.items), by_name);
	drop_duplicates(&found);
	*ret_count = found.count;
	return found.items;
}

static bool is_separator(char c)
{
	return c == '-' || c == '_' || c == '.';
}

/* Returns the next character of a name in its normal form, 0 at the end, and moves behind it. */
static int next_normal(const char **name)
{
	char c = **name;

	if (c == '\0')
		return c;
	(*name)++;
	if (!is_separator(c))
		return tolower((unsigned char)c);
	while (is_separator(**name))
		(*name)++;
	return '-';
}

const char *python_packages_after(const char *text, const char *name)
{
	if (*name == '\0')
		return NULL;
	while (*name != '\0')
		if (next_normal(&name) != next_normal(&text))
			return NULL;
	return isalnum((unsigned char)*text) || is_separator(*text) ? NULL : text;
}

bool python_packages_same(const char *a, const char *b)
{
	const char *after = python_packages_after(a, b);

	return after != NULL && *after == '\0';
}

static bool has_package(const struct found *own, const char *name)
{
	for (size_t i = 0; i < own->count; i++)
		if (python_packages_same(own->items[i].name, name))
			return true;
	return false;
}

bool python_packages_replace(const char *interpreter_path, int dir_fd, const char *name)
{
	struct found set = { .items = NULL };
	struct found own = { .items = NULL };
	DIR *dir =
		fd_list_own(openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	bool replaces = false;

	if (dir == NULL)
		return false;
	read_entries(&set, dir);
	own.items = python_packages(interpreter_path, &own.count);
	for (size_t i = 0; i < set.count && !replaces; i++)
		replaces = has_package(&own, set.items[i].name);
	python_packages_free(own.items, own.count);
	python_packages_free(set.items, set.count);
	return replaces;
}

void python_packages_free(struct python_package *packages, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(packages[i].name);
		free(packages[i].version);
	}
	free(packages);
}
