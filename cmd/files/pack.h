/* SPDX-License-Identifier: MIT */
/*
 * pack.h - what an installer left, copied to where it is kept.
 *
 *   {"op": "pack", "from": "site", "to": NAME, "entry": BOOL, "bytes_max": N, "files_max": N}
 *
 * `from` lies in descriptor 3, the installer's folder, and is foreign; NAME comes to lie in
 * descriptor 4. An entry is a folder with `files` and their `manifest` (tree.h); what is none
 * replaces a folder of that name.
 */
#ifndef FILES_PACK_H
#define FILES_PACK_H

#include <jansson.h>

#include "base/err.h"

int pack_run(int from_fd, const json_t *order, struct err *err) MUST_CHECK;

#endif
