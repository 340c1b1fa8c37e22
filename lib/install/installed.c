/* SPDX-License-Identifier: MIT */
/* installed.c - a list of rows, and the file of one session's. */
#include "install/installed.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "runtime/language.h"

enum { RECORD_MAX = 16 << 20 };

struct installed *installed_find(struct list *all, const char *folder,
				 const struct language *language, bool add)
{
	struct installed *fresh;

	list_for_each (struct installed, one, all, node)
		if (one->language == language && str_eq(one->folder, folder))
			return one;
	if (!add)
		return NULL;
	fresh = xcalloc(1, sizeof(*fresh));
	list_init(&fresh->node);
	list_append(all, &fresh->node);
	fresh->folder = xstrdup(folder);
	fresh->language = language;
	return fresh;
}

void installed_free(struct installed *one)
{
	list_remove(&one->node);
	free(one->folder);
	free(one->from);
	json_decref(one->wanted);
	json_decref(one->result);
	free(one);
}

void installed_write(struct list *all, const char *folder, int journal_fd)
{
	cleanup_json json_t *rows = json_array();
	struct err err;

	list_for_each (const struct installed, one, all, node) {
		json_t *row;

		if (!str_eq(one->folder, folder))
			continue;
		row = json_object();
		json_put_str(row, "language", one->language->name);
		json_put_str(row, "from", one->from);
		json_put(row, "wanted", json_incref(one->wanted));
		json_put(row, "result", json_incref(one->result));
		json_append(rows, row);
	}
	if (json_write_file(journal_fd, INSTALLED_RECORD, rows, &err) < 0)
		log_warn("install", "a later server will not list a session's packages: %s",
			 err.msg);
}

static void take_row(struct list *all, const char *folder, const json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "language"));
	const char *from = json_string_value(json_object_get(row, "from"));
	const struct language *language = name != NULL ? language_find(name) : NULL;
	json_t *wanted = json_object_get(row, "wanted");
	json_t *result = json_object_get(row, "result");
	struct installed *one;

	if (language == NULL || from == NULL || !json_is_array(wanted) || !json_is_object(result) ||
	    installed_find(all, folder, language, false) != NULL)
		return;
	one = installed_find(all, folder, language, true);
	one->from = xstrdup(from);
	one->wanted = json_incref(wanted);
	one->result = json_incref(result);
}

void installed_read(struct list *all, const char *folder, int journal_fd)
{
	cleanup_json json_t *rows = NULL;
	struct err err;
	size_t n;
	json_t *row;

	list_for_each (const struct installed, one, all, node)
		if (str_eq(one->folder, folder))
			return;
	rows = json_parse_file(journal_fd, INSTALLED_RECORD, RECORD_MAX, &err);
	json_array_foreach (rows, n, row)
		take_row(all, folder, row);
}
