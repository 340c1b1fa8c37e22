/* SPDX-License-Identifier: MIT */
/* progress.c - lines of progress, as data and as text. */
#include "install/progress.h"

#include "base/mem.h"
#include "json/make.h"
#include "json/parse.h"

static uint64_t bytes_of(const json_t *progress, const char *key)
{
	const json_t *number = json_object_get(progress, key);

	return json_is_integer(number) && json_integer_value(number) > 0
		       ? (uint64_t)json_integer_value(number)
		       : 0;
}

bool progress_read(const char *line, size_t len, struct progress *ret)
{
	struct err err;
	cleanup_json json_t *all = len <= PROGRESS_LINE_MAX ? json_parse(line, len, &err) : NULL;
	const json_t *progress = json_object_get(all, "progress");
	const char *name = json_string_value(json_object_get(progress, "name"));

	if (name == NULL)
		return false;
	progress_set_name(ret, name);
	ret->done = bytes_of(progress, "done");
	ret->total = bytes_of(progress, "total");
	return true;
}

void progress_set_name(struct progress *progress, const char *name)
{
	size_t n = 0;

	for (; name[n] != '\0' && n < PROGRESS_NAME_MAX; n++)
		progress->name[n] = name[n] >= ' ' && name[n] <= '~' ? name[n] : '?';
	progress->name[n] = '\0';
}

char *progress_text(const struct progress *progress, const char *doing)
{
	double done = (double)progress->done / 1e6;

	if (progress->total > 0)
		return xasprintf("%s %s: %.1f of %.1f MB", doing, progress->name, done,
				 (double)progress->total / 1e6);
	if (progress->done > 0)
		return xasprintf("%s %s: %.1f MB", doing, progress->name, done);
	return xasprintf("%s %s", doing, progress->name);
}
