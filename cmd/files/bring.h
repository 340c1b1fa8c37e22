/* SPDX-License-Identifier: MIT */
/*
 * bring.h - copies files that a session's cells had, before these are run again
 * (workspace/aside.h).
 *
 * Descriptor 3 is the session's folder. The request has `files`, a list of {"path", "size",
 * "sha256"}, each copied to `data`: from the original of the upload, else from `aside`. If "kept"
 * is true, descriptor 4 is the folder of exported results. A file whose bytes in `aside` are not
 * those of the request is then taken from there, if they are right in it. Without "size" any bytes
 * are right, without "sha256" any of that size. The progress {"path", "how"} names a file that is
 * "changed" or "missing", or "not compared, except its size"; paths are percent-encoded.
 */
#ifndef FILES_BRING_H
#define FILES_BRING_H

#include <jansson.h>

#include "base/err.h"

/* Runs the request and sends the result. Returns -1 and sets *err. */
int bring_run(int session_fd, int kept_fd, const json_t *request, struct err *err) MUST_CHECK;

#endif
