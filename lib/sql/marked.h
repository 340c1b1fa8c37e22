/* SPDX-License-Identifier: MIT */
/*
 * marked.h - texts that are numbers for a reader but not for a database.
 *
 * They have separators between groups of digits, signs of currencies, percent signs, or units: $5,
 * 12%, 1,000.50, 12,50 EUR, 10 kg, 1.2M.
 */
#ifndef SQL_MARKED_H
#define SQL_MARKED_H

#include <stddef.h>

enum marked_kind {
	MARKED_NONE,
	MARKED_COMMA, /* its decimal point is a comma */
	MARKED_OTHER,
};

/* Returns the kind of a text without blanks around it. */
enum marked_kind marked_kind(const char *s, size_t len);
/*
 * Returns the last word behind the number of such a text: its unit, currency or factor. *ret_len is
 * 0 if there is none. Points into `s`.
 */
const char *marked_unit(const char *s, size_t len, size_t *ret_len);

#endif
