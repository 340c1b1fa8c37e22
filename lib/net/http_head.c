/* SPDX-License-Identifier: MIT */
/*
 * http_head.c - a strict parser that keeps pointers into the head. Each request is checked against
 * the list by its URL, so a Host that names another server is refused: a front would otherwise
 * forward it there. Fields of one hop, and those that Connection names, are removed (RFC 9110
 * 7.6.1).
 */
#include "net/http_head.h"

#include <string.h>
#include <strings.h>

static const char scheme[] = "http://";

enum { HTTP_PORT = 80, METHOD_MAX = 32, LENGTH_DIGITS_MAX = 18 };

/* Fields for one hop only, besides those that Connection names (RFC 9110 7.6.1). */
static const char *const hop_fields[] = {
	"connection",         "proxy-connection",    "keep-alive",     "te", "trailer", "upgrade",
	"proxy-authenticate", "proxy-authorization", "http2-settings",
};

size_t http_head_len(const char *data, size_t len)
{
	const char *end = len > 0 ? memmem(data, len, "\r\n\r\n", 4) : NULL;

	return end != NULL ? (size_t)(end - data) + 4 : 0;
}

/* ---- small pieces ---- */

static bool text_is(struct http_head_text text, const char *word)
{
	return text.len == strlen(word) && strncasecmp(text.data, word, text.len) == 0;
}

static bool is_token_char(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_token(struct http_head_text text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!is_token_char((unsigned char)text.data[i]))
			return false;
	return text.len > 0;
}

/* Splits at `stop`, which is removed. Returns false if there is none. */
static bool split_at(struct http_head_text *rest, char stop, struct http_head_text *ret_part)
{
	const char *end = memchr(rest->data, stop, rest->len);

	if (end == NULL)
		return false;
	*ret_part = (struct http_head_text){ rest->data, (size_t)(end - rest->data) };
	rest->len -= ret_part->len + 1;
	rest->data = end + 1;
	return true;
}

static struct http_head_text trim_text(struct http_head_text text)
{
	for (; text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t'); text.len--)
		text.data++;
	while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
		text.len--;
	return text;
}

/* Takes a line without its CR LF. */
static int take_line(struct http_head_text *rest, struct http_head_text *ret_line, struct err *err)
{
	if (!split_at(rest, '\n', ret_line) || ret_line->len == 0 ||
	    ret_line->data[ret_line->len - 1] != '\r')
		return err_set(err, ERR_INVALID, "a line of the head does not end in CR LF");
	ret_line->len--;
	for (size_t i = 0; i < ret_line->len; i++) {
		unsigned char c = (unsigned char)ret_line->data[i];

		if ((c < ' ' && c != '\t') || c == 0x7f)
			return err_set(err, ERR_INVALID, "the head has a control character");
	}
	return 0;
}

static int take_fields(struct http_head_text *rest, struct http_head_fields *ret_fields,
		       struct err *err)
{
	ret_fields->count = 0;
	for (;;) {
		struct http_head_text line;
		struct http_head_field field;

		if (take_line(rest, &line, err) < 0)
			return -1;
		if (line.len == 0)
			return 0;
		if (!split_at(&line, ':', &field.name) || !is_token(field.name))
			return err_set(err, ERR_INVALID, "a field of the head has no proper name");
		if (ret_fields->count == HTTP_HEAD_FIELDS_MAX)
			return err_set(err, ERR_LIMIT, "the head has more than %d fields",
				       HTTP_HEAD_FIELDS_MAX);
		field.value = trim_text(line);
		ret_fields->items[ret_fields->count++] = field;
	}
}

/* Returns how many fields have this name, and sets the last one's value. */
static size_t find_field(const struct http_head_fields *fields, const char *name,
			 struct http_head_text *ret_value)
{
	size_t count = 0;

	for (size_t i = 0; i < fields->count; i++) {
		if (!text_is(fields->items[i].name, name))
			continue;
		*ret_value = fields->items[i].value;
		count++;
	}
	return count;
}

/* ---- requests ---- */

static int parse_version(struct http_head_text version, int *ret_minor, struct err *err)
{
	if (version.len != 8 || memcmp(version.data, "HTTP/1.", 7) != 0 ||
	    (version.data[7] != '0' && version.data[7] != '1'))
		return err_set(err, ERR_INVALID, "only HTTP/1.0 and HTTP/1.1 are spoken here");
	*ret_minor = version.data[7] - '0';
	return 0;
}

static int check_target(struct http_head_text target, struct err *err)
{
	for (size_t i = 0; i < target.len; i++) {
		unsigned char c = (unsigned char)target.data[i];

		if (c <= ' ' || c >= 0x7f || c == '#' || c == '\\')
			return err_set(err, ERR_INVALID,
				       "the URL has a character that must be written as %%xx");
	}
	return 0;
}

static int parse_url(struct http_head_text target, struct http_head_request *request,
		     struct err *err)
{
	size_t scheme_len = strlen(scheme);
	size_t authority_len;

	if (target.len > 8 && strncasecmp(target.data, "https://", 8) == 0)
		return err_set(err, ERR_INVALID, "https needs CONNECT");
	if (target.len < scheme_len || strncasecmp(target.data, scheme, scheme_len) != 0)
		return err_set(err, ERR_INVALID,
			       "this is a proxy: it takes CONNECT and whole http:// URLs");
	target.data += scheme_len;
	target.len -= scheme_len;
	for (authority_len = 0; authority_len < target.len; authority_len++)
		if (target.data[authority_len] == '/' || target.data[authority_len] == '?')
			break;
	request->path =
		(struct http_head_text){ target.data + authority_len, target.len - authority_len };
	return host_parse_authority(target.data, authority_len, HTTP_PORT, &request->to, err);
}

/*
 * Parses the first line. `tunnel` is the host of the tunnel that the request came through; NULL for
 * none.
 */
static int parse_request_line(struct http_head_text line, const struct host_port *tunnel,
			      struct http_head_request *request, struct err *err)
{
	struct http_head_text target;

	if (!split_at(&line, ' ', &request->method) || !split_at(&line, ' ', &target) ||
	    !is_token(request->method) || request->method.len > METHOD_MAX)
		return err_set(err, ERR_INVALID, "the request's first line is not one of HTTP");
	if (parse_version(line, &request->minor, err) < 0 || check_target(target, err) < 0)
		return -1;
	request->connect =
		request->method.len == 7 && memcmp(request->method.data, "CONNECT", 7) == 0;
	if (tunnel != NULL) {
		request->to = *tunnel;
		request->path = target;
		if (request->connect)
			return err_set(err, ERR_INVALID, "a tunnel in a tunnel is not made");
		if (target.len == 0 || target.data[0] != '/')
			return err_set(err, ERR_INVALID, "a request in a tunnel names a path");
		return 0;
	}
	if (!request->connect)
		return parse_url(target, request, err);
	request->path = (struct http_head_text){ "", 0 };
	return host_parse_authority(target.data, target.len, 0, &request->to, err);
}

/* Checks that the Host of a request is its target. */
static int check_host(const struct http_head_request *request, struct err *err)
{
	struct http_head_text value = { "", 0 };
	struct host_port named;
	size_t count = find_field(&request->fields, "host", &value);

	if (count > 1)
		return err_set(err, ERR_INVALID, "the request has more than one Host");
	if (count == 0 && request->minor > 0)
		return err_set(err, ERR_INVALID, "the request has no Host");
	if (count == 0)
		return 0;
	if (host_parse_authority(value.data, value.len,
				 request->connect ? request->to.port : HTTP_PORT, &named, err) < 0)
		return err_wrap(err, "Host");
	if (!str_eq(named.host, request->to.host) || named.port != request->to.port)
		return err_set(err, ERR_INVALID,
			       "the request's Host is another one than that of its URL");
	return 0;
}

static int parse_length(struct http_head_text value, uint64_t *ret_len, struct err *err)
{
	uint64_t len = 0;

	if (value.len == 0 || value.len > LENGTH_DIGITS_MAX)
		return err_set(err, ERR_INVALID, "Content-Length is not a number");
	for (size_t i = 0; i < value.len; i++) {
		if (value.data[i] < '0' || value.data[i] > '9')
			return err_set(err, ERR_INVALID, "Content-Length is not a number");
		len = len * 10 + (uint64_t)(value.data[i] - '0');
	}
	*ret_len = len;
	return 0;
}

static int parse_body(struct http_head_request *request, struct err *err)
{
	struct http_head_text length = { "", 0 };
	struct http_head_text coding = { "", 0 };
	size_t lengths = find_field(&request->fields, "content-length", &length);
	size_t codings = find_field(&request->fields, "transfer-encoding", &coding);

	request->body = HTTP_BODY_NONE;
	if (lengths + codings > 1)
		return err_set(err, ERR_INVALID, "the request tells the length of its body twice");
	if (codings == 1 && (request->minor == 0 || !text_is(coding, "chunked")))
		return err_set(err, ERR_UNSUPPORTED,
			       "the only Transfer-Encoding is chunked, of HTTP/1.1");
	if (codings == 1)
		request->body = HTTP_BODY_CHUNKED;
	if (lengths == 1) {
		request->body = HTTP_BODY_LENGTH;
		if (parse_length(length, &request->body_len, err) < 0)
			return -1;
	}
	if (request->connect && (codings == 1 || request->body_len > 0))
		return err_set(err, ERR_INVALID, "CONNECT has no body");
	return 0;
}

static int parse_request(struct http_head_text rest, const struct host_port *tunnel,
			 struct http_head_request *ret_request, struct err *err)
{
	struct http_head_text line;

	*ret_request = (struct http_head_request){ .connect = false };
	if (take_line(&rest, &line, err) < 0 ||
	    parse_request_line(line, tunnel, ret_request, err) < 0 ||
	    take_fields(&rest, &ret_request->fields, err) < 0 || check_host(ret_request, err) < 0)
		return -1;
	return parse_body(ret_request, err);
}

int http_head_parse_request(const char *data, size_t len, struct http_head_request *ret_request,
			    struct err *err)
{
	return parse_request((struct http_head_text){ data, len }, NULL, ret_request, err);
}

int http_head_parse_tunnelled(const char *data, size_t len, const struct host_port *to,
			      struct http_head_request *ret_request, struct err *err)
{
	return parse_request((struct http_head_text){ data, len }, to, ret_request, err);
}

/* ---- responses ---- */

int http_head_parse_response(const char *data, size_t len, struct http_head_response *ret_response,
			     struct err *err)
{
	struct http_head_text rest = { data, len };
	struct http_head_text line;
	struct http_head_text version;
	int minor;

	if (take_line(&rest, &line, err) < 0)
		return -1;
	ret_response->line = line;
	if (!split_at(&line, ' ', &version) || parse_version(version, &minor, err) < 0 ||
	    line.len < 3 || (line.len > 3 && line.data[3] != ' '))
		return err_set(err, ERR_INVALID, "the answer is not one of HTTP/1");
	ret_response->status = 0;
	for (size_t i = 0; i < 3; i++) {
		if (line.data[i] < '0' || line.data[i] > '9')
			return err_set(err, ERR_INVALID, "the answer is not one of HTTP/1");
		ret_response->status = ret_response->status * 10 + (line.data[i] - '0');
	}
	return take_fields(&rest, &ret_response->fields, err);
}

/* ---- writing ---- */

/* Returns whether `name` is one of the comma-separated words of `list`. */
static bool has_word(struct http_head_text list, struct http_head_text name)
{
	while (list.len > 0) {
		struct http_head_text word;

		if (!split_at(&list, ',', &word)) {
			word = list;
			list.len = 0;
		}
		word = trim_text(word);
		if (word.len == name.len && strncasecmp(word.data, name.data, name.len) == 0)
			return true;
	}
	return false;
}

/* Returns whether a Connection field names it. */
static bool is_named(const struct http_head_fields *fields, struct http_head_text name)
{
	for (size_t i = 0; i < fields->count; i++)
		if (text_is(fields->items[i].name, "connection") &&
		    has_word(fields->items[i].value, name))
			return true;
	return false;
}

static bool is_for_one_hop(const struct http_head_fields *fields, struct http_head_text name)
{
	for (size_t i = 0; i < ARRAY_SIZE(hop_fields); i++)
		if (text_is(name, hop_fields[i]))
			return true;
	return is_named(fields, name);
}

static void put_text(struct buf *out, struct http_head_text text)
{
	buf_put(out, text.data, text.len);
}

static void put_field(struct buf *out, const struct http_head_field *field)
{
	put_text(out, field->name);
	buf_puts(out, ": ");
	put_text(out, field->value);
	buf_puts(out, "\r\n");
}

static void put_fields(struct buf *out, const struct http_head_fields *fields, bool framing)
{
	for (size_t i = 0; i < fields->count; i++) {
		const struct http_head_field *field = &fields->items[i];
		bool is_framing = text_is(field->name, "content-length") ||
				  text_is(field->name, "transfer-encoding");

		if (is_framing ? framing : !is_for_one_hop(fields, field->name))
			put_field(out, field);
	}
}

void http_head_write_request(const struct http_head_request *request, bool absolute,
			     const char *authorization, struct buf *out)
{
	struct http_head_fields others = { .count = 0 };

	for (size_t i = 0; i < request->fields.count; i++)
		if (!text_is(request->fields.items[i].name, "host"))
			others.items[others.count++] = request->fields.items[i];
	put_text(out, request->method);
	buf_puts(out, " ");
	if (absolute)
		buf_putf(out, "http://%s:%u", request->to.host, request->to.port);
	if (request->path.len == 0 || request->path.data[0] != '/')
		buf_puts(out, "/");
	put_text(out, request->path);
	buf_putf(out, " HTTP/1.%d\r\nHost: %s", request->minor, request->to.host);
	if (request->to.port != HTTP_PORT)
		buf_putf(out, ":%u", request->to.port);
	buf_puts(out, "\r\n");
	put_fields(out, &others, false);
	if (request->body == HTTP_BODY_LENGTH)
		buf_putf(out, "Content-Length: %ju\r\n", (uintmax_t)request->body_len);
	if (request->body == HTTP_BODY_CHUNKED)
		buf_puts(out, "Transfer-Encoding: chunked\r\n");
	if (authorization != NULL)
		buf_putf(out, "Proxy-Authorization: %s\r\n", authorization);
	buf_puts(out, "Connection: close\r\n\r\n");
}

void http_head_write_response(const struct http_head_response *response, struct buf *out)
{
	put_text(out, response->line);
	buf_puts(out, "\r\n");
	put_fields(out, &response->fields, true);
	if (response->status >= 200)
		buf_puts(out, "Connection: close\r\n");
	buf_puts(out, "\r\n");
}
