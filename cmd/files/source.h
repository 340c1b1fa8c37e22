/* SPDX-License-Identifier: MIT */
/* source.h - opens a session's file that is to be exported. */
#ifndef FILES_SOURCE_H
#define FILES_SOURCE_H

#include <stdbool.h>

#include "base/err.h"

struct source_folder {
	int fd;           /* the data folder */
	const char *seen; /* its path in the session, as absolute links name it; may be NULL */
};

/*
 * Opens a regular file for reading and returns the descriptor. A link in output/ stands for the
 * file in the data folder that it leads to, and sets *ret_linked. It may lead through further links
 * to files; links to folders are not followed. Returns -1 and sets *err: ERR_DENIED, with a message
 * for the user, for a link that leads elsewhere.
 */
int source_open(const struct source_folder *folder, const char *path, bool *ret_linked,
		struct err *err) MUST_CHECK;

#endif
