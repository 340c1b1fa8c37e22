/* SPDX-License-Identifier: MIT */
/*
 * program.h - the helper program's side of helper/helper.h: it reads the request and writes the
 * lines that helper/reply.h takes apart.
 */
#ifndef HELPER_PROGRAM_H
#define HELPER_PROGRAM_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

/*
 * Reads one line from standard input. Returns the request; the caller frees it. Returns NULL and
 * sets *err: ERR_LIMIT if the line has more than `max` bytes.
 */
json_t *program_read_request(size_t max, struct err *err) MUST_CHECK;

/* Sends a progress line. Takes ownership of the value. Does nothing if the server is gone. */
void program_progress(json_t *value_own);
/* Reports that the helper is alive: an empty progress, at most one a second. */
void program_alive(void);
/* Sends the result, after which the helper must send nothing more. Takes ownership of the value. */
void program_result(json_t *value_own);
/* Sends the error in place of a result. */
void program_error(const struct err *err);

#endif
