/* SPDX-License-Identifier: MIT */
/* name.h - random file names. */
#ifndef WORKSPACE_NAME_H
#define WORKSPACE_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum { NAME_RANDOM_LEN = 16 };

/* `len` characters of a-z and 2-7 (five random bits each) and NUL; `out` has room for len + 1. */
void name_random(char *out, size_t len);
/* prefix + NAME_RANDOM_LEN random characters, freed by the caller. */
char *name_new(const char *prefix);
/* True when `text` could have come from name_new(prefix). */
bool name_matches(const char *text, const char *prefix);

#endif
