/* SPDX-License-Identifier: MIT */
/* hash.h - hashes of a column's values: what SQLite takes for equal has one hash. */
#ifndef SQL_HASH_H
#define SQL_HASH_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t hash_integer(int64_t value);
/* Of a double that is an integer of 64 bits, the integer's. */
uint64_t hash_real(double value);
uint64_t hash_text(const char *s, size_t len);
/* Texts that differ only in the case of ASCII letters have one hash. */
uint64_t hash_caseless(const char *s, size_t len);
/* Of two hashes, in this order. */
uint64_t hash_both(uint64_t a, uint64_t b);

enum hash_number {
	HASH_NONE,     /* it equals no number that hash_number_value takes */
	HASH_NUMBER,   /* it equals only numbers with its hash */
	HASH_DOUBTFUL, /* it has more digits than doubles, and may equal any number */
};

/* Of a text, as a number. */
enum hash_number hash_number_text(const char *s, size_t len, uint64_t *ret);
/*
 * Of a number, to find texts that equal it: as a number, or as the text that SQLite makes of it.
 * False: any text may.
 */
bool hash_number_value(sqlite3_value *value, uint64_t *ret);

#endif
