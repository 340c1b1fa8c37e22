/* SPDX-License-Identifier: MIT */
/*
 * answer.h - what installers say, which is data of programs that read foreign bytes.
 *
 * An answer is an object with `ok`: true and what the step found out, or false and a `text`.
 */
#ifndef INSTALL_RESPONSE_H
#define INSTALL_RESPONSE_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

enum { RESPONSE_ROWS_MAX = 20000, RESPONSE_TEXT_MAX = 1000, RESPONSE_MODULES_MAX = 20 };

/* The caller's. NULL: ERR_INVALID, or as json_parse says. */
json_t *response_read(const char *text, size_t len, struct err *err) MUST_CHECK;
/*
 * Rows of packages, the caller's: {"name", "version", "file", "modules": [NAME]}, of which the last
 * two may be missing. What has no name and version, is longer than RESPONSE_TEXT_MAX or is anything
 * else is left out, and so is what comes after RESPONSE_ROWS_MAX. `rows` may be NULL, or no array.
 */
json_t *response_rows(const json_t *rows);

#endif
