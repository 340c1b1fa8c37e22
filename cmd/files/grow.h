/* SPDX-License-Identifier: MIT */
/*
 * grow.h - writes the new end of an earlier copy in place, so that a copy that only grows costs
 * what is new in it.
 */
#ifndef FILES_GROW_H
#define FILES_GROW_H

#include "copy.h"

/* An earlier copy, whose first `stays` bytes are also those of its source. */
struct grow_copy {
	int dir_fd;
	const char *name;
	const struct copy_known *known;
	json_int_t stays;
};

/*
 * Makes an earlier copy what copy_file() would make, and writes all that is new by one call.
 * Changes nothing, and leaves ret_made->name NULL, when the file is not as it was left, or has a
 * second name. Returns -1 and sets *err when it cannot be written; then it is as before.
 */
int grow_file(const struct copy_source *source, const struct grow_copy *copy,
	      struct copy_made *ret_made, struct err *err) MUST_CHECK;

#endif
