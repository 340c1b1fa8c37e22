/* SPDX-License-Identifier: MIT */
/*
 * lockdown.h - restricts this program to one session's folder and one database.
 *
 * Starts the thread of cancel.h between landlock, which holds for threads made later, and the
 * seccomp filter.
 */
#ifndef SQL_LOCKDOWN_H
#define SQL_LOCKDOWN_H

#include "base/err.h"

/*
 * Restricts to files, without network. `path` is a database of the machine that may be read, or
 * NULL. Returns -1 and sets *err.
 */
int lockdown_local(int dir_fd, const char *path, struct err *err) MUST_CHECK;
/*
 * Allows network, and the files of drivers and their configuration. `folder` is the user's own
 * configuration, or NULL. Returns -1 and sets *err.
 */
int lockdown_driver(int dir_fd, const char *folder, struct err *err) MUST_CHECK;

#endif
