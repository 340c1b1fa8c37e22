/* SPDX-License-Identifier: MIT */
/*
 * mountinfo.h - reads the kernel's list of mounts. getmntent(3) cuts lines, and knows no field of a
 * mount but its path.
 */
#ifndef BASE_MOUNTINFO_H
#define BASE_MOUNTINFO_H

#include <stdbool.h>

#include "base/err.h"

/* Fields of a line as in proc_pid_mountinfo(5). */
enum { MOUNTINFO_DEVICE = 3, MOUNTINFO_ROOT = 4, MOUNTINFO_POINT = 5, MOUNTINFO_OPTIONS = 6 };

/* Returns the mounts that this process sees. The caller frees it. Returns NULL and sets *err. */
char *mountinfo_read(struct err *err) MUST_CHECK;
/* Returns the line after this one; "" after the last one. */
const char *mountinfo_next(const char *line);
/*
 * Returns a field of a line with its blanks and the like, which the kernel writes as octal numbers;
 * "" if there is no such field. The caller frees it.
 */
char *mountinfo_field(const char *line, int field);
/* Returns whether the mount itself is read-only; its file system may be writable. */
bool mountinfo_is_read_only(const char *line);

#endif
