/* SPDX-License-Identifier: MIT */
/* name.h - what uploaded files are called, and what is said of them to whoever downloads one. */
#ifndef STORAGE_OBJECT_NAME_H
#define STORAGE_OBJECT_NAME_H

#include <time.h>

#include "base/err.h"

enum {
	STORAGE_NAME_MAX = 1024, /* bytes, the services' own limit */
	STORAGE_TIME_LEN = 20,   /* "2030-01-02T03:04:05Z" */
};

/*
 * "FOLDER/PATH" as UTF-8, for a path below output/: what no service would take, or what would not
 * be shown, becomes "_"; such a name has a hash of the path before its extension, so that no two
 * paths have one name. NULL with ERR_LIMIT when it is too long; the caller frees it.
 */
char *storage_name(const char *folder, const char *path, struct err *err) MUST_CHECK;
/* The type by the name's extension, text as UTF-8. The caller frees these two. */
char *storage_content_type(const char *name);
/*
 * "inline" for what a browser shows without running it, else "attachment", with the file's name as
 * ASCII and whole (RFC 6266).
 */
char *storage_disposition(const char *name);
/* UTC, to the second. */
void storage_time(time_t time, char text[STORAGE_TIME_LEN + 1]);

#endif
