/* SPDX-License-Identifier: MIT */
/*
 * json_merge.h - puts one server into a host's configuration file and keeps everything else there.
 */
#ifndef SERVER_JSON_MERGE_H
#define SERVER_JSON_MERGE_H

#include "base/err.h"
#include "json/get.h"

enum { JSON_MERGE_FILE_MAX = 4 << 20 };

struct json_merge_result {
	/* the copy of the old file; NULL when there was no file, or nothing to change */
	char *backup;
	bool changed;
};

/*
 * Sets the members of `entry` in object[servers][name] of the JSON file `path`. Other members of
 * that entry and of the file stay. Missing folders and a missing file are created. An existing file
 * is first copied beside itself. The change is atomic; a symbolic link is followed. Returns -1 and
 * sets *err: ERR_INVALID when the file is not JSON, or has comments, which the change would lose.
 * json_merge_result_release() frees the result.
 */
int json_merge_file(const char *path, const char *servers, const char *name, json_t *entry,
		    struct json_merge_result *ret_result, struct err *err) MUST_CHECK;
void json_merge_result_release(struct json_merge_result *result);

#endif
