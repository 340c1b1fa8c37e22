/* SPDX-License-Identifier: MIT */
/*
 * answer.h - what installers say, which is data of programs that read foreign bytes.
 *
 * An answer is an object with `ok`: true and what the step found out, or false and a `text`.
 */
#ifndef INSTALL_ANSWER_H
#define INSTALL_ANSWER_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

enum { ANSWER_ROWS_MAX = 20000, ANSWER_TEXT_MAX = 1000, ANSWER_MODULES_MAX = 20 };

/* The caller's. NULL: ERR_INVALID, or as json_parse says. */
json_t *answer_read(const char *text, size_t len, struct err *err) MUST_CHECK;
/*
 * Rows of packages, the caller's: {"name", "version", "file", "modules": [NAME]}, of which the last
 * two may be missing. What has no name and version, is longer than ANSWER_TEXT_MAX or is anything
 * else is left out, and so is what comes after ANSWER_ROWS_MAX. `rows` may be NULL, or no array.
 */
json_t *answer_rows(const json_t *rows);

#endif
