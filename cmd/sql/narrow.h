/* SPDX-License-Identifier: MIT */
/* narrow.h - recognizes encodings with one byte for each character. */
#ifndef SQL_NARROW_H
#define SQL_NARROW_H

#include <stddef.h>

/*
 * Returns how odd the sample reads in this encoding: less is likelier. Returns SIZE_MAX for an
 * encoding that iconv does not know.
 */
size_t narrow_oddness(const char *name, const char *sample, size_t len);
/*
 * Returns the likeliest encoding, by iconv's name: a static string, or `found`, which the detector
 * named and which wins among equals. `found` may be NULL. Sets *ret_odd to its narrow_oddness().
 */
const char *narrow_guess(const char *sample, size_t len, const char *found, size_t *ret_odd);

#endif
