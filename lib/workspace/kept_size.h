/* SPDX-License-Identifier: MIT */
/* kept_size.h - how much the folders of exports below a root (PTYCELL_KEEP) take together. */
#ifndef WORKSPACE_KEPT_SIZE_H
#define WORKSPACE_KEPT_SIZE_H

#include <stdint.h>

#include "base/err.h"

/*
 * Adds the sizes of all files in folders of the root that have the name of a session's folder
 * (keepname_is_folder). Other files of the user do not count. Follows no link and enters no other
 * mount. A folder that cannot be read counts nothing. A root that is not there has 0 bytes.
 * `alive`, which may be NULL, is called for each file. The walk changes the working folder of the
 * process meanwhile, so only programs with one thread may call it. Returns -1 and sets *err.
 */
int kept_size_measure(const char *root, void (*alive)(void), uint64_t *ret_bytes,
		      struct err *err) MUST_CHECK;

#endif
