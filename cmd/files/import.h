/* SPDX-License-Identifier: MIT */
/*
 * import.h - copies one of the user's files, descriptor 4, into the file that is descriptor 3.
 *
 * Request {"op": "import", "name", "size_max", "size_name"}: the file's name for messages, the most
 * bytes that it may have (holes do not count), and the limit's name for users. Progress and result
 * are those of transfer/imports.h. The copy shares blocks where the file system can, and keeps
 * holes.
 */
#ifndef FILES_IMPORT_H
#define FILES_IMPORT_H

#include <jansson.h>

#include "base/err.h"

/* Runs the request and sends the result. Returns -1 and sets *err. */
int import_run(int to_fd, int from_fd, const json_t *request, struct err *err) MUST_CHECK;

#endif
