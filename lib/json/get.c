/* SPDX-License-Identifier: MIT */
/*
 * get.c - typed access with one message for each mistake. Keys of an object may come from a model,
 * so a message shows them shortened and sanitized. Many clients send only reals: one without a
 * fraction is accepted as an integer, up to 2^53.
 */
#include "json/get.h"

#include <string.h>

#include "base/buf.h"
#include "text/percent.h"
#include "text/sanitize.h"

enum { KEY_SHOWN_MAX = 60 }; /* characters of an untrusted key that a message shows */

const char *json_get_type_name(const json_t *value)
{
	static const char *const names[] = {
		[JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",
		[JSON_STRING] = "a string",  [JSON_INTEGER] = "an integer",
		[JSON_REAL] = "a number",    [JSON_TRUE] = "true",
		[JSON_FALSE] = "false",      [JSON_NULL] = "null",
	};

	return value != NULL ? names[json_typeof(value)] : "nothing";
}

/* Returns NULL if the member is absent or null. */
static json_t *find_member(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return json_is_null(value) ? NULL : value;
}

static int wrong_type(const char *where, const char *key, const char *wanted, const json_t *value,
		      struct err *err)
{
	return err_set(err, ERR_INVALID, "%s.%s must be %s, not %s", where, key, wanted,
		       json_get_type_name(value));
}

int json_get_required(const json_t *object, const char *where, const char *key, struct err *err)
{
	if (find_member(object, key) == NULL)
		return err_set(err, ERR_INVALID, "%s.%s is missing", where, key);
	return 0;
}

static bool has_nul(const json_t *text)
{
	return memchr(json_string_value(text), '\0', json_string_length(text)) != NULL;
}

int json_get_text(const json_t *object, const char *where, const char *key, const char **ret,
		  size_t *ret_len, struct err *err)
{
	json_t *value = find_member(object, key);

	if (value == NULL)
		return 0;
	if (!json_is_string(value))
		return wrong_type(where, key, "a string", value, err);
	if (ret_len == NULL && has_nul(value))
		return err_set(err, ERR_INVALID, "%s.%s holds a NUL character", where, key);
	*ret = json_string_value(value);
	if (ret_len != NULL)
		*ret_len = json_string_length(value);
	return 0;
}

int json_get_bool(const json_t *object, const char *where, const char *key, bool *ret,
		  struct err *err)
{
	json_t *value = find_member(object, key);

	if (value == NULL)
		return 0;
	if (!json_is_boolean(value))
		return wrong_type(where, key, "true or false", value, err);
	*ret = json_is_true(value);
	return 0;
}

int json_get_int(const json_t *object, const char *where, const char *key, json_int_t *ret,
		 struct err *err)
{
	/* Beyond 2^53 a real no longer says which integer was meant. */
	const double exact = 9007199254740992.0;
	json_t *value = find_member(object, key);
	double real = json_real_value(value);

	if (value == NULL)
		return 0;
	if (json_is_integer(value)) {
		*ret = json_integer_value(value);
		return 0;
	}
	if (!json_is_real(value))
		return wrong_type(where, key, "an integer", value, err);
	if (!(real >= -exact && real <= exact) || real != (double)(json_int_t)real)
		return wrong_type(where, key, "an integer", value, err);
	*ret = (json_int_t)real;
	return 0;
}

int json_get_number(const json_t *object, const char *where, const char *key, double *ret,
		    struct err *err)
{
	json_t *value = find_member(object, key);

	if (value == NULL)
		return 0;
	if (!json_is_number(value))
		return wrong_type(where, key, "a number", value, err);
	*ret = json_number_value(value);
	return 0;
}

int json_get_object(const json_t *object, const char *where, const char *key, json_t **ret,
		    struct err *err)
{
	json_t *value = find_member(object, key);

	if (value == NULL)
		return 0;
	if (!json_is_object(value))
		return wrong_type(where, key, "an object", value, err);
	*ret = value;
	return 0;
}

int json_get_array(const json_t *object, const char *where, const char *key, json_t **ret,
		   struct err *err)
{
	json_t *value = find_member(object, key);

	if (value == NULL)
		return 0;
	if (!json_is_array(value))
		return wrong_type(where, key, "an array", value, err);
	*ret = value;
	return 0;
}

int json_get_texts(const json_t *object, const char *where, const char *key, json_t **ret,
		   struct err *err)
{
	json_t *array = NULL;
	json_t *value;
	size_t i;

	if (json_get_array(object, where, key, &array, err) < 0)
		return -1;
	json_array_foreach (array, i, value) {
		if (!json_is_string(value))
			return err_set(err, ERR_INVALID, "%s.%s[%zu] must be a string, not %s",
				       where, key, i, json_get_type_name(value));
		if (has_nul(value))
			return err_set(err, ERR_INVALID, "%s.%s[%zu] holds a NUL character", where,
				       key, i);
	}
	if (array != NULL)
		*ret = array;
	return 0;
}

static bool is_known(const char *key, const char *const *known, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(known[i], key))
			return true;
	return false;
}

static int refuse_key(const char *where, const char *key, const char *const *known, size_t count,
		      struct err *err)
{
	cleanup_buf struct buf list = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	sanitize_line(&shown, key, strlen(key), KEY_SHOWN_MAX);
	for (size_t i = 0; i < count; i++)
		buf_putf(&list, "%s%s", i > 0 ? ", " : "", known[i]);
	if (count == 0)
		return err_set(err, ERR_INVALID, "%s.%s is not known; %s must be empty", where,
			       buf_str(&shown), where);
	return err_set(err, ERR_INVALID, "%s.%s is not known; there %s: %s", where, buf_str(&shown),
		       count == 1 ? "is" : "are", buf_str(&list));
}

int json_get_only(json_t *object, const char *where, const char *const *known, size_t count,
		  struct err *err)
{
	const char *key;
	json_t *value;

	json_object_foreach (object, key, value) {
		if (!is_known(key, known, count))
			return refuse_key(where, key, known, count, err);
	}
	return 0;
}

const char *json_text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

char *json_path_of(const json_t *value)
{
	const char *text = json_string_value(value);

	return text != NULL ? percent_decode(text, strlen(text)) : NULL;
}
