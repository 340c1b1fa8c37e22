/* SPDX-License-Identifier: MIT */
/*
 * lookup.c - hash indexes over the columns that a query compares.
 *
 * An index has the rows by one combined hash of all compared columns. A text column has several
 * hashes; which one counts depends on the value that is sought. An index is made when it is first
 * needed, and kept by the sheet. Rows of a chain are candidates: SQLite compares them again.
 */
#include "lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "hash.h"

enum { HEADS_FIRST = 256 };

#define NULL_HASH UINT64_C(0x6a09e667f3bcc909)

/* The kind of hash of a column. */
enum kind {
	KIND_VALUES,
	KIND_NUMBERS,  /* of texts that SQLite reads as numbers */
	KIND_CASELESS, /* of texts, as COLLATE NOCASE compares them */
};

struct key {
	unsigned count;
	struct {
		uint16_t column;
		uint8_t kind;
		bool nulls; /* rows with NULL are in chains, too */
	} parts[LOOKUP_COLUMNS_MAX];
};

struct lookup {
	struct lookup *next;
	struct key key;
	uint32_t *heads; /* the first row of each hash, plus one; 0 for none */
	uint32_t *nexts; /* the next row of the same hash */
	size_t head_count;
	uint32_t doubtful; /* the first of the rows that may equal anything, plus one */
};

static void release_lookup(struct lookup *lookup)
{
	sqlite3_free(lookup->heads);
	sqlite3_free(lookup->nexts);
	free(lookup);
}

void lookup_free(struct lookup *lookup)
{
	while (lookup != NULL) {
		struct lookup *next = lookup->next;

		release_lookup(lookup);
		lookup = next;
	}
}

/* ---- rows ---- */

/* Sets *ret to the hash of a row's value, which is not NULL. */
static enum hash_number hash_row(const struct column *column, size_t row, unsigned kind,
				 uint64_t *ret)
{
	size_t len;
	const char *s;

	if (column->codes != NULL) {
		s = column_text(column, row, &len);
		if (kind == KIND_NUMBERS)
			return hash_number_text(s, len, ret);
		*ret = kind == KIND_CASELESS ? hash_caseless(s, len) : hash_text(s, len);
	} else {
		*ret = column->integers != NULL ? hash_integer(column->integers[row])
						: hash_real(column->reals[row]);
	}
	return HASH_NUMBER;
}

/* Returns the head of the row's chain; NULL when it is in none. */
static uint32_t *head_of(const struct sheet *sheet, size_t row, struct lookup *lookup)
{
	uint64_t whole = 0;
	bool doubtful = false;

	for (unsigned i = 0; i < lookup->key.count; i++) {
		const struct column *column = &sheet->columns[lookup->key.parts[i].column];
		uint64_t hash = NULL_HASH;
		enum hash_number is = lookup->key.parts[i].nulls ? HASH_NUMBER : HASH_NONE;

		if (!column_is_null(column, row))
			is = hash_row(column, row, lookup->key.parts[i].kind, &hash);
		switch (is) {
		case HASH_NUMBER:
			whole = i == 0 ? hash : hash_both(whole, hash);
			break;
		case HASH_DOUBTFUL:
			doubtful = true;
			break;
		default:
			return NULL;
		}
	}
	return doubtful ? &lookup->doubtful : &lookup->heads[whole & (lookup->head_count - 1)];
}

static struct lookup *make_lookup(const struct sheet *sheet, const struct key *key, struct err *err)
{
	struct lookup *lookup = xcalloc(1, sizeof(*lookup));
	size_t heads = HEADS_FIRST;

	while (heads < sheet->rows)
		heads *= 2;
	lookup->key = *key;
	lookup->head_count = heads;
	lookup->heads = sqlite3_malloc64(heads * sizeof(*lookup->heads));
	lookup->nexts = sqlite3_malloc64((sheet->rows + 1) * sizeof(*lookup->nexts));
	if (lookup->heads == NULL || lookup->nexts == NULL) {
		release_lookup(lookup);
		(void)column_fail_memory(err);
		return NULL;
	}
	memset(lookup->heads, 0, heads * sizeof(*lookup->heads));
	/* From the last row on, so that rows are found in the file's order. */
	for (size_t row = sheet->rows; row-- > 0;) {
		uint32_t *head = head_of(sheet, row, lookup);

		if (head == NULL)
			continue;
		lookup->nexts[row] = *head;
		*head = (uint32_t)row + 1;
	}
	return lookup;
}

static const struct lookup *get_lookup(struct sheet *sheet, const struct key *key, struct err *err)
{
	struct lookup *lookup = sheet->lookups;

	for (; lookup != NULL; lookup = lookup->next)
		if (memcmp(&lookup->key, key, sizeof(*key)) == 0)
			return lookup;
	lookup = make_lookup(sheet, key, err);
	if (lookup == NULL)
		return NULL;
	lookup->next = sheet->lookups;
	sheet->lookups = lookup;
	return lookup;
}

/* ---- values ---- */

enum found {
	FOUND_NONE, /* no row equals it */
	FOUND_SOME,
	FOUND_ANY, /* any row may */
};

static enum found hash_value(const struct column *column, const struct lookup_want *want,
			     unsigned *ret_kind, uint64_t *ret)
{
	bool texts = column->codes != NULL;
	int type =
		texts ? sqlite3_value_type(want->value) : sqlite3_value_numeric_type(want->value);
	const char *s;
	size_t len;

	*ret_kind = want->flags & LOOKUP_CASELESS ? KIND_CASELESS : KIND_VALUES;
	*ret = NULL_HASH;
	if (type == SQLITE_NULL)
		return want->flags & LOOKUP_NULLS ? FOUND_SOME : FOUND_NONE;
	/* A text that is not a number equals no number. */
	if (type == SQLITE_BLOB || (!texts && type == SQLITE_TEXT))
		return FOUND_NONE;
	if (!texts) {
		*ret = type == SQLITE_INTEGER ? hash_integer(sqlite3_value_int64(want->value))
					      : hash_real(sqlite3_value_double(want->value));
		return FOUND_SOME;
	}
	if (type != SQLITE_TEXT) {
		*ret_kind = KIND_NUMBERS;
		return hash_number_value(want->value, ret) ? FOUND_SOME : FOUND_ANY;
	}
	s = (const char *)sqlite3_value_text(want->value);
	if (s == NULL)
		return FOUND_ANY;
	len = (size_t)sqlite3_value_bytes(want->value);
	*ret = *ret_kind == KIND_CASELESS ? hash_caseless(s, len) : hash_text(s, len);
	return FOUND_SOME;
}

int lookup_find(struct sheet *sheet, const struct lookup_want *wants, size_t count,
		struct lookup_rows *ret, struct err *err)
{
	const struct lookup *lookup;
	struct key key = { .count = 0 };
	uint64_t whole = 0;

	*ret = (struct lookup_rows){ .all = false };
	for (size_t i = 0; i < count && i < LOOKUP_COLUMNS_MAX; i++) {
		unsigned kind;
		uint64_t hash;

		switch (hash_value(&sheet->columns[wants[i].column], &wants[i], &kind, &hash)) {
		case FOUND_NONE:
			return 0;
		case FOUND_SOME:
			whole = key.count == 0 ? hash : hash_both(whole, hash);
			key.parts[key.count].column = (uint16_t)wants[i].column;
			key.parts[key.count].nulls = (wants[i].flags & LOOKUP_NULLS) != 0;
			key.parts[key.count++].kind = (uint8_t)kind;
			break;
		default:
			break;
		}
	}
	ret->all = true;
	lookup = key.count > 0 ? get_lookup(sheet, &key, err) : NULL;
	if (lookup == NULL)
		return key.count > 0 ? -1 : 0;
	*ret = (struct lookup_rows){ .first = lookup->heads[whole & (lookup->head_count - 1)],
				     .doubtful = lookup->doubtful,
				     .nexts = lookup->nexts };
	return 0;
}
