/* SPDX-License-Identifier: MIT */
/* object_name.h - names of uploaded files, and the headers with which they are downloaded. */
#ifndef STORAGE_OBJECT_NAME_H
#define STORAGE_OBJECT_NAME_H

#include <time.h>

#include "base/err.h"

enum {
	STORAGE_NAME_MAX = 1024, /* bytes, the services' own maximum */
	STORAGE_TIME_LEN = 20,   /* "2030-01-02T03:04:05Z" */
};

/*
 * Returns "FOLDER/PATH" as UTF-8 for a path below output/. Characters that a service refuses or
 * that are invisible become "_"; such a name has a hash of the path before its extension, so that
 * two paths have two names. The caller frees it. Returns NULL and sets ERR_LIMIT if it is too long.
 */
char *storage_name(const char *folder, const char *path, struct err *err) MUST_CHECK;
/* Returns the type by the name's extension; text is UTF-8. The caller frees it. */
char *storage_content_type(const char *name);
/*
 * Returns "inline" for files that a browser shows without running them, else "attachment", with the
 * file's name in ASCII and in full (RFC 6266). The caller frees it.
 */
char *storage_disposition(const char *name);
/* Writes the time in UTC, to the second. */
void storage_time(time_t time, char text[STORAGE_TIME_LEN + 1]);

#endif
