/* SPDX-License-Identifier: MIT */
/* wide.h - encodings with two bytes for a character: which of them a text is written in. */
#ifndef SQL_WIDE_H
#define SQL_WIDE_H

#include <stdbool.h>
#include <stddef.h>

/* As iconv knows it; NULL: in none, most likely. `found` is what else speaks for one, or NULL. */
const char *wide_guess(const char *sample, size_t len, const char *found);
/* Whether it is one of them. */
bool wide_is(const char *name);
/* How many bytes of the sample are not written so, those of a character that is cut off aside. */
size_t wide_errors(const char *name, const char *sample, size_t len);

#endif
