/* SPDX-License-Identifier: MIT */
/*
 * names.h - which files of a session are tables, and which of them a name means.
 *
 * Names that mean input/sales 2026.csv: its path, sales 2026.csv, sales 2026, sales_2026; in this
 * order where several files are meant, and as they are written before any other case. Composed and
 * decomposed characters are the same.
 */
#ifndef SQL_NAMES_H
#define SQL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { NAMES_FILES_MAX = 2000, NAMES_DEPTH_MAX = 8 };

struct names;

/* `dir_fd` is the session's folder, borrowed. */
struct names *names_new(int dir_fd);
/* Looks at the folder anew; paths that were given out before are gone. */
void names_look(struct names *names);
size_t names_count(const struct names *names);
/* By number, in the order of paths. */
const char *names_path(const struct names *names, size_t index);
/* The path of the file that `name` means; NULL when there is none, or when several are meant. */
const char *names_find(const struct names *names, const char *name);
/* The shortest name that means this file; the caller frees it. */
char *names_shortest(const struct names *names, const char *path);
/* Adds the files that `name` means, all for NULL; how many. */
size_t names_put(const struct names *names, const char *name, struct buf *out);
/* A file of that name that is no table, with the line that makes it one; false for none. */
bool names_put_other(const struct names *names, const char *name, struct buf *out);

/* STEM.ENDING, or STEM_2.ENDING, ...: the first of which there is no file below `dir_fd`; the
 * caller frees it. */
char *names_unused(int dir_fd, const char *stem, const char *ending);
/* The path in quotes, as it stands in a line of Python or else of a shell. */
void names_put_quoted(struct buf *out, const char *path, bool python);

#endif
