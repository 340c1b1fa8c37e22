/* SPDX-License-Identifier: MIT */
/* letters.h - what names are made of, in any script. */
#ifndef TEXT_IDENTIFIER_H
#define TEXT_IDENTIFIER_H

#include <stddef.h>

/*
 * How many bytes from the start of `s` are ASCII or go on a name (letters, their marks and digits:
 * Unicode's XID_Continue). It ends before a blank, a sign, an invisible or an ill-formed character.
 */
size_t identifier_span(const char *s, size_t len);

#endif
