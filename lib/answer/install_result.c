/* SPDX-License-Identifier: MIT */
/*
 * install_result.c - makes texts of an installer's result. Names and versions are chosen by
 * packages: they are quoted for sentences, and lines that would break the driver's format are left
 * out.
 */
#include "answer/install_result.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "json/make.h"
#include "text/sanitize.h"

static const char *text_of(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text != NULL ? text : "";
}

json_t *install_result_names(const json_t *rows)
{
	json_t *list = json_array();
	size_t n;
	json_t *row;

	json_array_foreach (rows, n, row) {
		cleanup_free char *name = sanitize_quote(text_of(row, "name"));
		cleanup_free char *version = sanitize_quote(text_of(row, "version"));

		json_append(list, json_make_fmt("%s %s", name, version));
	}
	return list;
}

static void put_names(struct buf *out, const char *before, const json_t *rows)
{
	cleanup_json json_t *names = install_result_names(rows);
	size_t n;
	json_t *name;

	json_array_foreach (names, n, name)
		buf_putf(out, "%s%s", n > 0 ? ", " : before, json_string_value(name));
}

char *install_result_sentence(const json_t *result)
{
	const json_t *packages = json_object_get(result, "packages");
	const json_t *present = json_object_get(result, "present");
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (json_array_size(packages) > 0) {
		put_names(&text, "Installed: ", packages);
		buf_puts(&text, ". The next import finds them; no restart is needed.");
	}
	if (json_array_size(present) > 0) {
		put_names(&text, text.len > 0 ? " There already: " : "There already: ", present);
		buf_puts(&text, ".");
	}
	return buf_steal(&text);
}

static void put_line(struct buf *out, const json_t *row, const char *module)
{
	const char *name = text_of(row, "name");
	const char *version = text_of(row, "version");

	if (strpbrk(name, "\t\n") == NULL && strpbrk(version, "\t\n") == NULL &&
	    strpbrk(module, "\t\n") == NULL)
		buf_putf(out, "%s%s\t%s\t%s", out->len > 0 ? "\n" : "", name, version, module);
}

char *install_result_lines(const json_t *result)
{
	cleanup_buf struct buf lines = BUF_INIT(BUF_UNBOUNDED);
	size_t n;
	json_t *row;

	json_array_foreach (json_object_get(result, "packages"), n, row) {
		const json_t *modules = json_object_get(row, "modules");
		size_t m;
		json_t *module;

		json_array_foreach (modules, m, module)
			if (json_is_string(module))
				put_line(&lines, row, json_string_value(module));
	}
	return buf_steal(&lines);
}
