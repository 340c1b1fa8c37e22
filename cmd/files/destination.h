/* SPDX-License-Identifier: MIT */
/* destination.h - the folder below the root of exports (PTYCELL_KEEP) that one session has. */
#ifndef FILES_DESTINATION_H
#define FILES_DESTINATION_H

#include <stdbool.h>

#include "base/err.h"

/*
 * Opens the folder `name` of the root, and makes both. With `fresh` the folder must not be there.
 * Returns -1 and sets *err: ERR_BUSY for a name that is taken, ERR_DENIED for a folder that is
 * another's.
 */
int destination_open(const char *root_path, const char *name, bool fresh,
		     struct err *err) MUST_CHECK;
/* Returns true when the folder is also reached by its name in capital letters. */
bool destination_folds(const char *root_path, const char *name, int folder);
/* Removes the folder, which must be empty. Returns -1 and sets *err. */
int destination_remove(const char *root_path, const char *name, struct err *err) MUST_CHECK;

#endif
