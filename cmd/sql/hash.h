/* SPDX-License-Identifier: MIT */
/* hash.h - hashes of a column's values: values that SQLite treats as equal have the same hash. */
#ifndef SQL_HASH_H
#define SQL_HASH_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t hash_integer(int64_t value);
/* Returns a double's hash. An integer value of 64 bits has that integer's hash. */
uint64_t hash_real(double value);
uint64_t hash_text(const char *s, size_t len);
/* Texts that differ only in the case of ASCII letters have the same hash. */
uint64_t hash_caseless(const char *s, size_t len);
/* Combines two hashes, in this order. */
uint64_t hash_both(uint64_t a, uint64_t b);

enum hash_number {
	HASH_NONE,     /* it equals no number that hash_number_value takes */
	HASH_NUMBER,   /* it equals only numbers with its hash */
	HASH_DOUBTFUL, /* it has more digits than a double, and may equal any number */
};

/* Sets *ret to the hash of a text as a number. */
enum hash_number hash_number_text(const char *s, size_t len, uint64_t *ret);
/*
 * Sets *ret to the hash by which texts that equal the number are found, whether compared as numbers
 * or as SQLite's text of it. Returns false when any text may equal it.
 */
bool hash_number_value(sqlite3_value *value, uint64_t *ret);

#endif
