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
#include "json/get.h"
#include "json/make.h"
#include "text/sanitize.h"

enum { NOTE_MAX = 400 };

json_t *install_result_name(const char *name, const char *version)
{
	cleanup_free char *shown = sanitize_quote(name != NULL ? name : "");
	cleanup_free char *shown_version = sanitize_quote(version != NULL ? version : "");

	return json_make_fmt("%s %s", shown, shown_version);
}

json_t *install_result_names(const json_t *rows)
{
	json_t *list = json_array();
	size_t n;
	json_t *row;

	json_array_foreach (rows, n, row)
		json_append(list, install_result_name(json_text_at(row, "name"),
						      json_text_at(row, "version")));
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

/* Puts what was there before: packages of the session, and of the interpreter itself. */
static void put_there(struct buf *out, const json_t *result)
{
	cleanup_json json_t *rows = json_array();

	(void)json_array_extend(rows, json_object_get(result, "unchanged"));
	(void)json_array_extend(rows, json_object_get(result, "present"));
	if (json_array_size(rows) == 0)
		return;
	put_names(out, out->len > 0 ? " There already: " : "There already: ", rows);
	buf_puts(out, ".");
}

/* Puts what the session had, and does not have with these packages. */
static void put_removed(struct buf *out, const json_t *result)
{
	const json_t *rows = json_object_get(result, "removed");

	if (json_array_size(rows) == 0)
		return;
	buf_puts(out, out->len > 0 ? " " : "");
	put_names(out,
		  json_is_true(json_object_get(result, "dry")) ? "Would go: " : "No longer there: ",
		  rows);
	buf_puts(out, ".");
}

static void put_left_out(struct buf *out, const json_t *names)
{
	size_t n;
	json_t *name;

	if (json_array_size(names) > 0 && out->len > 0)
		buf_puts(out, " ");
	json_array_foreach (names, n, name) {
		cleanup_free char *quoted = sanitize_quote(json_string_value(name));

		buf_putf(out, "%s%s",
			 n > 0 ? ", " : "Left out, because Python has them itself: ", quoted);
	}
	if (json_array_size(names) > 0)
		buf_puts(out, ".");
}

static void put_notes(struct buf *out, const json_t *notes)
{
	size_t n;
	json_t *note;

	json_array_foreach (notes, n, note) {
		buf_puts(out, out->len > 0 ? " " : "");
		sanitize_line(out, json_string_value(note), json_string_length(note), NOTE_MAX);
	}
}

/* Puts size and time, as far as they are known. The size is that of all packages together. */
static void put_effort(struct buf *out, const json_t *result)
{
	const json_t *bytes = json_object_get(result, "bytes");
	const json_t *ms = json_object_get(result, "ms");

	if (!json_is_integer(bytes) || !json_is_integer(ms))
		return;
	if (json_array_size(json_object_get(result, "unchanged")) > 0)
		buf_putf(out, " (%.1f s)", (double)json_integer_value(ms) / 1e3);
	else
		buf_putf(out, " (%.1f MB, %.1f s)", (double)json_integer_value(bytes) / 1e6,
			 (double)json_integer_value(ms) / 1e3);
}

static void put_replaced(struct buf *out, const json_t *rows)
{
	if (json_array_size(rows) == 0) {
		buf_puts(out, "; no restart is needed.");
		return;
	}
	put_names(out, ", and replaces ", rows);
	buf_puts(out, "; code that has imported an old version goes on with it until it is "
		      "restarted.");
}

char *install_result_sentence(const json_t *result)
{
	const json_t *arrived = json_object_get(result, "arrived");
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (json_is_true(json_object_get(result, "dry"))) {
		put_names(&text, "Would install: ", arrived);
		buf_puts(&text,
			 text.len > 0 ? ". Nothing was installed." : "Nothing would be installed.");
	} else if (json_array_size(arrived) > 0) {
		put_names(&text, "Installed: ", arrived);
		put_effort(&text, result);
		buf_puts(&text, ". The next import finds them");
		put_replaced(&text, json_object_get(result, "replaced"));
	}
	put_removed(&text, result);
	put_left_out(&text, json_object_get(result, "left_out"));
	put_there(&text, result);
	put_notes(&text, json_object_get(result, "notes"));
	return buf_steal(&text);
}

char *install_result_removal(const json_t *result)
{
	const json_t *removed = json_object_get(result, "removed");
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (json_array_size(removed) == 0)
		return xstrdup(
			"It is not asked for any more. It stays, because other packages need it.");
	put_names(&text, "Uninstalled: ", removed);
	buf_puts(&text, ". What is imported goes on until the interpreter ends.");
	return buf_steal(&text);
}

static void put_line(struct buf *out, const json_t *row, const char *module)
{
	const char *name = json_text_at(row, "name");
	const char *version = json_text_at(row, "version");

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
