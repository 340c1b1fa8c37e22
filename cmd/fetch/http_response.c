/* SPDX-License-Identifier: MIT */
/*
 * http_response.c - reads heads line by line. libcurl delivers header lines one by one, also those
 * of interim and proxy responses. A status line starts a new head, so only the last one counts, but
 * their bytes count together against the limit.
 */
#include "http_response.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/chars.h"
#include "base/mem.h"
#include "base/util.h"

enum { FIELD_MAX = 8192 };

void http_response_init(struct http_response *response)
{
	*response = (struct http_response){ .status = 0 };
}

void http_response_release(struct http_response *response)
{
	free(response->location);
	free(response->disposition);
	free(response->type);
	free(response->coding);
	http_response_init(response);
}

static void begin_head(struct http_response *response, const char *line, size_t len)
{
	size_t head_bytes = response->head_bytes;
	const char *blank = memchr(line, ' ', len);

	http_response_release(response);
	response->head_bytes = head_bytes;
	if (blank != NULL && line + len - blank > 3)
		response->status = (int)strtol(blank + 1, NULL, 10);
}

/* Returns the value if `line` is a field of this name, else NULL. The caller frees it. */
static char *field_value(const char *line, size_t len, const char *name)
{
	size_t name_len = strlen(name);

	if (len <= name_len || line[name_len] != ':' || strncasecmp(line, name, name_len) != 0)
		return NULL;
	line += name_len + 1;
	len -= name_len + 1;
	while (len > 0 && char_is_blank(line[0])) {
		line++;
		len--;
	}
	while (len > 0 && char_is_blank(line[len - 1]))
		len--;
	if (len > FIELD_MAX || memchr(line, '\0', len) != NULL)
		return NULL;
	return xmemdup(line, len);
}

static void take_text(char **ret, const char *line, size_t len, const char *name)
{
	char *value = field_value(line, len, name);

	if (value == NULL)
		return;
	free(*ret);
	*ret = value;
}

static void take_length(struct http_response *response, const char *line, size_t len)
{
	cleanup_free char *value = field_value(line, len, "Content-Length");
	char *end;

	if (value == NULL || value[0] < '0' || value[0] > '9')
		return;
	response->length = strtoull(value, &end, 10);
	response->has_length = *end == '\0';
}

static void take_encoding(struct http_response *response, const char *line, size_t len)
{
	cleanup_free char *value = field_value(line, len, "Content-Encoding");

	if (value == NULL || value[0] == '\0' || strcasecmp(value, "identity") == 0)
		return;
	if (response->coding != NULL) { /* fields of one name form one list */
		char *both = xasprintf("%s, %s", response->coding, value);

		free(value);
		value = both;
	}
	free(response->coding);
	response->coding = value;
	value = NULL;
}

int http_response_take_line(struct http_response *response, const char *line, size_t len,
			    struct err *err)
{
	response->head_bytes += len;
	if (response->head_bytes > HTTP_RESPONSE_HEAD_MAX)
		return err_set(err, ERR_LIMIT, "the head of the answer has more than %d KB",
			       HTTP_RESPONSE_HEAD_MAX / 1024);
	if (response->complete) /* trailers carry nothing of interest */
		return 0;
	if (len >= 5 && strncasecmp(line, "HTTP/", 5) == 0) {
		begin_head(response, line, len);
		return 0;
	}
	if (len == 0 || line[0] == '\r' || line[0] == '\n') {
		response->complete = response->status >= 200;
		return 0;
	}
	take_text(&response->location, line, len, "Location");
	take_text(&response->disposition, line, len, "Content-Disposition");
	take_text(&response->type, line, len, "Content-Type");
	take_length(response, line, len);
	take_encoding(response, line, len);
	return 0;
}

struct row {
	int status;
	enum err_code code;
	const char *text;
};

/* Advice for the statuses that users meet. */
static const struct row rows[] = {
	{ 204, ERR_NOT_FOUND, "it has no content" },
	{ 205, ERR_NOT_FOUND, "it has no content" },
	{ 206, ERR_INVALID, "only a part of the file" },
	{ 304, ERR_INVALID, "not modified, without being asked" },
	{ 401, ERR_DENIED,
	  "the server wants a login; a link that needs none, or the file itself, is needed" },
	{ 403, ERR_DENIED, "the server does not give it out; the link may have expired" },
	{ 404, ERR_NOT_FOUND, "there is no such file; check the link" },
	{ 407, ERR_DENIED, "the proxy wants a login" },
	{ 408, ERR_TIMEOUT, "the server waited too long; try again" },
	{ 410, ERR_NOT_FOUND, "the file is gone" },
	{ 429, ERR_BUSY, "the server was asked too often; try again later" },
	{ 451, ERR_DENIED, "it is withheld for legal reasons" },
	{ 500, ERR_SYSTEM, "the server failed; try again later" },
	{ 502, ERR_SYSTEM, "a server behind it failed; try again later" },
	{ 503, ERR_BUSY, "the server is overloaded or down; try again later" },
	{ 504, ERR_TIMEOUT, "a server behind it does not answer; try again later" },
};

int http_response_check_status(const struct http_response *response, struct err *err)
{
	int status = response->status;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].status == status)
			return err_set(err, rows[i].code, "HTTP %d: %s", status, rows[i].text);
	if (status >= 200 && status < 300)
		return 0;
	if (status >= 300 && status < 400)
		return err_set(err, ERR_INVALID, "HTTP %d: a redirect that leads nowhere", status);
	if (status >= 400 && status < 500)
		return err_set(err, ERR_DENIED, "HTTP %d: the server refuses", status);
	return err_set(err, ERR_SYSTEM, "HTTP %d: the server failed", status);
}

bool http_response_redirects(const struct http_response *response)
{
	int status = response->status;

	return response->location != NULL &&
	       (status == 301 || status == 302 || status == 303 || status == 307 || status == 308);
}
