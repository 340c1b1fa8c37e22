/* SPDX-License-Identifier: MIT */
/* wide.h - recognizes encodings with two bytes for each character. */
#ifndef SQL_WIDE_H
#define SQL_WIDE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the likeliest encoding, by iconv's name, or NULL when most likely none fits. `found` is
 * the one that the detector named, or NULL.
 */
const char *wide_guess(const char *sample, size_t len, const char *found);
/* Returns true when the name is one of these encodings. */
bool wide_is(const char *name);
/*
 * Returns how many bytes of the sample do not decode. A character that the sample's end cuts is no
 * error.
 */
size_t wide_errors(const char *name, const char *sample, size_t len);

#endif
