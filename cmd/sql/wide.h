/* SPDX-License-Identifier: MIT */
/* wide.h - encodings with two bytes for a character: which of them a text is written in. */
#ifndef SQL_WIDE_H
#define SQL_WIDE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The likeliest encoding, by iconv's name; NULL: most likely none of them. `found` is the one that
 * the detector named, or NULL.
 */
const char *wide_guess(const char *sample, size_t len, const char *found);
/* Whether the name is one of these encodings. */
bool wide_is(const char *name);
/* How many bytes of the sample do not decode; a character that the sample's end cuts is no error.
 */
size_t wide_errors(const char *name, const char *sample, size_t len);

#endif
