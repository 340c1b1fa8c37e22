/* SPDX-License-Identifier: MIT */
/*
 * kept.c - a list of the session's files in the order in which they came, with a map by path.
 * Entries are never removed, so that pointers to them stay valid during an export.
 */
#include "workspace/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "workspace/dblogs.h"
#include "workspace/original.h"

#define NOTEBOOK_KEY "/"
#define REPORT_KEY "//"

void kept_table_init(struct kept_table *table)
{
	list_init(&table->all);
	table->by_key = map_new();
	table->tree = keeptree_new();
}

void kept_table_release(struct kept_table *table)
{
	list_for_each (struct kept, kept, &table->all, node) {
		free(kept->from);
		free(kept);
	}
	map_free(table->by_key);
	keeptree_free(table->tree);
}

static struct kept *find_or_add(struct kept_table *table, const char *key, const char *from)
{
	struct kept *kept = map_get(table->by_key, key, strlen(key));

	if (kept != NULL)
		return kept;
	kept = xcalloc(1, sizeof(*kept));
	kept->from = xstrdup(from);
	kept->seen_size = -1;
	list_init(&kept->node);
	list_append(&table->all, &kept->node);
	(void)map_set(table->by_key, key, strlen(key), kept);
	return kept;
}

struct kept *kept_find(struct kept_table *table, const char *path)
{
	struct kept *kept = find_or_add(table, path, path);

	if (kept->place == NULL)
		kept->place = keeptree_file(table->tree, path);
	kept->place->data = kept;
	return kept;
}

struct kept *kept_input(struct kept_table *table, const char *name)
{
	cleanup_free char *key = xasprintf("/inputs/%s", name);
	struct kept *kept = find_or_add(table, key, name);

	kept->spare = true;
	if (kept->place == NULL)
		kept->place = keeptree_input(table->tree, path_base(original_import_name(name)));
	kept->place->data = kept;
	return kept;
}

struct kept *kept_output(struct kept_table *table, const char *file, const char *name)
{
	cleanup_free char *key = xasprintf("/outputs/%s", file);
	struct kept *kept = find_or_add(table, key, file);

	kept->whole = true;
	if (kept->place == NULL)
		kept->place = keeptree_output(table->tree, name);
	kept->place->data = kept;
	return kept;
}

struct kept *kept_notebook(struct kept_table *table, const char *file)
{
	struct kept *kept = find_or_add(table, NOTEBOOK_KEY, file);

	if (kept->place == NULL)
		kept->place = keeptree_notebook(table->tree);
	kept->is_notebook = true;
	kept->place->data = kept;
	return kept;
}

struct kept *kept_report(struct kept_table *table)
{
	struct kept *kept = find_or_add(table, REPORT_KEY, "");

	if (kept->place == NULL)
		kept->place = keeptree_report(table->tree);
	kept->is_report = true;
	kept->place->data = kept;
	return kept;
}

bool kept_knows(const struct kept_table *table, const char *path)
{
	return map_get(table->by_key, path, strlen(path)) != NULL;
}

void kept_add(struct kept **files, size_t *count, struct kept *kept)
{
	kept->owed = false;
	kept->settled = false;
	kept->along = false;
	files[(*count)++] = kept;
}

static bool is_among(struct kept *const *files, size_t count, const struct kept *kept)
{
	for (size_t i = 0; i < count; i++)
		if (files[i] == kept)
			return true;
	return false;
}

/* Adds the file of this path if it has a copy. */
static void add_along(const struct kept_table *table, struct kept **files, size_t *count,
		      const char *path)
{
	struct kept *kept = map_get(table->by_key, path, strlen(path));

	if (kept == NULL || !kept->known || is_among(files, *count, kept))
		return;
	kept_add(files, count, kept);
	kept->along = true;
}

size_t kept_add_others(const struct kept_table *table, struct kept **files, size_t count)
{
	list_for_each (struct kept, kept, &table->all, node)
		if (kept->owed || (kept->linked && kept->settled))
			kept_add(files, &count, kept);
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *database = dblogs_database(files[i]->from);

		if (database != NULL)
			add_along(table, files, &count, database);
		for (size_t at = 0; database == NULL && at < DBLOGS_COUNT; at++) {
			cleanup_free char *log = dblogs_name(files[i]->from, at);

			add_along(table, files, &count, log);
		}
	}
	return count;
}

size_t kept_owed(const struct kept_table *table, const char **ret_path)
{
	size_t count = 0;

	list_for_each (const struct kept, kept, &table->all, node)
		if (kept->owed && count++ == 0)
			*ret_path = kept->from;
	return count;
}

void kept_forget(struct kept_table *table)
{
	list_for_each (struct kept, kept, &table->all, node) {
		kept->owed = !kept->is_notebook && !kept->is_report && (kept->owed || kept->known);
		kept->known = false;
	}
	keeptree_forget(table->tree);
}
