/* SPDX-License-Identifier: MIT */
/* identifier.h - the characters of names, in any script. */
#ifndef TEXT_IDENTIFIER_H
#define TEXT_IDENTIFIER_H

#include <stddef.h>

/*
 * Returns how many bytes at the start of `s` are ASCII or continue a name (letters, their marks and
 * digits: Unicode's XID_Continue). The span ends before a blank, sign, invisible or ill-formed
 * character beyond ASCII.
 */
size_t identifier_span(const char *s, size_t len);

#endif
