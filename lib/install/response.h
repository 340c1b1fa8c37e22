/* SPDX-License-Identifier: MIT */
/*
 * response.h - validates the replies of installers, which are untrusted.
 *
 * A reply is an object with `ok`: true and the results of the step, or `ok`: false and a `text`.
 */
#ifndef INSTALL_RESPONSE_H
#define INSTALL_RESPONSE_H

#include <jansson.h>
#include <stdbool.h>
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
 * last two may be missing. Left out are rows without a name or a version, strings longer than
 * RESPONSE_TEXT_MAX, anything else, and rows beyond RESPONSE_ROWS_MAX. `rows` may be NULL or of
 * another type. The caller frees the result.
 */
json_t *response_rows(const json_t *rows);
/*
 * Returns the strings of a list that are at most RESPONSE_TEXT_MAX long, RESPONSE_MODULES_MAX of
 * them at most. `list` may be NULL or of another type. The caller frees the result.
 */
json_t *response_names(const json_t *list);
/*
 * Returns the rows of `before` whose names `rows` does not have. With `folded` names are compared
 * as Python does it: "Jinja2" is "jinja2". A new reference.
 */
json_t *response_missing(const json_t *before, const json_t *rows, bool folded);
/*
 * Returns the rows of `before` that `rows` has in other versions only, by names as above. A new
 * reference.
 */
json_t *response_replaced(const json_t *before, const json_t *rows, bool folded);
/* Returns the rows of `before` that `rows` has in the same version. A new reference. */
json_t *response_unchanged(const json_t *before, const json_t *rows, bool folded);
/* Returns the rows of `rows` that `before` does not have in the same version. A new reference. */
json_t *response_arrived(const json_t *before, const json_t *rows, bool folded);

#endif
