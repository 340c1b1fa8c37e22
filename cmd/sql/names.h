/* SPDX-License-Identifier: MIT */
/*
 * names.h - decides which files of a session are tables, and which of them a name means.
 *
 * These names mean input/sales 2026.csv: its path, sales 2026.csv, sales 2026, sales_2026. Earlier
 * forms win when several files match, and exact case wins over any other. Composed and decomposed
 * characters are equal.
 */
#ifndef SQL_NAMES_H
#define SQL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { NAMES_FILES_MAX = 2000, NAMES_DEPTH_MAX = 8 };

struct names;

/* Returns the names of the session's folder `dir_fd`, which is borrowed. */
struct names *names_new(int dir_fd);
/* Reads the folder again. Paths from before are no longer valid. */
void names_look(struct names *names);
size_t names_count(const struct names *names);
/* Returns a path by its number, in the order of paths. Borrowed until names_look. */
const char *names_path(const struct names *names, size_t index);
/*
 * Returns the path of the file that `name` means, borrowed until names_look. Returns NULL when it
 * means none, or several.
 */
const char *names_find(const struct names *names, const char *name);
/* Returns the shortest name that means this file. The caller frees it. */
char *names_shortest(const struct names *names, const char *path);
/* Appends the files that `name` means, or all of them for NULL. Returns their count. */
size_t names_put(const struct names *names, const char *name, struct buf *out);
/*
 * Appends a file of that name that is not a table, with the code that makes it one. Returns false
 * when there is none.
 */
bool names_put_other(const struct names *names, const char *name, struct buf *out);

/*
 * Returns STEM.ENDING, STEM_2.ENDING and so on, the first that does not exist below `dir_fd`. The
 * caller frees it.
 */
char *names_unused(int dir_fd, const char *stem, const char *ending);
/* Appends the path in quotes, as a line of Python or of a shell has it. */
void names_put_quoted(struct buf *out, const char *path, bool python);
/* Appends the text with \uXXXX for each character beyond ASCII: names that look alike differ. */
void names_put_escaped(struct buf *out, const char *text);

#endif
