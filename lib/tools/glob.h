/* SPDX-License-Identifier: MIT */
/* glob.h - file patterns that cannot be made slow. */
#ifndef TOOLS_GLOB_H
#define TOOLS_GLOB_H

#include <stdbool.h>

/*
 * True when `path` (relative, '/' between folders) matches. `?` and `*` stop at '/', `**` does not,
 * `[abc] [a-z] [!a]` are sets. A pattern without '/' is held against the last part only. At most
 * length(pattern) * length(path) steps.
 */
bool glob_match(const char *pattern, const char *path);

#endif
