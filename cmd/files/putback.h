/* SPDX-License-Identifier: MIT */
/*
 * putback.h - puts a session's files back after its cells were run again (workspace/aside.h).
 *
 * Descriptor 3 is the session's folder. Afterwards `data` has the files of `aside`. Running
 * interpreters may have files of `data` open. A file with the same bytes therefore stays, and a
 * file that differs is written in place, unless what is still written to it could damage it
 * (open_files.h): then it is replaced. So is a database that differs (database.h). One whose log an
 * open connection would damage is a problem, after which no further file is put back. The
 * bytes of `aside` are never changed, and nothing is renamed: if this program outlives its server,
 * the next server's files are safe.
 *
 * The progress {"path", "how"} names a file (percent-encoded) that the replay left in another
 * state: "differs", "missing" or "new", with a sentence about connections or handles that no
 * longer reach it. A file that has several hard links is replaced, and "relinked" if its bytes are
 * the same. Hidden files, caches and missing inputs are not reported. The result is {"count",
 * "problem"}: the number of such files, and why a file could not be put back, if one could not.
 */
#ifndef FILES_PUTBACK_H
#define FILES_PUTBACK_H

#include <jansson.h>

#include "base/err.h"

enum {
	PUTBACK_DEPTH_MAX = 200, /* of folders: each holds four descriptors */
	PUTBACK_NAMED_MAX = 100, /* files */
};

/* Runs the request and sends the result. Returns -1 and sets *err. */
int putback_run(int session_fd, const json_t *request, struct err *err) MUST_CHECK;

#endif
