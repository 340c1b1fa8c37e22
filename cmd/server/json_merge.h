/* SPDX-License-Identifier: MIT */
/* merge.h - puts one server into a host's configuration file and keeps everything else. */
#ifndef SERVER_JSON_MERGE_H
#define SERVER_JSON_MERGE_H

#include "base/err.h"
#include "json/get.h"

enum { JSON_MERGE_FILE_MAX = 4 << 20 };

struct json_merge_result {
	char *backup; /* the copy of what was there; NULL when there was nothing or nothing to do */
	bool changed;
};

/*
 * Sets the members of `entry` in object[servers][name] of the JSON file `path`; what else is in
 * that entry and in the file stays. Folders and file are made when they are missing; a file that
 * is there is copied beside itself first. The file changes at once or not at all; a symbolic link
 * is followed. ERR_INVALID: it is no JSON, or has comments, which would be lost.
 * json_merge_result_release() frees the result.
 */
int json_merge_file(const char *path, const char *servers, const char *name, json_t *entry,
		    struct json_merge_result *ret_result, struct err *err) MUST_CHECK;
void json_merge_result_release(struct json_merge_result *result);

#endif
