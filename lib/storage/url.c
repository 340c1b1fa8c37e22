/* SPDX-License-Identifier: MIT */
#include "storage/url.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "text/percent.h"

#define HTTPS "https://"
#define HTTP "http://"
#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* Behind the scheme; NULL when it is neither. */
static const char *behind_scheme(const char *url)
{
	if (strncasecmp(url, HTTPS, strlen(HTTPS)) == 0)
		return url + strlen(HTTPS);
	if (strncasecmp(url, HTTP, strlen(HTTP)) == 0)
		return url + strlen(HTTP);
	return NULL;
}

bool url_base_valid(const char *url)
{
	const char *host = behind_scheme(url);
	size_t len = host == NULL ? 0 : strcspn(host, "/");

	return len > 0 && host[0] != ':' && strspn(host, WORD ".-_:[]") == len &&
	       host[len + strspn(host + len, WORD ".-_~/%")] == '\0';
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
