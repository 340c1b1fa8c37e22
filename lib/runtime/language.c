/* SPDX-License-Identifier: MIT */
/*
 * language.c - the table of languages, in the order in which users see them.
 *
 * A new language needs more than a row here: README.md has the steps.
 */
#include "runtime/language.h"

#include <strings.h>

#include "runtime/bash/bash.h"
#include "runtime/locate.h"
#include "runtime/node/node.h"
#include "runtime/python/python.h"
#include "runtime/r/r.h"

static const struct language *(*const rows[])(void) = { python_language, node_language,
							bash_language, r_language };

const struct language *language_at(size_t index)
{
	return index < ARRAY_SIZE(rows) ? rows[index]() : NULL;
}

static bool has_name(const struct language *language, const char *name)
{
	if (strcasecmp(language->name, name) == 0)
		return true;
	for (size_t i = 0; language->aliases[i] != NULL; i++) {
		if (strcasecmp(language->aliases[i], name) == 0)
			return true;
	}
	return false;
}

const struct language *language_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (has_name(rows[i](), name))
			return rows[i]();
	}
	return NULL;
}

int language_locate(const struct language *language, char *const env[],
		    struct interpreter_path *ret_path, struct err *err)
{
	return locate_interpreter(language, env, ret_path, err);
}

bool language_is_here(const struct language *language, char *const env[])
{
	struct interpreter_path path = { 0 };
	struct err err;

	if (locate_interpreter(language, env, &path, &err) < 0)
		return false;
	locate_release(&path);
	return true;
}

void language_list_here(char *const env[], struct buf *out)
{
	size_t listed = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (language_is_here(rows[i](), env))
			buf_putf(out, "%s%s", listed++ > 0 ? ", " : "", rows[i]()->name);
}

void language_list_missing(char *const env[], struct buf *out)
{
	size_t listed = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!language_is_here(rows[i](), env))
			buf_putf(out, "%s%s (%s)", listed++ > 0 ? ", " : "", rows[i]()->name,
				 rows[i]()->install_hint);
}
