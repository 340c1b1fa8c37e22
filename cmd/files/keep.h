/* SPDX-License-Identifier: MIT */
/*
 * keep.h - exports a session's results to the folder where the user finds them.
 *
 * Request {"op": "keep", "root", "folder", "fresh", "folds", "moves": [{"move": ID, "at", "to",
 * "known", "ino", "mtime", "size"}], "room", "seen", "durable", "names", "compare", "sync": [PATH],
 * "files": [{"from", "to", "known", "ino", "mtime", "size", "suffix", "take", "copies", "spare",
 * "whole", "seen_size", "seen_mtime"}]}. Paths are percent-encoded.
 *
 * Each `from` below the given data folder is copied to root/folder/`to`.
 *   - fresh: the folder must be new, else ERR_BUSY. It is reported with {"made": true}.
 *   - known: an earlier copy is at `to` and has these values. Anything else there belongs to the
 *     user, and the copy gets another name ("a-2.png").
 *   - suffix, take: the copy consists of the first `take` bytes and of `suffix`.
 *   - room, total_room, total_max: see room.h.
 *   - folds: the given names treat two that differ in case as equal. Where only the folder does so,
 *     the only effect is the progress {"folds": true}.
 *   - moves come first: a folder at `at`, or a file that looks as described, is renamed to `to` or
 *     to the first free name after it.
 *   - seen: the data folder's path in the session. A link in output/ to a file below it is copied
 *     as that file and reported as "linked".
 *   - durable: each file is synced before it gets its name; set when no caller waits.
 *   - compare: a file at `to`, or at a numbered name after it, with the same content is an earlier
 *     copy. It stays and is reported with {"same": true}. Waits for another export of this folder.
 *   - copies: [{"size", "crc"}]: if `to` is one of these, it is an earlier copy, and is replaced.
 *   - report: the file is the drawn report, without a `from`. A page at `to` that ptycell drew
 *     (page.h) is an earlier copy.
 *   - whole: `from` is in the folder "spool" beside the data folder.
 *   - seen_size, seen_mtime: a file at `to` with this size and time is an earlier copy.
 *   - facts: those of the report's session (journal_report.h), for the page of the root
 *     (kept_index.h), which is drawn when the report was copied.
 *   - sync: files to sync that earlier requests copied without `durable`.
 *   - names: progress has "from", too. It always has "from" and "whole" for a file with whole, and
 *     "report" for a report.
 *
 * Progress for each move: {"move": ID, "to"} or {"move", "problem"}. For each file: {"file": INDEX,
 * "to", "ino", "mtime", "size"}, or {"file", "unchanged": true} when a link leads to what it led to
 * before, or {"file", "problem"}. The problem is "limit" or "total" when there was no room
 * (room.h). The result is {}.
 */
#ifndef FILES_KEEP_H
#define FILES_KEEP_H

#include <jansson.h>

#include "base/err.h"

/*
 * Runs the request and sends the result. `drawn_fd` is the report, which the caller has drawn, or
 * -1. Returns -1 and sets *err.
 */
int keep_run(int data_fd, const json_t *request, int drawn_fd, struct err *err) MUST_CHECK;

#endif
