/* SPDX-License-Identifier: MIT */
/*
 * host.c - the one parser of host names. inet_aton reads 0x7f.1 and 017700000001 as 127.0.0.1, so a
 * name whose last label is a number would pass the list and reach this machine; such names are
 * refused.
 */
#include "net/host.h"

#include <string.h>

#include "base/chars.h"

/*
 * Returns whether inet_aton() would read it as a number: decimal, octal or hexadecimal. `label`
 * must be in lower case.
 */
static bool label_is_number(const char *label)
{
	bool hex = label[0] == '0' && label[1] == 'x';

	for (const char *c = hex ? label + 2 : label; *c != '\0'; c++)
		if (hex ? char_hex(*c) < 0 : !char_is_digit(*c))
			return false;
	return true;
}

static int check_labels(const char *host, struct err *err)
{
	const char *label = host;

	for (;;) {
		size_t len = strcspn(label, ".");

		if (len == 0)
			return err_set(err, ERR_INVALID, "the host's name has an empty part");
		if (len > HOST_LABEL_MAX)
			return err_set(err, ERR_INVALID,
				       "a part of the host's name is longer than %d characters",
				       HOST_LABEL_MAX);
		if (label[0] == '-' || label[len - 1] == '-')
			return err_set(err, ERR_INVALID,
				       "a part of the host's name begins or ends with a hyphen");
		if (label[len] == '\0')
			break;
		label += len + 1;
	}
	if (label_is_number(label))
		return err_set(err, ERR_INVALID, "an address is not a host's name: use the name");
	return 0;
}

int host_canonicalise(const char *text, size_t len, char ret_host[HOST_MAX + 1], struct err *err)
{
	char host[HOST_MAX + 1];

	if (len > 0 && text[len - 1] == '.')
		len--;
	if (len == 0)
		return err_set(err, ERR_INVALID, "the host's name is empty");
	if (len > HOST_MAX)
		return err_set(err, ERR_INVALID, "the host's name is longer than %d characters",
			       HOST_MAX);
	if (memchr(text, '[', len) != NULL || memchr(text, ':', len) != NULL)
		return err_set(err, ERR_INVALID, "an address is not a host's name: use the name");
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c + ('a' - 'A'));
		if (!char_is_digit(c) && !(c >= 'a' && c <= 'z') && c != '-' && c != '.')
			return err_set(err, ERR_INVALID,
				       "the host's name has another character than letters, "
				       "digits, hyphens and dots");
		host[i] = c;
	}
	host[len] = '\0';
	if (check_labels(host, err) < 0)
		return -1;
	memcpy(ret_host, host, len + 1);
	return 0;
}

int host_parse_port(const char *text, size_t len, uint16_t *ret_port, struct err *err)
{
	uint32_t port = 0;

	for (size_t i = 0; i < len && i < 6; i++) {
		if (!char_is_digit(text[i]) || text[0] == '0')
			return err_set(err, ERR_INVALID, "the port is not a number");
		port = port * 10 + (uint32_t)(text[i] - '0');
	}
	if (len == 0 || port > UINT16_MAX)
		return err_set(err, ERR_INVALID, "the port is not between 1 and 65535");
	*ret_port = (uint16_t)port;
	return 0;
}

int host_parse_authority(const char *text, size_t len, uint16_t fallback_port,
			 struct host_port *ret_authority, struct err *err)
{
	const char *colon = memrchr(text, ':', len);
	size_t host_len = colon != NULL ? (size_t)(colon - text) : len;
	struct host_port authority = { .port = fallback_port };

	if (memchr(text, '@', len) != NULL)
		return err_set(err, ERR_INVALID, "a user's name before the host is not allowed");
	if (colon == NULL && fallback_port == 0)
		return err_set(err, ERR_INVALID, "the port is missing");
	if (host_canonicalise(text, host_len, authority.host, err) < 0)
		return -1;
	if (colon != NULL &&
	    host_parse_port(colon + 1, len - host_len - 1, &authority.port, err) < 0)
		return -1;
	*ret_authority = authority;
	return 0;
}

bool host_is_below(const char *host, const char *suffix)
{
	size_t host_len = strlen(host);
	size_t suffix_len = strlen(suffix);

	return host_len > suffix_len && host[host_len - suffix_len - 1] == '.' &&
	       str_eq(host + host_len - suffix_len, suffix);
}
