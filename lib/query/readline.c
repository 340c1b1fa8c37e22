/* SPDX-License-Identifier: MIT */
/*
 * readline.c - writes a call of pandas.read_csv for a file of ptycell-sql.
 *
 * Each column that pandas would guess wrong gets a dtype or a list of missing values. Beyond
 * COLUMNS_NAMED_MAX such columns every column is read as text, so that the line stays short. "long"
 * marks values that fit neither a double nor Int64 beside NULL.
 */
#include "query/readline.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/util.h"
#include "json/make.h"
#include "json/write.h"

enum { COLUMNS_NAMED_MAX = 40 };

static bool has_flag(const json_t *column, const char *key)
{
	return json_is_true(json_object_get(column, key));
}

static bool is_type(const json_t *column, const char *type)
{
	const char *own = json_string_value(json_object_get(column, "type"));

	return str_eq(own != NULL ? own : "text", type);
}

static bool is_text(const json_t *column)
{
	static const char *const numbers[] = { "integer", "bigint", "real", "decimal", "boolean" };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (is_type(column, numbers[i]))
			return false;
	return true;
}

/* Returns the dtype that pandas needs, or NULL where it finds the right one itself. */
static const char *dtype_of(const json_t *column)
{
	if (is_text(column) || (is_type(column, "decimal") && has_flag(column, "long")))
		return "str";
	if (!has_flag(column, "nulls"))
		return NULL;
	if (is_type(column, "boolean"))
		return "'boolean'";
	if (!is_type(column, "integer") && !is_type(column, "bigint"))
		return NULL;
	/* Beside an empty field pandas reads Int64 as doubles first, which lose digits. */
	return has_flag(column, "long") ? "str" : "'Int64'";
}

/* Returns the texts that mean NULL in the column, or "" if none does. */
static const char *missing_of(const json_t *column)
{
	if (is_text(column))
		return has_flag(column, "nulls") || !has_flag(column, "empties") ? "['']" : "";
	return has_flag(column, "nan") ? "['', 'NaN']" : "['']";
}

/* Puts the name that pandas uses: the second "id" is "id.1", "" in column 2 is "Unnamed: 2". */
static void put_name(struct buf *out, const json_t *columns, size_t index)
{
	const json_t *name = json_object_get(json_array_get(columns, index), "name");
	cleanup_free char *plain = NULL;
	cleanup_json json_t *unique = NULL;
	size_t before = 0;

	for (size_t i = 0; i < index; i++)
		before += json_equal(json_object_get(json_array_get(columns, i), "name"), name);
	if (str_eq(json_string_value(name), ""))
		unique = json_make_fmt("Unnamed: %zu", index);
	else
		unique = before == 0 ? json_deep_copy(name)
				     : json_make_fmt("%s.%zu", json_string_value(name), before);
	plain = json_write_text(unique);
	buf_puts(out, plain);
}

/* Puts {"NAME": WHAT, ...} for the columns for which `what_of` returns a text. */
static void put_dict(struct buf *out, const json_t *columns,
		     const char *(*what_of)(const json_t *column))
{
	const char *separator = "{";
	size_t index;
	const json_t *column;

	json_array_foreach (columns, index, column) {
		const char *what = what_of(column);

		if (what == NULL || *what == '\0')
			continue;
		buf_puts(out, separator);
		put_name(out, columns, index);
		buf_putf(out, ": %s", what);
		separator = ", ";
	}
	buf_puts(out, str_eq(separator, "{") ? "{}" : "}");
}

static size_t count_typed(const json_t *columns)
{
	size_t count = 0;
	size_t index;
	const json_t *column;

	json_array_foreach (columns, index, column)
		count += dtype_of(column) != NULL;
	return count;
}

/* By default pandas parses many doubles inexactly. */
static bool has_doubles(const json_t *columns)
{
	size_t index;
	const json_t *column;

	json_array_foreach (columns, index, column)
		if (!is_text(column) && dtype_of(column) == NULL &&
		    (is_type(column, "real") || is_type(column, "decimal")))
			return true;
	return false;
}

static bool is_usual(const json_t *columns)
{
	size_t index;
	const json_t *column;

	json_array_foreach (columns, index, column)
		if (!str_eq(missing_of(column), "['']"))
			return false;
	return true;
}

static void put_both_note(struct buf *out, const json_t *columns)
{
	size_t index;
	const json_t *column;

	json_array_foreach (columns, index, column) {
		if (!is_text(column) || !has_flag(column, "nulls") || !has_flag(column, "empties"))
			continue;
		buf_puts(out, "\n(");
		put_name(out, columns, index);
		buf_puts(out,
			 " has both '' and NULL: \"\" and nothing in the file, NaN to pandas)");
	}
}

void readline_put(struct buf *out, const json_t *columns, const char *file)
{
	size_t typed = count_typed(columns);

	buf_putf(out, "import pandas as pd; df = pd.read_csv('%s'", file);
	if (typed > COLUMNS_NAMED_MAX) {
		buf_puts(out, ", dtype=str");
	} else if (typed > 0) {
		buf_puts(out, ", dtype=");
		put_dict(out, columns, dtype_of);
	}
	buf_puts(out, ", keep_default_na=False, na_values=");
	if (is_usual(columns) || typed > COLUMNS_NAMED_MAX)
		buf_puts(out, "['']");
	else
		put_dict(out, columns, missing_of);
	if (typed <= COLUMNS_NAMED_MAX && has_doubles(columns))
		buf_puts(out, ", float_precision='round_trip'");
	buf_puts(out, ")");
	put_both_note(out, columns);
}
