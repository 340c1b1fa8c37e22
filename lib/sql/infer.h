/* SPDX-License-Identifier: MIT */
/* infer.h - what kind of value a text is, when nothing is to be lost by it. */
#ifndef SQL_INFER_H
#define SQL_INFER_H

#include <stddef.h>

/* The narrowest first: of two kinds in one column the later one holds both. */
enum infer_kind { INFER_NONE, INFER_INTEGER, INFER_REAL, INFER_TEXT };

/*
 * An integer of at most 18 digits without leading zeros; a decimal number of at most 15 significant
 * digits; anything else is text.
 */
enum infer_kind infer_text(const char *s, size_t len);

#endif
