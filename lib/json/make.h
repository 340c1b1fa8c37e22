/* SPDX-License-Identifier: MIT */
/*
 * make.h - builds values from any text, without failure paths.
 *
 * Ill-formed UTF-8 becomes U+FFFD; running out of memory aborts. Keys are our own literals.
 */
#ifndef JSON_MAKE_H
#define JSON_MAKE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/util.h"

#define cleanup_json __attribute__((cleanup(json_decrefp)))

/* Each returns a new reference. */
json_t *json_make_text(const char *text, size_t len);
json_t *json_make_str(const char *text);
/* A path is bytes, and JSON text is Unicode: it is percent-encoded, and json_path_of decodes it. */
json_t *json_make_path(const char *path);
json_t *json_make_fmt(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Sets a member. Takes ownership of the value. A NULL value leaves the object unchanged. */
void json_put(json_t *object, const char *key, json_t *value_own);
/* Sets a member to a copy of the text or path. NULL leaves the object unchanged. */
void json_put_str(json_t *object, const char *key, const char *text);
void json_put_path(json_t *object, const char *key, const char *path);
void json_put_int(json_t *object, const char *key, json_int_t value);
void json_put_real(json_t *object, const char *key, double value);
void json_put_bool(json_t *object, const char *key, bool value);
/* Appends to an array. Takes ownership of the value. */
void json_append(json_t *array, json_t *value_own);

#endif
