/* SPDX-License-Identifier: MIT */
/* result_names.h - names of the files that hold a query's rows. The caller frees each result. */
#ifndef SQL_RESULT_NAMES_H
#define SQL_RESULT_NAMES_H

enum {
	RESULT_BLOBS_MAX = 1000,
	RESULT_RECORD_COLUMNS = 100, /* of rows that are for the record only: a table of the journal
					has no more */
};

/* Returns the file's name until it is complete: hidden, in the same folder. The caller frees it. */
char *result_part_name(const char *file);
/*
 * Returns the name for large binary value `number`, counted from 1, in the same folder. The caller
 * frees it.
 */
char *result_blob_name(const char *file, unsigned number);

#endif
