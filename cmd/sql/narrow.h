/* SPDX-License-Identifier: MIT */
/* narrow.h - encodings with a byte for a character: which of them a text is written in. */
#ifndef SQL_NARROW_H
#define SQL_NARROW_H

#include <stddef.h>

/* How much of the sample nobody would write so. */
size_t narrow_oddness(const char *name, const char *sample, size_t len);
/* As iconv knows it. `found` is what else speaks for one, or NULL; *ret_odd is its oddness. */
const char *narrow_guess(const char *sample, size_t len, const char *found, size_t *ret_odd);

#endif
