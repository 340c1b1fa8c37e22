/* SPDX-License-Identifier: MIT */
/*
 * parse.h - parses JSON text; no other module does.
 *
 * It is strict: UTF-8, no duplicate keys, at most 2,048 levels (jansson's own maximum), 64-bit
 * integers. Half of a UTF-16 pair as an escape becomes U+FFFD: the grammar allows it and JavaScript
 * writes it. NUL is allowed in strings, because program text may hold it, but not in keys.
 */
#ifndef JSON_PARSE_H
#define JSON_PARSE_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

/*
 * Parses any JSON value. Returns a new reference. Returns NULL and sets ERR_INVALID with the reason
 * and the byte offset.
 */
json_t *json_parse(const char *text, size_t len, struct err *err) MUST_CHECK;
/*
 * Parses a file of at most `max` bytes, as fd_read_file reads it. Returns a new reference. Returns
 * NULL and sets *err.
 */
json_t *json_parse_file(int dir_fd, const char *path, size_t max, struct err *err) MUST_CHECK;
/*
 * Parses text with values that we cannot hold: ill-formed UTF-8 becomes U+FFFD, numbers that are
 * too large become null. Returns a new reference; NULL if the text has other mistakes.
 */
json_t *json_parse_mended(const char *text, size_t len);
/*
 * Returns the complete members at the start of an object whose text is cut or large, as an object.
 * Returns NULL if the text does not begin with an object, or the object has none. The caller frees
 * the result.
 */
json_t *json_parse_head(const char *text, size_t len);
/* Parses text of our own: a mistake in it aborts. Returns a new reference. */
json_t *json_parse_const(const char *text);

#endif
