/* SPDX-License-Identifier: MIT */
/*
 * redirect.c - checks URLs before they are fetched. libcurl's URL parser is used, so that the URL
 * that is checked is the URL that is fetched. Addresses are checked here as well as at the socket:
 * behind a proxy no socket of ours goes to the host.
 */
#include "redirect.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "curl_handle.h"
#include "net/address.h"
#include "net/host.h"
#include "text/sanitize.h"

enum { SHOWN_MAX = 300, ADDRESS_MAX = 46 };

/* Blanks and other illegal characters are encoded, as browsers do. */
static const unsigned int lenient = CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME;

static int set_url(CURLU *url, const char *text, struct err *err)
{
	CURLUcode code = curl_url_set(url, CURLUPART_URL, text, lenient);

	if (code == CURLUE_OK)
		return 0;
	if (code == CURLUE_BAD_SCHEME)
		return err_set(err, ERR_INVALID, "it must begin with https:// or http://");
	return err_set(err, ERR_INVALID, "it is not a URL");
}

CURLU *redirect_start(const char *url, struct err *err)
{
	CURLU *route = curl_url();

	if (route == NULL)
		(void)err_set(err, ERR_INTERNAL, "libcurl makes no URL");
	else if (set_url(route, url, err) == 0)
		return route;
	curl_url_cleanup(route);
	return NULL;
}

int redirect_follow(CURLU *url, const char *location, struct err *err)
{
	/* A login is meant for its own host. */
	(void)curl_url_set(url, CURLUPART_USER, NULL, 0);
	(void)curl_url_set(url, CURLUPART_PASSWORD, NULL, 0);
	if (set_url(url, location, err) < 0)
		return err_wrap(err, "where the server redirects to");
	return 0;
}

/* ---- the host ---- */

/* Returns true when `host` is an address. libcurl has normalized all notations of IPv4. */
static bool read_address(const char *host, struct sockaddr_storage *ret)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ret;
	char text[ADDRESS_MAX + 1];
	size_t len;

	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, host, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		return true;
	}
	if (host[0] != '[')
		return false;
	len = strcspn(host + 1, "]%");
	in6->sin6_family = AF_INET6;
	if (len > ADDRESS_MAX)
		return true; /* leaves the unspecified address, which is refused */
	memcpy(text, host + 1, len);
	text[len] = '\0';
	if (inet_pton(AF_INET6, text, &in6->sin6_addr) != 1)
		memset(&in6->sin6_addr, 0, sizeof(in6->sin6_addr));
	return true;
}

static int check_address(const struct sockaddr_storage *address, const struct redirect_rules *rules,
			 struct err *err)
{
	const struct sockaddr *generic = (const struct sockaddr *)address;
	const char *what;
	enum address_class class = address_classify(generic, &what);

	if (rules->hosts != NULL)
		return err_set(err, ERR_DENIED,
			       "hosts must be named, not written as addresses, where "
			       "PTYCELL_FETCH_HOSTS is set");
	if (address_allowed(generic, rules->allow_private))
		return 0;
	return err_set(err, ERR_DENIED, "the host is %s, which is not reached%s", what,
		       class == ADDRESS_PRIVATE ? " unless PTYCELL_ALLOW_PRIVATE_HOSTS=1 is set"
						: "");
}

static bool is_localhost(const char *host)
{
	size_t len = strlen(host);
	static const char name[] = "localhost";
	const size_t name_len = sizeof(name) - 1;

	if (len > 0 && host[len - 1] == '.')
		len--;
	if (len < name_len || strncasecmp(host + len - name_len, name, name_len) != 0)
		return false;
	return len == name_len || host[len - name_len - 1] == '.';
}

static int check_listed(const char *host, const char *port, const struct host_list *hosts,
			struct err *err)
{
	cleanup_free char *shown = sanitize_quote(host);
	struct host_port to;

	if (host_canonicalise(host, strlen(host), to.host, err) < 0 ||
	    host_parse_port(port, strlen(port), &to.port, err) < 0)
		return -1;
	switch (host_list_check(hosts, &to)) {
	case HOST_LIST_ALLOWED:
		return 0;
	case HOST_LIST_OTHER_PORT:
		return err_set(err, ERR_DENIED,
			       "PTYCELL_FETCH_HOSTS allows the host '%s', but not its port %s",
			       shown, port);
	case HOST_LIST_FORBIDDEN:
	case HOST_LIST_NOT_LISTED:
		break;
	}
	return err_set(err, ERR_DENIED, "PTYCELL_FETCH_HOSTS does not allow the host '%s'", shown);
}

static int check_host(const char *host, const char *port, const struct redirect_rules *rules,
		      struct err *err)
{
	struct sockaddr_storage address;

	if (read_address(host, &address))
		return check_address(&address, rules, err);
	if (is_localhost(host) && !rules->allow_private)
		return err_set(err, ERR_DENIED,
			       "the host is this machine, which is not reached unless "
			       "PTYCELL_ALLOW_PRIVATE_HOSTS=1 is set");
	return rules->hosts != NULL ? check_listed(host, port, rules->hosts, err) : 0;
}

/* Returns the host with xn-- labels, where libcurl can make them. */
static char *host_of(CURLU *url)
{
#ifdef CURLU_PUNYCODE
	char *host = curl_handle_part(url, CURLUPART_HOST, CURLU_PUNYCODE);

	if (host != NULL)
		return host;
#endif
	return curl_handle_part(url, CURLUPART_HOST, 0);
}

int redirect_check(CURLU *url, const struct redirect_rules *rules, struct err *err)
{
	char *scheme = curl_handle_part(url, CURLUPART_SCHEME, 0);
	char *host = host_of(url);
	char *port = curl_handle_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
	int result;

	if (scheme == NULL || (strcasecmp(scheme, "http") != 0 && strcasecmp(scheme, "https") != 0))
		result = err_set(err, ERR_INVALID, "it must begin with https:// or http://");
	else if (host == NULL || host[0] == '\0' || port == NULL)
		result = err_set(err, ERR_INVALID, "it names no host");
	else
		result = check_host(host, port, rules, err);
	curl_free(scheme);
	curl_free(host);
	curl_free(port);
	return result;
}

char *redirect_show(CURLU *url)
{
	CURLU *copy = curl_url_dup(url);
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	char *text = NULL;

	(void)curl_url_set(copy, CURLUPART_USER, NULL, 0);
	(void)curl_url_set(copy, CURLUPART_PASSWORD, NULL, 0);
	(void)curl_url_set(copy, CURLUPART_QUERY, NULL, 0);
	(void)curl_url_set(copy, CURLUPART_FRAGMENT, NULL, 0);
	if (curl_url_get(copy, CURLUPART_URL, &text, 0) == CURLUE_OK)
		sanitize_line(&shown, text, strlen(text), SHOWN_MAX);
	curl_free(text);
	curl_url_cleanup(copy);
	return buf_steal(&shown);
}
