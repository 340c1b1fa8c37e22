/* SPDX-License-Identifier: MIT */
/* look.h - the stamps of one file of a session. */
#ifndef WORKSPACE_LOOK_H
#define WORKSPACE_LOOK_H

#include <sys/stat.h>

/*
 * Sets STATX_BASIC_STATS of the file `name` in the folder `fd`, or of `fd` itself if the name is
 * empty. Follows no link. Returns -1 and errno if that fails.
 */
int look_at(int fd, const char *name, struct statx *ret);

#endif
