/* SPDX-License-Identifier: MIT */
/* glob.h - matches file patterns, in a time that no pattern and no path can make long. */
#ifndef TOOLS_GLOB_H
#define TOOLS_GLOB_H

#include <stdbool.h>
#include <stdint.h>

/* Callers must refuse longer ones: a listing matches a pattern with thousands of paths. */
enum { GLOB_PATTERN_MAX = 1000 };

struct glob;

/* Compiles a pattern. Never returns NULL: every text is a pattern. */
struct glob *glob_new(const char *pattern);
/* Frees it. `glob` may be NULL. */
void glob_free(struct glob *glob);
/*
 * Returns whether `path` (relative, '/' between folders) matches. `?` and `*` stop at '/', `**`
 * does not; a "**" and '/' at the beginning of a part stand for any number of whole folders, also
 * none. `[abc] [a-z] [!a]` are sets. A pattern without '/' is matched with the last part only.
 * Characters are those of UTF-8. An ASCII character takes one step for every 64 characters of the
 * pattern. Another character takes one more for each set and each non-ASCII character in the
 * pattern.
 */
bool glob_match(struct glob *glob, const char *path);
/* Returns the number of steps since the glob was made. */
uint64_t glob_steps(const struct glob *glob);

#endif
