/* SPDX-License-Identifier: MIT */
/*
 * keepname.h - what kept copies of a session's results and their folder are called, and what is not
 * kept.
 */
#ifndef WORKSPACE_KEEPNAME_H
#define WORKSPACE_KEEPNAME_H

#include <stdbool.h>

/* DATE-ID-xxxx, another one each time; what is no letter, digit or ._- of the id is a "-". */
char *keepname_new(const char *session_id);
/* Is it a folder's name in which nobody looks for results (".git", "node_modules", caches)? */
bool keepname_is_skipped(const char *name);
/* "~/ptycell/x" for what lies in the person's own folder. */
char *keepname_show(const char *root, const char *folder);
/*
 * The name of a copy of `path`, which the caller frees: no escapes, nothing hidden, and altered
 * where runnames.h names it.
 */
char *keepname_tame(const char *path, bool *ret_altered);

/* What of a path names the result; a path that is none in output/ as it is. */
const char *keepname_result(const char *path);
/* "plot.png" and 2 give "plot-2.png"; a long stem is cut, so that the number fits. 1 is the name.
 */
char *keepname_numbered(const char *name, int number);

#endif
