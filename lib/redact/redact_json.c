/* SPDX-License-Identifier: MIT */
/*
 * redact_json.c - walks a JSON value with one stream for all of its strings. Keys are replaced too,
 * since session code chooses them; a member that is renamed moves to the end.
 */
#include "redact/redact_json.h"

#include "base/buf.h"
#include "json/make.h"
#include "redact/redact.h"

static void redact_value(json_t *value, struct redact_stream *stream);

static void redact_text_value(json_t *value, struct redact_stream *stream)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (!redact_text(stream, json_string_value(value), json_string_length(value), &out))
		return;
	/* A value that is not text can cut a character in two. */
	if (json_string_setn(value, buf_str(&out), out.len) < 0)
		(void)json_string_set(value, "[secret]");
}

static bool has_type(const json_t *object, const char *type)
{
	const char *text = json_string_value(json_object_get(object, "type"));

	return text != NULL && str_eq(text, type);
}

static bool is_bytes(const json_t *object, const char *key)
{
	if (str_eq(key, "blob"))
		return json_object_get(object, "uri") != NULL;
	return str_eq(key, "data") && (has_type(object, "image") || has_type(object, "audio"));
}

/* Adds the member under its new name. Returns false if the old name holds no secret. */
static bool rename_member(json_t *object, const char *key, json_t *value,
			  struct redact_stream *stream)
{
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);

	if (!redact_text(stream, key, strlen(key), &name))
		return false;
	json_put(object, buf_str(&name), json_incref(value));
	return true;
}

static void redact_object(json_t *object, struct redact_stream *stream)
{
	cleanup_json json_t *renamed = json_object();
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, key, value)
	{
		if (!is_bytes(object, key))
			redact_value(value, stream);
		if (rename_member(renamed, key, value, stream))
			(void)json_object_del(object, key);
	}
	(void)json_object_update(object, renamed);
}

static void redact_value(json_t *value, struct redact_stream *stream)
{
	json_t *item;
	size_t i;

	if (json_is_string(value))
		redact_text_value(value, stream);
	if (json_is_object(value))
		redact_object(value, stream);
	json_array_foreach (value, i, item)
		redact_value(item, stream);
}

void redact_json(json_t *value, const struct redact *redact)
{
	struct redact_stream *stream;

	if (redact == NULL || value == NULL)
		return;
	stream = redact_stream_new(redact);
	redact_value(value, stream);
	redact_stream_free(stream);
}
