/* SPDX-License-Identifier: MIT */
/*
 * putback.h - puts a session's files back after its cells were run again (workspace/aside.h).
 *
 * Descriptor 3 is the session's folder. Afterwards `data` has the files of `aside`, and new ones
 * that code still writes to. Running interpreters may have files of `data` open. A file with the
 * same bytes therefore stays. A file that differs is replaced if it is open (open_files.h), unless
 * only lines of text are appended to it; that one is written in place, as is one that is not open.
 * So is a database that differs (database.h). One whose log an open connection would damage is a
 * problem, after which no further file is put back. A named pipe or a socket stays if both have it
 * with the same mode, because a process may use it. The bytes of `aside` are never changed, and
 * nothing is renamed: if this program outlives its server, the next server's files are safe.
 *
 * The progress {"path", "how", "list"} names a file (percent-encoded) that the replay left in
 * another state: "differs", "missing", "new" or "removed"; a folder is "new, but for what stays". A
 * file that has several hard links is replaced, and "relinked" if its bytes are the same. The list
 * is one of enum aside_list. Hidden files, caches and missing inputs are only reported if they are
 * known to be open. The result is {"counts", "problem"}: the number of files of each list, and why
 * a file could not be put back.
 */
#ifndef FILES_PUTBACK_H
#define FILES_PUTBACK_H

#include <jansson.h>

#include "base/err.h"

enum {
	PUTBACK_DEPTH_MAX = 200, /* of folders: each holds four descriptors */
	PUTBACK_NAMED_MAX = 100, /* files of a list that are not known to be open */
	PUTBACK_OPEN_MAX = 1000, /* files of one that are */
};

/* Runs the request and sends the result. Returns -1 and sets *err. */
int putback_run(int session_fd, const json_t *request, struct err *err) MUST_CHECK;

#endif
