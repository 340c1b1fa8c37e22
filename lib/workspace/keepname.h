/* SPDX-License-Identifier: MIT */
/* keepname.h - what the folder is called that a session's results are kept in, and what is not
 * kept. */
#ifndef WORKSPACE_KEEPNAME_H
#define WORKSPACE_KEEPNAME_H

#include <stdbool.h>

/* DATE-ID-xxxx, another one each time; what is no letter, digit or ._- of the id is a "-". */
char *keepname_new(const char *session_id);
/* Is it a folder's name in which nobody looks for results (".git", "node_modules", caches)? */
bool keepname_is_skipped(const char *name);
/* "~/ptycell/x" for what lies in the person's own folder. */
char *keepname_show(const char *root, const char *folder);

#endif
