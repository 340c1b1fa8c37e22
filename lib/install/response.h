/* SPDX-License-Identifier: MIT */
/*
 * response.h - validates the replies of installers, which are untrusted.
 *
 * A reply is an object with `ok`: true and the results of the step, or `ok`: false and a `text`.
 */
#ifndef INSTALL_RESPONSE_H
#define INSTALL_RESPONSE_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

enum { RESPONSE_ROWS_MAX = 20000, RESPONSE_TEXT_MAX = 1000, RESPONSE_MODULES_MAX = 20 };

/*
 * Parses a reply. Returns NULL and sets *err: ERR_INVALID, or an error of json_parse. The caller
 * frees the result.
 */
json_t *response_read(const char *text, size_t len, struct err *err) MUST_CHECK;
/*
 * Returns the valid rows of packages: {"name", "version", "file", "modules": [NAME]}, of which the
 * last two may be missing. Left out are rows without name and version, strings longer than
 * RESPONSE_TEXT_MAX, anything else, and rows beyond RESPONSE_ROWS_MAX. `rows` may be NULL or of
 * another type. The caller frees the result.
 */
json_t *response_rows(const json_t *rows);

#endif
