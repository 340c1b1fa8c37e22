/* SPDX-License-Identifier: MIT */
/*
 * reply.c - takes the helper's output apart, line by line, as untrusted data. It is strict: one
 * member a line, one final line, known error codes only. A violation ends the reply, because a
 * helper that breaks the protocol may be under an attacker's control.
 */
#include "helper/reply.h"

#include <string.h>

#include "json/make.h"
#include "json/parse.h"

void reply_init(struct reply *reply, void (*progress)(struct reply *reply, const json_t *progress))
{
	memset(reply, 0, sizeof(*reply));
	buf_init(&reply->line, REPLY_LINE_MAX);
	reply->progress = progress;
}

void reply_release(struct reply *reply)
{
	buf_release(&reply->line);
	json_decref(reply->result);
	reply->result = NULL;
}

bool reply_complete(const struct reply *reply)
{
	return reply->failed || reply->result != NULL;
}

static enum err_code find_code(const char *name)
{
	for (int code = ERR_INVALID; code <= ERR_INTERNAL; code++)
		if (str_eq(name, err_code_name((enum err_code)code)))
			return (enum err_code)code;
	return ERR_NONE;
}

static int take_error(struct reply *reply, const json_t *error)
{
	const char *code = json_string_value(json_object_get(error, "code"));
	const char *message = json_string_value(json_object_get(error, "message"));
	enum err_code known = code == NULL ? ERR_NONE : find_code(code);

	if (known == ERR_NONE || message == NULL)
		return -1;
	(void)err_set(&reply->error, known, "%s", message);
	reply->failed = true;
	return 0;
}

static int take_value(struct reply *reply, json_t *value)
{
	json_t *progress = json_object_get(value, "progress");
	json_t *result = json_object_get(value, "result");
	json_t *error = json_object_get(value, "error");

	if (json_object_size(value) != 1 || reply_complete(reply))
		return -1;
	if (json_is_object(progress)) {
		if (reply->progress != NULL)
			reply->progress(reply, progress);
		return 0;
	}
	if (json_is_object(result)) {
		reply->result = json_incref(result);
		return 0;
	}
	return error == NULL ? -1 : take_error(reply, error);
}

static int take_line(struct reply *reply, struct err *err)
{
	cleanup_json json_t *value = json_parse(buf_str(&reply->line), reply->line.len, err);

	buf_clear(&reply->line);
	if (value != NULL && take_value(reply, value) == 0)
		return 0;
	return err_set(err, ERR_INTERNAL, "a helper program's answer is malformed");
}

static int feed_lines(struct reply *reply, const char *data, size_t len, struct err *err)
{
	if (len > REPLY_TOTAL_MAX - reply->total)
		return err_set(err, ERR_LIMIT, "a helper program's answer is too long");
	reply->total += len;
	while (len > 0) {
		const char *end = memchr(data, '\n', len);
		size_t part = end == NULL ? len : (size_t)(end - data);

		if (buf_add(&reply->line, data, part, err) < 0)
			return err_wrap(err, "a line of a helper program's answer");
		if (end == NULL)
			return 0;
		if (take_line(reply, err) < 0)
			return -1;
		data += part + 1;
		len -= part + 1;
	}
	return 0;
}

int reply_feed(struct reply *reply, const char *data, size_t len, struct err *err)
{
	if (reply->broken)
		return err_set(err, ERR_INTERNAL, "a helper program's answer is malformed");
	if (feed_lines(reply, data, len, err) == 0)
		return 0;
	reply->broken = true;
	return -1;
}
