/* SPDX-License-Identifier: MIT */
/* narrow.h - encodings with a byte for a character: which of them a text is written in. */
#ifndef SQL_NARROW_H
#define SQL_NARROW_H

#include <stddef.h>

/*
 * How odd the sample reads in this encoding: the less, the likelier it is. SIZE_MAX for an encoding
 * that iconv does not know.
 */
size_t narrow_oddness(const char *name, const char *sample, size_t len);
/*
 * The likeliest encoding, by iconv's name: static, or `found`, which the detector named (NULL:
 * none) and which wins among equals. *ret_odd is its narrow_oddness().
 */
const char *narrow_guess(const char *sample, size_t len, const char *found, size_t *ret_odd);

#endif
