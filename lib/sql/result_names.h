/* SPDX-License-Identifier: MIT */
/* result.h - names of the files that a query's rows become; the caller frees them. */
#ifndef SQL_RESULT_NAMES_H
#define SQL_RESULT_NAMES_H

enum { RESULT_BLOBS_MAX = 1000 };

/* Of the file until it is whole: beside it, with a name that lists of files leave out. */
char *result_part_name(const char *file);
/* Of large binary value `number`, from 1: beside it. */
char *result_blob_name(const char *file, unsigned number);

#endif
