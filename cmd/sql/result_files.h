/* SPDX-License-Identifier: MIT */
/*
 * files.h - the files that a query's result is: a CSV file, and large binary values beside it.
 *
 * They belong to whoever owns the session's folder. Those of a query that fails are removed by the
 * server, who has to do that for a process that was killed anyway.
 */
#ifndef SQL_RESULT_FILES_H
#define SQL_RESULT_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct result_files {
	int dir_fd;         /* the session's folder, borrowed */
	const char *result; /* the CSV file, relative to it, borrowed */
	char *part;         /* its name until it is whole */
	int fd;             /* of it, -1 while there is none */
	unsigned blobs;     /* files beside it */
	uint64_t bytes;     /* of the CSV file */
	uint64_t blob_bytes;
};

void result_files_init(struct result_files *files, int dir_fd, const char *result);
/* Begins the CSV file. */
int result_files_open(struct result_files *files, struct err *err) MUST_CHECK;
int result_files_write(struct result_files *files, const char *data, size_t len,
		       struct err *err) MUST_CHECK;
/* A file of its own; *ret_path, its path, is the caller's to free. */
int result_files_add_blob(struct result_files *files, const void *data, size_t len, char **ret_path,
			  struct err *err) MUST_CHECK;
/* The CSV file, if one was begun, gets its name. */
int result_files_finish(struct result_files *files, struct err *err) MUST_CHECK;
void result_files_release(struct result_files *files);

#endif
