/* SPDX-License-Identifier: MIT */
/*
 * content.c - reads the query of a resource's URI, and ends a read with a text or a blob.
 *
 * An answer is one line of the transport, of less than 1,000,000 bytes. A part is read with up to
 * CONTENT_AROUND bytes on either side, so that a character cut by a border can be recognised: it
 * belongs to the part in which it begins.
 */
#include "resources/content.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/make.h"
#include "json/write.h"
#include "mcp/server.h"
#include "resources/resources.h"
#include "text/base64.h"
#include "text/utf8.h"

enum {
	CODE_INVALID_PARAMS = -32602, /* JSON-RPC 2.0 */
	RESOURCE_TEXT_MAX = 900000,   /* bytes of a text in JSON; a line has less than 1,000,000 */
	GROWTH_MAX = 6,               /* the most bytes that JSON needs for one byte of text */
};

/* ---- queries ---- */

struct uri_query {
	uint64_t offset;
	uint64_t length; /* 0: not given */
	char language[32];
};

static bool parse_number(const char **p, uint64_t *ret)
{
	char *end;

	if (**p < '0' || **p > '9')
		return false;
	errno = 0;
	*ret = strtoull(*p, &end, 10);
	*p = end;
	return errno == 0;
}

static bool parse_word(const char **p, char *word, size_t size)
{
	size_t len = strspn(*p, "abcdefghijklmnopqrstuvwxyz");

	if (len == 0 || len >= size)
		return false;
	memcpy(word, *p, len);
	word[len] = '\0';
	*p += len;
	return true;
}

static bool parse_member(const char **p, struct uri_query *query)
{
	if (strncmp(*p, "language=", 9) == 0) {
		*p += 9;
		return parse_word(p, query->language, sizeof(query->language));
	}
	if (strncmp(*p, "offset=", 7) != 0 && strncmp(*p, "length=", 7) != 0)
		return false;
	*p += 7;
	return parse_number(p, (*p)[-7] == 'o' ? &query->offset : &query->length);
}

static int parse_query(const char *text, struct uri_query *query, struct err *err)
{
	const char *p = text;

	*query = (struct uri_query){ .offset = 0 };
	while (*p != '\0') {
		if ((*p != '?' && *p != '&') || (*p == '?') != (p == text))
			return err_set(err, ERR_INVALID, "the query does not begin with ?");
		p++;
		if (!parse_member(&p, query) || (*p != '&' && *p != '\0'))
			return err_set(err, ERR_INVALID,
				       "after the path only ?offset=BYTES&length=BYTES may stand, "
				       "and language=NAME for a script");
	}
	return 0;
}

int content_language(struct content_range *ret_range, const char *query, struct err *err)
{
	struct uri_query parsed;

	if (parse_query(query, &parsed, err) < 0)
		return -1;
	memcpy(ret_range->language, parsed.language, sizeof(parsed.language));
	return 0;
}

static void set_range(struct content_range *range, uint64_t offset, size_t part, uint64_t size)
{
	uint64_t from = size < offset ? size : offset;
	uint64_t behind = size - from - part;

	range->before = from < CONTENT_AROUND ? (size_t)from : CONTENT_AROUND;
	range->offset = from - range->before;
	range->part = part;
	range->len =
		range->before + part + (behind < CONTENT_AROUND ? (size_t)behind : CONTENT_AROUND);
}

int content_range(struct content_range *ret_range, const char *query, const char *what,
		  uint64_t size, struct err *err)
{
	struct uri_query parsed;
	uint64_t left;

	if (parse_query(query, &parsed, err) < 0)
		return -1;
	left = size > parsed.offset ? size - parsed.offset : 0;
	if (parsed.length > 0 && parsed.length < left)
		left = parsed.length;
	if (left > RESOURCES_INLINE_MAX)
		return err_set(err, ERR_LIMIT,
			       "the %s has %ju bytes and one answer takes %d: add "
			       "?offset=0&length=%d and read it in ranges",
			       what, (uintmax_t)size, RESOURCES_INLINE_MAX, RESOURCES_INLINE_MAX);
	set_range(ret_range, parsed.offset, (size_t)left, size);
	memcpy(ret_range->language, parsed.language, sizeof(parsed.language));
	return 0;
}

void content_take(struct buf *out, const struct content_range *range, const struct buf *data,
		  bool is_text)
{
	size_t from = size_min(range->before, data->len);
	size_t to = size_min(range->before + range->part, data->len);

	if (is_text) {
		from = utf8_border(buf_str(data), data->len, from);
		to = utf8_border(buf_str(data), data->len, to);
	}
	if (to > from)
		buf_put(out, buf_str(data) + from, to - from);
}

/* ---- answers ---- */

static void finish_with(struct mcp_call *call, const char *uri, const char *mime, const char *key,
			json_t *value_own)
{
	json_t *result = json_object();
	json_t *contents = json_array();
	json_t *content = json_object();

	json_put_str(content, "uri", uri);
	json_put_str(content, "mimeType", mime);
	json_put(content, key, value_own);
	json_append(contents, content);
	json_put(result, "contents", contents);
	mcp_call_finish_result(call, result);
}

void content_finish_base64(struct mcp_call *call, const char *uri, const char *mime,
			   const struct buf *base64)
{
	finish_with(call, uri, mime, "blob", json_make_text(buf_str(base64), base64->len));
}

/* Escapes make a text longer. Base64 of the same bytes always fits a line. */
static bool fits_as_text(const json_t *text)
{
	cleanup_free char *written = NULL;

	if (json_string_length(text) * GROWTH_MAX <= RESOURCE_TEXT_MAX)
		return true;
	written = json_write_text(text);
	return strlen(written) <= RESOURCE_TEXT_MAX;
}

void content_finish(struct mcp_call *call, const char *uri, const char *mime,
		    const struct buf *data, bool may_be_text)
{
	cleanup_buf struct buf encoded = BUF_INIT(BUF_UNBOUNDED);

	if (may_be_text && utf8_valid(buf_str(data), data->len)) {
		json_t *text = json_make_text(buf_str(data), data->len);

		if (fits_as_text(text)) {
			finish_with(call, uri, mime, "text", text);
			return;
		}
		json_decref(text);
	}
	base64_encode(&encoded, buf_str(data), data->len);
	content_finish_base64(call, uri, mime, &encoded);
}

void content_finish_json(struct mcp_call *call, const char *uri, json_t *value_own)
{
	cleanup_free char *text = json_write_text(value_own);
	cleanup_buf struct buf data = BUF_INIT(BUF_UNBOUNDED);

	buf_puts(&data, text);
	json_decref(value_own);
	content_finish(call, uri, "application/json", &data, true);
}

void content_refuse(struct mcp_call *call, const char *uri, const struct err *err)
{
	if (err->code == ERR_NOT_FOUND)
		mcp_call_refuse_unknown_resource(call, uri);
	else if (err->code == ERR_DENIED)
		mcp_call_refuse_resource(call, uri, err->msg);
	else
		mcp_call_refuse(call, CODE_INVALID_PARAMS, err->msg, NULL);
}
