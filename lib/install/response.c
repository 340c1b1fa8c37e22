/* SPDX-License-Identifier: MIT */
/*
 * response.c - reads replies of install programs and copies only the known members of valid rows.
 * Untrusted package code may have run beside the program.
 */
#include "install/response.h"

#include "json/make.h"
#include "json/parse.h"

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

static json_t *modules_of(const json_t *row)
{
	const json_t *untrusted = json_object_get(row, "modules");
	json_t *modules = json_is_array(untrusted) ? json_array() : NULL;
	size_t n;
	json_t *name;

	json_array_foreach (untrusted, n, name)
		if (is_text(name) && json_array_size(modules) < RESPONSE_MODULES_MAX)
			json_append(modules, json_incref(name));
	return modules;
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
