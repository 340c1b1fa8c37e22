/* SPDX-License-Identifier: MIT */
/*
 * get.h - typed members of an object that a client, a model or a helper wrote.
 *
 * `where` is the object's name in messages: "arguments" gives "arguments.timeout must be a number,
 * not a string". A member that is null counts as absent. For an absent member the getter succeeds
 * and leaves ret_ alone, so the caller sets the default before. A getter that fails returns -1 and
 * sets ERR_INVALID. Returned values are borrowed from the object.
 */
#ifndef JSON_GET_H
#define JSON_GET_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Fails with "arguments.code is missing" if the member is absent. */
int json_get_required(const json_t *object, const char *where, const char *key,
		      struct err *err) MUST_CHECK;
/*
 * Gets text that may hold NUL and so needs its length. `ret_len` may be NULL; then NUL is refused.
 */
int json_get_text(const json_t *object, const char *where, const char *key, const char **ret,
		  size_t *ret_len, struct err *err) MUST_CHECK;
int json_get_bool(const json_t *object, const char *where, const char *key, bool *ret,
		  struct err *err) MUST_CHECK;
/*
 * Gets an integer. A real without a fraction (5.0) counts as one, because many clients have only
 * reals.
 */
int json_get_int(const json_t *object, const char *where, const char *key, json_int_t *ret,
		 struct err *err) MUST_CHECK;
int json_get_number(const json_t *object, const char *where, const char *key, double *ret,
		    struct err *err) MUST_CHECK;
int json_get_object(const json_t *object, const char *where, const char *key, json_t **ret,
		    struct err *err) MUST_CHECK;
int json_get_array(const json_t *object, const char *where, const char *key, json_t **ret,
		   struct err *err) MUST_CHECK;
/* Gets an array that holds only strings without NUL. */
int json_get_texts(const json_t *object, const char *where, const char *key, json_t **ret,
		   struct err *err) MUST_CHECK;
/* Fails if the object has a key that is not among `known`; the message names it and them. */
int json_get_only(json_t *object, const char *where, const char *const *known, size_t count,
		  struct err *err) MUST_CHECK;
/* Returns the text of a member, or "" if it is absent or of another type. Borrowed. */
const char *json_text_at(const json_t *object, const char *key);
/* Returns the path that json_make_path encoded, or NULL for any other value. The caller frees it.
 */
char *json_path_of(const json_t *value);
/* Returns "a string", "null" etc. for messages, "nothing" for NULL. The result is static. */
const char *json_get_type_name(const json_t *value);

#endif
