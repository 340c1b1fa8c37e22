/* SPDX-License-Identifier: MIT */
/* expose.h - makes a file's times show writes through a mapping. */
#ifndef WORKSPACE_EXPOSE_H
#define WORKSPACE_EXPOSE_H

/*
 * Makes the next write to an open file show in its times, also one through a mapping. On file
 * systems in memory writes through a mapping still do not show. Must be called before the file is
 * read, in a process that ignores SIGIO.
 */
void expose_writes(int fd);

#endif
