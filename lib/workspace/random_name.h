/* SPDX-License-Identifier: MIT */
/* name.h - random file names. */
#ifndef WORKSPACE_RANDOM_NAME_H
#define WORKSPACE_RANDOM_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum { RANDOM_NAME_RANDOM_LEN = 16 };

/* `len` characters of a-z and 2-7 (five random bits each) and NUL; `out` has room for len + 1. */
void random_name_fill(char *out, size_t len);
/* prefix + RANDOM_NAME_RANDOM_LEN random characters, freed by the caller. */
char *random_name_new(const char *prefix);
/* True when `text` could have come from random_name_new(prefix). */
bool random_name_matches(const char *text, const char *prefix);

#endif
