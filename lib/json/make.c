/* SPDX-License-Identifier: MIT */
/*
 * make.c - builds JSON values and aborts where jansson would return an error. Such an error is
 * either a bug (the wrong type) or a lack of memory. Ill-formed text is repaired instead, because
 * it comes from session code.
 */
#include "json/make.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "text/percent.h"
#include "text/utf8.h"

static json_t *abort_unless_made(json_t *value)
{
	if (value == NULL) {
		(void)fputs("ptycell: out of memory\n", stderr);
		abort();
	}
	return value;
}

json_t *json_make_text(const char *text, size_t len)
{
	json_t *value = json_stringn(text, len); /* NULL if the text is ill-formed */
	struct buf repaired;

	if (value != NULL)
		return value;
	buf_init(&repaired, BUF_UNBOUNDED);
	utf8_repair(&repaired, text, len);
	value = abort_unless_made(json_stringn(buf_str(&repaired), repaired.len));
	buf_release(&repaired);
	return value;
}

json_t *json_make_str(const char *text)
{
	return json_make_text(text, strlen(text));
}

json_t *json_make_path(const char *path)
{
	cleanup_free char *encoded = percent_encode(path);

	return json_make_str(encoded);
}

json_t *json_make_fmt(const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	return json_make_str(text);
}

void json_put(json_t *object, const char *key, json_t *value_own)
{
	if (value_own != NULL && json_object_set_new_nocheck(object, key, value_own) < 0)
		abort(); /* not an object, or no memory */
}

void json_put_str(json_t *object, const char *key, const char *text)
{
	if (text != NULL)
		json_put(object, key, json_make_str(text));
}

void json_put_path(json_t *object, const char *key, const char *path)
{
	if (path != NULL)
		json_put(object, key, json_make_path(path));
}

void json_put_int(json_t *object, const char *key, json_int_t value)
{
	json_put(object, key, abort_unless_made(json_integer(value)));
}

void json_put_real(json_t *object, const char *key, double value)
{
	/* JSON has no infinity and no NaN; jansson returns NULL for them. */
	json_t *real = json_real(value);

	json_put(object, key, real != NULL ? real : json_null());
}

void json_put_bool(json_t *object, const char *key, bool value)
{
	json_put(object, key, json_boolean(value));
}

void json_append(json_t *array, json_t *value_own)
{
	if (json_array_append_new(array, abort_unless_made(value_own)) < 0)
		abort(); /* not an array, or no memory */
}
