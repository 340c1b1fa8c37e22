/* SPDX-License-Identifier: MIT */
/*
 * pack.h - copies what an installer produced to where it stays.
 *
 *   {"op": "pack", "from": "site", "to": NAME, "entry": BOOL, "bytes_max": N, "files_max": N,
 *    "wheels": [{"file": NAME, "sha256": HEX}]}
 *
 * `from` is in descriptor 3, the installer's folder, and is untrusted. NAME is created in
 * descriptor 4. An entry is a folder with `files` and their `manifest` (tree.h). Without `entry`,
 * the copy replaces a folder of that name. `wheels`, which may be missing, are kept in descriptor 5
 * (wheels.h).
 */
#ifndef FILES_PACK_H
#define FILES_PACK_H

#include <jansson.h>

#include "base/err.h"

/* Runs the request and sends the result. Returns -1 and sets *err. */
int pack_run(int from_fd, const json_t *request, struct err *err) MUST_CHECK;

#endif
