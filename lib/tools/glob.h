/* SPDX-License-Identifier: MIT */
/* glob.h - file patterns that cannot be made slow. */
#ifndef TOOLS_GLOB_H
#define TOOLS_GLOB_H

#include <stdbool.h>
#include <stdint.h>

/* What callers should let in: a listing holds a pattern against thousands of paths. */
enum { GLOB_PATTERN_MAX = 1000 };

struct glob;

/* What a path is held against, read once. */
struct glob *glob_new(const char *pattern);
/* NULL is allowed. */
void glob_free(struct glob *glob);
/*
 * True when `path` (relative, '/' between folders) matches. `?` and `*` stop at '/', `**` does not;
 * a "**" and '/' at the beginning of a part stand for any number of whole folders, also none.
 * `[abc] [a-z] [!a]` are sets. A pattern without '/' is held against the last part only. Characters
 * are those of UTF-8. A character of ASCII takes one step for every 64 that the pattern has; others
 * take one more for each set and each character beyond ASCII in it.
 */
bool glob_match(struct glob *glob, const char *path);
/* Those that were taken since it was made. */
uint64_t glob_steps(const struct glob *glob);

#endif
