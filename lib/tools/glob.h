/* SPDX-License-Identifier: MIT */
/* glob.h - file patterns that cannot be made slow. */
#ifndef TOOLS_GLOB_H
#define TOOLS_GLOB_H

#include <stdbool.h>

/* What callers should let in: a listing holds a pattern against thousands of paths. */
enum { GLOB_PATTERN_MAX = 1000 };

/*
 * True when `path` (relative, '/' between folders) matches. `?` and `*` stop at '/', `**` does not;
 * a "**" and '/' at the beginning of a part stand for any number of whole folders, also none.
 * `[abc] [a-z] [!a]` are sets. A pattern without '/' is held against the last part only. Characters
 * are those of UTF-8. Takes time as length(pattern) * length(path), not more.
 */
bool glob_match(const char *pattern, const char *path);

#endif
