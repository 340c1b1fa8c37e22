/* SPDX-License-Identifier: MIT */
#include "lookup.h"

#include <string.h>

#include "hash.h"

enum { HEADS_FIRST = 256 };

void lookup_drop(struct column_lookup *lookup)
{
	sqlite3_free(lookup->heads);
	sqlite3_free(lookup->nexts);
	*lookup = (struct column_lookup){ .heads = NULL };
}

/* A row's hash; `numbers`: as a number. */
static enum hash_number hash_row(const struct column *column, size_t row, bool numbers,
				 uint64_t *ret)
{
	size_t len;
	const char *s;

	if (column_is_null(column, row))
		return HASH_NONE;
	if (column->codes != NULL) {
		s = column_text(column, row, &len);
		if (numbers)
			return hash_number_text(s, len, ret);
		*ret = hash_text(s, len);
	} else {
		*ret = column->integers != NULL ? hash_integer(column->integers[row])
						: hash_real(column->reals[row]);
	}
	return HASH_NUMBER;
}

static int make(const struct column *column, bool numbers, struct column_lookup *lookup,
		struct err *err)
{
	size_t heads = HEADS_FIRST;
	size_t room = column->rows > 0 ? column->rows : 1;

	while (heads < column->rows)
		heads *= 2;
	lookup->heads = sqlite3_malloc64(heads * sizeof(*lookup->heads));
	lookup->nexts = sqlite3_malloc64(room * sizeof(*lookup->nexts));
	if (lookup->heads == NULL || lookup->nexts == NULL) {
		lookup_drop(lookup);
		return column_fail_memory(err);
	}
	memset(lookup->heads, 0, heads * sizeof(*lookup->heads));
	lookup->head_count = heads;
	/* The last row first: what is found comes in the file's order. */
	for (size_t row = column->rows; row-- > 0;) {
		uint64_t hash = 0;
		enum hash_number kind = hash_row(column, row, numbers, &hash);
		uint32_t *head = kind == HASH_NUMBER ? &lookup->heads[hash & (heads - 1)]
						     : &lookup->doubtful;

		if (kind == HASH_NONE)
			continue;
		lookup->nexts[row] = *head;
		*head = (uint32_t)row + 1;
	}
	return 0;
}

static void take(const struct column_lookup *lookup, uint64_t hash, struct lookup_rows *ret)
{
	*ret = (struct lookup_rows){ .first = lookup->heads[hash & (lookup->head_count - 1)],
				     .doubtful = lookup->doubtful,
				     .nexts = lookup->nexts };
}

/* False: any row may equal it. */
static bool hash_value(const struct column *column, sqlite3_value *value, int type, uint64_t *ret)
{
	if (type == SQLITE_TEXT) {
		const char *s = (const char *)sqlite3_value_text(value);

		*ret = s != NULL ? hash_text(s, (size_t)sqlite3_value_bytes(value)) : 0;
		return s != NULL;
	}
	if (column->codes != NULL)
		return hash_number_value(value, ret);
	*ret = type == SQLITE_INTEGER ? hash_integer(sqlite3_value_int64(value))
				      : hash_real(sqlite3_value_double(value));
	return true;
}

int lookup_find(struct column *column, sqlite3_value *value, struct lookup_rows *ret,
		struct err *err)
{
	bool texts = column->codes != NULL;
	int type = texts ? sqlite3_value_type(value) : sqlite3_value_numeric_type(value);
	bool numbers = texts && type != SQLITE_TEXT;
	struct column_lookup *lookup = numbers ? &column->numbers : &column->values;
	uint64_t hash;

	*ret = (struct lookup_rows){ .all = false };
	/* A text that is no number equals none. */
	if (type == SQLITE_NULL || type == SQLITE_BLOB || (!texts && type == SQLITE_TEXT))
		return 0;
	ret->all = true;
	if (!hash_value(column, value, type, &hash))
		return 0;
	if (lookup->heads == NULL && make(column, numbers, lookup, err) < 0)
		return -1;
	take(lookup, hash, ret);
	return 0;
}
