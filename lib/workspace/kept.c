/* SPDX-License-Identifier: MIT */
/*
 * kept.c - a list of the session's files in the order in which they came, with a map by path.
 * Entries are never removed, so that pointers to them stay valid during an export.
 */
#include "workspace/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NOTEBOOK_KEY "/"

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

/* `key` has a form that no path of a session has. */
static struct kept *find_input(struct kept_table *table, const char *key, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct kept *kept = find_or_add(table, key, path);

	kept->spare = true;
	if (kept->place == NULL)
		kept->place = keeptree_input(table->tree, slash != NULL ? slash + 1 : path);
	kept->place->data = kept;
	return kept;
}

struct kept *kept_input(struct kept_table *table, const char *path)
{
	cleanup_free char *key = xasprintf("/%zu/%s", list_len(&table->all), path);

	return find_input(table, key, path);
}

struct kept *kept_input_at(struct kept_table *table, const char *path, const char *to)
{
	cleanup_free char *key = xasprintf("/to/%s", to);

	return find_input(table, key, path);
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

bool kept_knows(const struct kept_table *table, const char *path)
{
	return map_get(table->by_key, path, strlen(path)) != NULL;
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
	const struct kept *notebook = map_get(table->by_key, NOTEBOOK_KEY, strlen(NOTEBOOK_KEY));

	list_for_each (struct kept, kept, &table->all, node) {
		kept->owed = kept != notebook && (kept->owed || kept->known);
		kept->known = false;
	}
	keeptree_forget(table->tree);
}
