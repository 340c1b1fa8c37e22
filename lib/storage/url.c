/* SPDX-License-Identifier: MIT */
/*
 * url.c - checks and splits URLs that the user set. A URL that is not plain is refused instead of
 * escaped, because it becomes part of a signed string.
 */
#include "storage/url.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "text/percent.h"

#define HTTPS "https://"
#define HTTP "http://"
#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

enum { PORT_LEN = 5 };

/* Returns the text behind the scheme; NULL if it is neither. */
static const char *behind_scheme(const char *url)
{
	if (strncasecmp(url, HTTPS, strlen(HTTPS)) == 0)
		return url + strlen(HTTPS);
	if (strncasecmp(url, HTTP, strlen(HTTP)) == 0)
		return url + strlen(HTTP);
	return NULL;
}

/* Returns the length of a name, or of an IPv6 address in brackets; 0 if it is neither. */
static size_t host_len(const char *host)
{
	size_t len = host[0] == '[' ? 1 + strspn(host + 1, "0123456789abcdefABCDEF:.") : 0;

	if (len > 0)
		return host[len] == ']' ? len + 1 : 0;
	return strspn(host, WORD ".-_");
}

bool url_base_valid(const char *url)
{
	const char *rest = behind_scheme(url);
	size_t len = rest == NULL ? 0 : host_len(rest);

	if (len == 0)
		return false;
	rest += len;
	if (*rest == ':') {
		len = strspn(++rest, "0123456789");
		if (len == 0 || len > PORT_LEN)
			return false;
		rest += len;
	}
	return *rest == '\0' || (*rest == '/' && rest[strspn(rest, WORD ".-_~/%")] == '\0');
}

bool url_query_valid(const char *query)
{
	return *query != '\0' && query[strspn(query, WORD "-._~%!$&'()*+,;=:@/?")] == '\0';
}

void url_trim(char *url)
{
	size_t len = strlen(url);

	while (len > 0 && url[len - 1] == '/')
		url[--len] = '\0';
}

bool url_is_https(const char *url)
{
	return strncasecmp(url, HTTPS, strlen(HTTPS)) == 0;
}

const char *url_path(const char *url)
{
	const char *host = behind_scheme(url);

	return host == NULL ? "" : host + strcspn(host, "/");
}

char *url_host(const char *url)
{
	const char *host = behind_scheme(url);

	return host == NULL ? xstrdup("") : xmemdup(host, strcspn(host, "/"));
}

void url_encode(struct buf *out, const char *value)
{
	cleanup_free char *encoded = percent_encode(value);

	for (const char *c = encoded; *c != '\0'; c++) {
		if (*c == '/')
			buf_puts(out, "%2F");
		else
			buf_put(out, c, 1);
	}
}
