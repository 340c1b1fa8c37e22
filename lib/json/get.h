/* SPDX-License-Identifier: MIT */
/*
 * get.h - typed members of an object that somebody else wrote.
 *
 * `where` is what the object is called in messages: "arguments" gives "arguments.timeout must be
 * a number, not a string". A member that is absent or null is not there: the getter leaves
 * ret_ alone and succeeds, so the caller sets the default before. Failures are ERR_INVALID.
 * What is returned is borrowed from the object.
 */
#ifndef JSON_GET_H
#define JSON_GET_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Fails with "arguments.code is missing". */
int json_get_required(const json_t *object, const char *where, const char *key,
		      struct err *err) MUST_CHECK;
/* Text that may hold NUL and so needs its length. `ret_len` may be NULL: then NUL is refused. */
int json_get_text(const json_t *object, const char *where, const char *key, const char **ret,
		  size_t *ret_len, struct err *err) MUST_CHECK;
int json_get_bool(const json_t *object, const char *where, const char *key, bool *ret,
		  struct err *err) MUST_CHECK;
/* A real without a fraction (5.0) counts as an integer: many clients have only reals. */
int json_get_int(const json_t *object, const char *where, const char *key, json_int_t *ret,
		 struct err *err) MUST_CHECK;
int json_get_number(const json_t *object, const char *where, const char *key, double *ret,
		    struct err *err) MUST_CHECK;
int json_get_object(const json_t *object, const char *where, const char *key, json_t **ret,
		    struct err *err) MUST_CHECK;
int json_get_array(const json_t *object, const char *where, const char *key, json_t **ret,
		   struct err *err) MUST_CHECK;
/* An array that holds only strings without NUL. */
int json_get_texts(const json_t *object, const char *where, const char *key, json_t **ret,
		   struct err *err) MUST_CHECK;
/* Fails when the object has a key that is not among `known`, naming it and them. */
int json_get_only(json_t *object, const char *where, const char *const *known, size_t count,
		  struct err *err) MUST_CHECK;
/* "a string", "null", ...: for messages. "nothing" for NULL. */
const char *json_get_type_name(const json_t *value);

#endif
