/* SPDX-License-Identifier: MIT */
/*
 * grow.h - writes the new end of an earlier copy in place, so that a copy that only grows costs
 * what is new in it.
 */
#ifndef FILES_GROW_H
#define FILES_GROW_H

#include <stdbool.h>

#include "copy.h"

/*
 * Makes an earlier copy what copy_file() would make: the first `stays` bytes are the same, and the
 * rest is written by one call. Sets *ret_grown to false, and changes nothing, when the file is not
 * as it was left, or has a second name. Returns -1 and sets *err when it cannot be written; then it
 * is as before.
 */
int grow_file(const struct copy_source *source, int dir_fd, const char *name,
	      const struct copy_known *known, json_int_t stays, struct copy_made *ret_made,
	      bool *ret_grown, struct err *err) MUST_CHECK;

#endif
