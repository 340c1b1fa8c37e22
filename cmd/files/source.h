/* SPDX-License-Identifier: MIT */
/* source.h - opening a file of a session that is to be kept. */
#ifndef FILES_SOURCE_H
#define FILES_SOURCE_H

#include <stdbool.h>

#include "base/err.h"

struct source_folder {
	int fd;           /* data */
	const char *seen; /* its path as the session sees it, as absolute links have it; or NULL */
};

/*
 * A regular file for reading. A link in output/ stands for the file in the folder that it leads to,
 * through other links, too, but none of folders: `*ret_linked`. ERR_DENIED, with what the user can
 * be told, for a link that leads elsewhere.
 */
int source_open(const struct source_folder *folder, const char *path, bool *ret_linked,
		struct err *err) MUST_CHECK;

#endif
