/* SPDX-License-Identifier: MIT */
/* copy.h - one regular file into a folder, under a temporary name first. */
#ifndef FILES_COPY_H
#define FILES_COPY_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"

/* What lies at the name from an earlier copy of the same file. */
struct copy_known {
	bool known;
	json_int_t ino;
	json_int_t mtime_ns;
	json_int_t size;
};

/*
 * Copies `from_fd`'s bytes (as many as `*source` says) to `name` in `dir_fd`, mode 0600, with its
 * mtime. A file there that is not `known` stays, and "name-2" and so on is tried. `*ret_name` is
 * the name taken, freed by the caller; `*ret_stat` describes the copy.
 */
int copy_file(int from_fd, const struct stat *source, int dir_fd, const char *name,
	      const struct copy_known *known, char **ret_name, struct stat *ret_stat,
	      struct err *err) MUST_CHECK;
json_int_t copy_mtime_ns(const struct stat *st);

#endif
