/* SPDX-License-Identifier: MIT */
/*
 * parse.h - JSON text to values; with write.h the only place that does this.
 *
 * Strict: UTF-8, no duplicate keys, at most 2,048 levels (jansson's own cap), integers in 64 bits.
 * Half of a UTF-16 pair as an escape, which the grammar has and JavaScript writes, is U+FFFD.
 * NUL is allowed in strings (program text may hold it), not in keys.
 */
#ifndef JSON_PARSE_H
#define JSON_PARSE_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

/* Any JSON value, a new reference. NULL: ERR_INVALID with the reason and the byte offset. */
json_t *json_parse(const char *text, size_t len, struct err *err) MUST_CHECK;
/*
 * The same of text that holds what no value of ours does: what is ill-formed UTF-8 is U+FFFD, and
 * numbers that are too large are null. NULL when that is not all that is wrong.
 */
json_t *json_parse_mended(const char *text, size_t len);
/*
 * The whole members at the start of an object whose text is cut or large, as an object. NULL when
 * what begins there is no object, or has none.
 */
json_t *json_parse_head(const char *text, size_t len);
/* Text from our own sources: a mistake in it aborts. */
json_t *json_parse_const(const char *text);

#endif
