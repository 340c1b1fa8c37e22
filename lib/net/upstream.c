/* SPDX-License-Identifier: MIT */
/*
 * upstream.c - finds and parses the user's proxy settings. The precedence of names and cases is
 * curl's, so that ptycell uses the proxy that the user's other tools use. HTTP_PROXY is not read
 * (CVE-2016-5385, "httpoxy").
 */
#include "net/upstream.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "net/host.h"
#include "text/percent.h"

static const char separators[] = ", \t\r\n";

/* Returns the value of the first of these variables that has one. */
static const char *find_value(char *const *environment, const char *const *names)
{
	for (; *names != NULL; names++) {
		size_t len = strlen(*names);

		for (size_t i = 0; environment[i] != NULL; i++)
			if (strncmp(environment[i], *names, len) == 0 &&
			    environment[i][len] == '=' && environment[i][len + 1] != '\0')
				return environment[i] + len + 1;
	}
	return NULL;
}

void upstream_find(char *const *environment, struct upstream_variables *ret_variables)
{
	/* As in curl: HTTP_PROXY may come from a request, where a web server starts us. */
	static const char *const https[] = { "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
					     NULL };
	static const char *const http[] = { "http_proxy", "all_proxy", "ALL_PROXY", NULL };
	static const char *const except[] = { "no_proxy", "NO_PROXY", NULL };
	static const char *const authorities[] = { "CURL_CA_BUNDLE", "SSL_CERT_FILE", NULL };

	ret_variables->https_proxy = find_value(environment, https);
	ret_variables->http_proxy = find_value(environment, http);
	ret_variables->no_proxy = find_value(environment, except);
	ret_variables->authorities = find_value(environment, authorities);
}

/* Percent-decodes into `user`. A value that is too long or holds a control character is refused. */
static int take_user(const char *text, size_t len, struct upstream *upstream, struct err *err)
{
	cleanup_free char *user = percent_decode(text, len);

	if (user == NULL || strlen(user) > UPSTREAM_USER_MAX)
		return err_set(err, ERR_INVALID, "its user and password are not usable");
	for (const char *c = user; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return err_set(err, ERR_INVALID, "its user and password are not usable");
	memcpy(upstream->user, user, strlen(user) + 1);
	return 0;
}

static int take_host(const char *text, size_t len, struct upstream *upstream, struct err *err)
{
	if (len == 0 || len > UPSTREAM_HOST_MAX)
		return err_set(err, ERR_INVALID, "it names no host");
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] >= 0x7f)
			return err_set(err, ERR_INVALID, "its host is not usable");
	memcpy(upstream->host, text, len);
	upstream->host[len] = '\0';
	return 0;
}

static int take_authority(const char *text, size_t len, struct upstream *upstream, struct err *err)
{
	const char *colon = memrchr(text, ':', len);
	size_t host_len;

	if (colon == NULL || (len > 0 && text[len - 1] == ']'))
		return err_set(err, ERR_INVALID, "it names no port");
	host_len = (size_t)(colon - text);
	if (host_parse_port(colon + 1, len - host_len - 1, &upstream->port, err) < 0)
		return -1;
	if (host_len > 2 && text[0] == '[' && text[host_len - 1] == ']')
		return take_host(text + 1, host_len - 2, upstream, err);
	return take_host(text, host_len, upstream, err);
}

int upstream_parse(const char *url, struct upstream *ret_upstream, struct err *err)
{
	struct upstream upstream = { .port = 0 };
	const char *scheme_end = strstr(url, "://");
	const char *at;
	size_t len;

	if (scheme_end != NULL && (scheme_end - url != 4 || strncasecmp(url, "http", 4) != 0))
		return err_set(err, ERR_UNSUPPORTED, "only http:// proxies can be used");
	if (scheme_end != NULL)
		url = scheme_end + 3;
	len = strcspn(url, "/?#");
	at = memrchr(url, '@', len);
	if (at != NULL) {
		if (take_user(url, (size_t)(at - url), &upstream, err) < 0)
			return -1;
		len -= (size_t)(at + 1 - url);
		url = at + 1;
	}
	if (take_authority(url, len, &upstream, err) < 0)
		return -1;
	*ret_upstream = upstream;
	return 0;
}

bool upstream_excepted(const char *no_proxy, const char *host)
{
	char name[HOST_MAX + 1];
	struct err err;

	for (;;) {
		size_t len;
		size_t skip = 0;

		no_proxy += strspn(no_proxy, separators);
		if (*no_proxy == '\0')
			return false;
		len = strcspn(no_proxy, separators);
		if (len == 1 && *no_proxy == '*')
			return true;
		if (no_proxy[0] == '*')
			skip++;
		if (no_proxy[skip] == '.')
			skip++;
		/* An entry that is no name (an address, a network) excepts no name. */
		if (host_canonicalise(no_proxy + skip, len - skip, name, &err) == 0 &&
		    (str_eq(name, host) || host_is_below(host, name)))
			return true;
		no_proxy += len;
	}
}
