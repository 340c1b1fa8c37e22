/* SPDX-License-Identifier: MIT */
/* resumable.c - what `ptycell ps` and `ptycell resume` have in common. */
#include "resumable.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/paths.h"
#include "json/get.h"
#include "terminal.h"

enum { SHOWN_MAX = 10, MINUTE = 60, HOUR = 3600, DAY = 86400 };

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

char *resumable_span(json_int_t seconds)
{
	if (seconds / MINUTE < 2)
		return xasprintf("%" JSON_INTEGER_FORMAT " s", seconds);
	if (seconds / HOUR < 2)
		return xasprintf("%" JSON_INTEGER_FORMAT " min", seconds / MINUTE);
	if (seconds / DAY < 2)
		return xasprintf("%" JSON_INTEGER_FORMAT " h", seconds / HOUR);
	return xasprintf("%" JSON_INTEGER_FORMAT " d", seconds / DAY);
}

char *resumable_folder(const json_t *row)
{
	const char *path = json_text_at(row, "kept");
	cleanup_free char *home = paths_user_home(environ, geteuid());
	size_t len = home != NULL ? strlen(home) : 0;

	if (len > 1 && strncmp(path, home, len) == 0 && path[len] == '/')
		return xasprintf("~%s", path + len);
	return xstrdup(path[0] != '\0' ? path : "-");
}

const char *resumable_id(const json_t *row)
{
	return json_text_at(row, json_object_get(row, "own_id") != NULL ? "own_id" : "session_id");
}

static void add_ended(struct table_view *table, const json_t *row)
{
	cleanup_free char *age = resumable_span(number_of(row, "used_seconds"));
	cleanup_free char *ago = xasprintf("%s ago", age);
	cleanup_free char *path = resumable_folder(row);

	terminal_add(table, TERMINAL_BOLD, resumable_id(row));
	terminal_add(table, TERMINAL_CYAN, json_text_at(row, "state"));
	terminal_add(table, TERMINAL_PLAIN, ago);
	terminal_add(table, TERMINAL_DIM, json_text_at(row, "why"));
	terminal_add(table, TERMINAL_DIM, path);
}

void resumable_begin(struct table_view *table, const char *const *head, size_t count)
{
	*table = (struct table_view){ .count = count };
	for (size_t i = 0; i < count; i++)
		terminal_add(table, TERMINAL_DIM, head[i]);
}

void resumable_print(const json_t *ended, bool all)
{
	static const char *const head[] = { "SESSION", "STATE", "USED", "ENDED BECAUSE", "FOLDER" };
	size_t count = json_array_size(ended);
	size_t shown = all || count < SHOWN_MAX ? count : SHOWN_MAX;
	struct table_view table;

	resumable_begin(&table, head, ARRAY_SIZE(head));
	for (size_t i = 0; i < shown; i++)
		add_ended(&table, json_array_get(ended, i));
	terminal_print_table(&table);
	if (shown < count)
		printf("%zu more %s can be resumed: ptycell resume --all\n", count - shown,
		       count - shown == 1 ? "session" : "sessions");
}
