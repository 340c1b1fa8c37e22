/* SPDX-License-Identifier: MIT */
#include "lookup.h"

#include <assert.h>
#include <string.h>

#include "hash.h"

enum { HEADS_FIRST = 256 };

void lookup_drop(struct column_lookup *lookup)
{
	sqlite3_free(lookup->heads);
	sqlite3_free(lookup->nexts);
	*lookup = (struct column_lookup){ .heads = NULL };
}

/* How `lookup` has the texts. */
static uint64_t hash_as(const struct column *column, const struct column_lookup *lookup,
			const char *s, size_t len)
{
	return lookup == &column->caseless ? hash_caseless(s, len) : hash_text(s, len);
}

/* A row's hash; it is not NULL. */
static enum hash_number hash_row(const struct column *column, size_t row,
				 const struct column_lookup *lookup, uint64_t *ret)
{
	size_t len;
	const char *s;

	if (column->codes != NULL) {
		s = column_text(column, row, &len);
		if (lookup == &column->numbers)
			return hash_number_text(s, len, ret);
		*ret = hash_as(column, lookup, s, len);
	} else {
		*ret = column->integers != NULL ? hash_integer(column->integers[row])
						: hash_real(column->reals[row]);
	}
	return HASH_NUMBER;
}

/* The head of the row's chain; NULL when it is in none. */
static uint32_t *head_of(const struct column *column, size_t row, struct column_lookup *lookup)
{
	uint64_t hash = 0;

	if (column_is_null(column, row))
		return &lookup->nulls;
	switch (hash_row(column, row, lookup, &hash)) {
	case HASH_NUMBER:
		return &lookup->heads[hash & (lookup->head_count - 1)];
	case HASH_DOUBTFUL:
		return &lookup->doubtful;
	default:
		return NULL;
	}
}

static int make(const struct column *column, struct column_lookup *lookup, struct err *err)
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
		uint32_t *head = head_of(column, row, lookup);

		if (head == NULL)
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
static bool hash_value(const struct column *column, const struct column_lookup *lookup,
		       sqlite3_value *value, int type, uint64_t *ret)
{
	if (type == SQLITE_TEXT) {
		const char *s = (const char *)sqlite3_value_text(value);

		*ret = s != NULL ? hash_as(column, lookup, s, (size_t)sqlite3_value_bytes(value))
				 : 0;
		return s != NULL;
	}
	if (column->codes != NULL)
		return hash_number_value(value, ret);
	*ret = type == SQLITE_INTEGER ? hash_integer(sqlite3_value_int64(value))
				      : hash_real(sqlite3_value_double(value));
	return true;
}

/* The one to find a value of the type in. */
static struct column_lookup *choose(struct column *column, int type, unsigned flags)
{
	if (column->codes == NULL || type == SQLITE_NULL)
		return &column->values;
	if (type != SQLITE_TEXT)
		return &column->numbers;
	return flags & LOOKUP_CASELESS ? &column->caseless : &column->values;
}

int lookup_find(struct column *column, sqlite3_value *value, unsigned flags,
		struct lookup_rows *ret, struct err *err)
{
	bool texts = column->codes != NULL;
	int type = texts ? sqlite3_value_type(value) : sqlite3_value_numeric_type(value);
	struct column_lookup *lookup = choose(column, type, flags);
	uint64_t hash = 0;

	*ret = (struct lookup_rows){ .all = false };
	/* A text that is no number equals none. */
	if (type == SQLITE_BLOB || (!texts && type == SQLITE_TEXT) ||
	    (type == SQLITE_NULL && !(flags & LOOKUP_NULLS)))
		return 0;
	ret->all = true;
	if (type != SQLITE_NULL && !hash_value(column, lookup, value, type, &hash))
		return 0;
	if (lookup->heads == NULL && make(column, lookup, err) < 0)
		return -1;
	assert(lookup->heads != NULL);
	if (type == SQLITE_NULL)
		*ret = (struct lookup_rows){ .first = lookup->nulls, .nexts = lookup->nexts };
	else
		take(lookup, hash, ret);
	return 0;
}
