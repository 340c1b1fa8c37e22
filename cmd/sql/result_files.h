/* SPDX-License-Identifier: MIT */
/*
 * result_files.h - the files of a query's result: a CSV file, and large binary values beside it.
 *
 * They belong to the owner of the session's folder. The server removes the files of a query that
 * fails: it must do so for a killed process anyway.
 */
#ifndef SQL_RESULT_FILES_H
#define SQL_RESULT_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct result_files {
	int dir_fd;         /* the session's folder, borrowed */
	const char *result; /* the CSV file, relative to the folder, borrowed */
	char *part;         /* its name until it is complete */
	int fd;             /* of the CSV file, -1 while there is none */
	unsigned blobs;     /* number of files beside it */
	uint64_t bytes;     /* of the CSV file */
	uint64_t blob_bytes;
};

void result_files_init(struct result_files *files, int dir_fd, const char *result);
/* Begins the CSV file. Returns -1 and sets *err. */
int result_files_open(struct result_files *files, struct err *err) MUST_CHECK;
/* Writes to the CSV file. Returns -1 and sets *err. */
int result_files_write(struct result_files *files, const char *data, size_t len,
		       struct err *err) MUST_CHECK;
/* Writes a value to a file of its own. The caller frees *ret_path. Returns -1 and sets *err. */
int result_files_add_blob(struct result_files *files, const void *data, size_t len, char **ret_path,
			  struct err *err) MUST_CHECK;
/* Renames the CSV file, if one was begun, to its final name. Returns -1 and sets *err. */
int result_files_finish(struct result_files *files, struct err *err) MUST_CHECK;
void result_files_release(struct result_files *files);

#endif
