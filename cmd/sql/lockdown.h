/* SPDX-License-Identifier: MIT */
/*
 * confine.h - this program holds itself to one session's folder and one database.
 *
 * Starts the thread of stop.h between landlock, which holds for threads made later, and the filter.
 */
#ifndef SQL_LOCKDOWN_H
#define SQL_LOCKDOWN_H

#include "base/err.h"

/* No network. `path` is a database of the machine to be read, or NULL. */
int lockdown_local(int dir_fd, const char *path, struct err *err) MUST_CHECK;
/*
 * Network, and what drivers are made of and configured by; `folder` is the person's own
 * configuration, or NULL.
 */
int lockdown_driver(int dir_fd, const char *folder, struct err *err) MUST_CHECK;

#endif
