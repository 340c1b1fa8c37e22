/* SPDX-License-Identifier: MIT */
/*
 * response.c - reads replies of install programs and copies only the known members of valid rows.
 * Untrusted package code may have run beside the program.
 */
#include "install/response.h"

#include "base/util.h"
#include "json/get.h"
#include "json/make.h"
#include "json/parse.h"
#include "runtime/python/packages.h"

json_t *response_read(const char *text, size_t len, struct err *err)
{
	json_t *answer = json_parse(text, len, err);
	const json_t *ok = json_object_get(answer, "ok");

	if (answer == NULL)
		return NULL;
	if (json_is_true(ok) ||
	    (json_is_false(ok) && json_is_string(json_object_get(answer, "text"))))
		return answer;
	json_decref(answer);
	(void)err_set(err, ERR_INVALID, "its answer is none");
	return NULL;
}

static bool is_text(const json_t *value)
{
	return json_is_string(value) && json_string_length(value) <= RESPONSE_TEXT_MAX;
}

json_t *response_names(const json_t *list)
{
	json_t *names = json_array();
	size_t n;
	json_t *name;

	json_array_foreach (list, n, name)
		if (is_text(name) && json_array_size(names) < RESPONSE_MODULES_MAX)
			json_append(names, json_incref(name));
	return names;
}

static json_t *modules_of(const json_t *row)
{
	const json_t *untrusted = json_object_get(row, "modules");

	return json_is_array(untrusted) ? response_names(untrusted) : NULL;
}

json_t *response_rows(const json_t *rows)
{
	static const char *const keys[] = { "name", "version", "file" };
	json_t *taken = json_array();
	size_t n;
	json_t *row;

	json_array_foreach (rows, n, row) {
		json_t *clean = json_object();

		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			if (is_text(json_object_get(row, keys[i])))
				json_put(clean, keys[i],
					 json_incref(json_object_get(row, keys[i])));
		json_put(clean, "modules", modules_of(row));
		if (json_array_size(taken) < RESPONSE_ROWS_MAX &&
		    json_object_get(clean, "name") != NULL &&
		    json_object_get(clean, "version") != NULL)
			json_append(taken, json_incref(clean));
		json_decref(clean);
	}
	return taken;
}

static bool is_same_name(const char *a, const char *b, bool folded)
{
	return folded ? python_packages_same(a, b) : str_eq(a, b);
}

static bool has_name(const json_t *rows, const json_t *like, bool folded)
{
	const char *name = json_text_at(like, "name");
	size_t n;
	json_t *row;

	json_array_foreach (rows, n, row)
		if (is_same_name(json_text_at(row, "name"), name, folded))
			return true;
	return false;
}

/* A package of npm may be there in several versions. */
static bool has_version(const json_t *list, const json_t *like, bool folded)
{
	const char *name = json_text_at(like, "name");
	size_t n;
	json_t *row;

	json_array_foreach (list, n, row)
		if (is_same_name(json_text_at(row, "name"), name, folded) &&
		    json_equal(json_object_get(row, "version"), json_object_get(like, "version")))
			return true;
	return false;
}

json_t *response_missing(const json_t *before, const json_t *rows, bool folded)
{
	json_t *missing = json_array();
	size_t n;
	json_t *row;

	json_array_foreach (before, n, row)
		if (!has_name(rows, row, folded))
			json_append(missing, json_incref(row));
	return missing;
}

json_t *response_replaced(const json_t *before, const json_t *rows, bool folded)
{
	json_t *replaced = json_array();
	size_t n;
	json_t *row;

	json_array_foreach (before, n, row)
		if (has_name(rows, row, folded) && !has_version(rows, row, folded))
			json_append(replaced, json_incref(row));
	return replaced;
}

json_t *response_unchanged(const json_t *before, const json_t *rows, bool folded)
{
	json_t *unchanged = json_array();
	size_t n;
	json_t *row;

	json_array_foreach (before, n, row)
		if (has_version(rows, row, folded))
			json_append(unchanged, json_incref(row));
	return unchanged;
}

json_t *response_arrived(const json_t *before, const json_t *rows, bool folded)
{
	json_t *arrived = json_array();
	size_t n;
	json_t *row;

	json_array_foreach (rows, n, row)
		if (!has_version(before, row, folded))
			json_append(arrived, json_incref(row));
	return arrived;
}
