/* SPDX-License-Identifier: MIT */
/* file_stat.h - reads kind, inode, size and times of one file of a session. */
#ifndef WORKSPACE_FILE_STAT_H
#define WORKSPACE_FILE_STAT_H

#include <sys/stat.h>

/*
 * Sets STATX_BASIC_STATS of the file `name` in the folder `fd`, or of `fd` itself if the name is
 * empty. Follows no link. Returns -1 and errno if that fails.
 */
int file_stat_at(int fd, const char *name, struct statx *ret);

#endif
