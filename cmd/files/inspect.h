/* SPDX-License-Identifier: MIT */
/*
 * inspect.h - finds repositories that session code made in shared folders, and holds what git would
 * run there.
 *
 * Request {"op": "inspect", "shares": [PATH], "home": PATH, "since": NS, "entries": N, "ms": MS,
 * "known": [TEXT], "learn": BOOL}: the shares are the descriptors from 3 on; PATHs and TEXTs are
 * percent-encoded. The walk is breadth first, folders of packages last, follows no link, and ends
 * after N entries of all shares or MS milliseconds.
 *
 * Only entries whose ctime, which no process can set back, is later than NS can be the work of
 * session code. Among these, the ones that gitfolder.h names get HOLD_MARK (hold.h) behind their
 * names.
 *
 * Result {"held": [{"path": PATH, "name": NAME}], "count": N, "more": LIMIT, "known": [TEXT]}:
 * "held" has the first of N entries. "more" is the limit that was met, "entries" or "time",
 * "unread" when a folder could not be read to its end, and missing when all was looked at. "name"
 * is empty for a removed entry, and missing when the entry could neither be renamed nor removed.
 * "known" is sent when `learn` is true, and then nothing is held: it lists the entries of older
 * configs that session code must not make, and the existing repositories. A later inspection counts
 * a repository outside this list as made by session code.
 */
#ifndef FILES_INSPECT_H
#define FILES_INSPECT_H

#include <jansson.h>

#include "base/err.h"

/* Runs the request and sends the result. Returns -1 and sets *err. */
int inspect_run(const json_t *request, struct err *err) MUST_CHECK;

#endif
