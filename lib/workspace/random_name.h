/* SPDX-License-Identifier: MIT */
/* random_name.h - makes and recognises random file names. */
#ifndef WORKSPACE_RANDOM_NAME_H
#define WORKSPACE_RANDOM_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum { RANDOM_NAME_RANDOM_LEN = 16 };

/*
 * Writes `len` characters of a-z and 2-7 (five random bits each) and NUL; `out` must have room for
 * len + 1.
 */
void random_name_fill(char *out, size_t len);
/* Returns `prefix` and RANDOM_NAME_RANDOM_LEN random characters. The caller frees it. */
char *random_name_new(const char *prefix);
/* Returns true if `text` has the form of random_name_new(prefix). */
bool random_name_matches(const char *text, const char *prefix);

#endif
