/* SPDX-License-Identifier: MIT */
/*
 * connection_url.c - translates an address and its parameters by a table. A parameter without a row
 * is an error and not ignored: one that asks for TLS or a certificate must not be lost silently.
 */
#include "sql/connection_url.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/util.h"
#include "sql/connection_string.h"
#include "text/percent.h"

static const char *const postgresql_drivers[] = { "PostgreSQL Unicode", "PostgreSQL Unicode(x64)",
						  "PostgreSQL", "PostgreSQL ANSI", NULL };
static const char *const mysql_drivers[] = {
	"MariaDB Unicode",
	"MariaDB",
	"MariaDB ODBC 3.2 Driver",
	"MariaDB ODBC 3.1 Driver",
	"MySQL ODBC 9.0 Unicode Driver",
	"MySQL ODBC 8.0 Unicode Driver",
	"MySQL",
	NULL,
};

static const struct kind {
	const char *scheme;
	const char *driver;
} kinds[] = {
	{ "postgresql", "postgresql" },
	{ "postgres", "postgresql" },
	{ "mysql", "mysql" },
	{ "mariadb", "mysql" },
};

/* Parameters of an address and their names for each driver; others are not guessed. */
static const struct parameter {
	const char *driver;
	const char *name;
	const char *keyword;
} parameters[] = {
	{ "postgresql", "sslmode", "SSLmode" }, { "postgresql", "host", "Server" },
	{ "postgresql", "user", "Uid" },        { "postgresql", "password", "Pwd" },
	{ "postgresql", "port", "Port" },       { "postgresql", "dbname", "Database" },
	{ "mysql", "charset", "CHARSET" },      { "mysql", "socket", "Socket" },
	{ "mysql", "unix_socket", "Socket" },
};

const char *const *connection_drivers(const char *driver, const char **ret_package)
{
	bool postgresql = strcasecmp(driver, "postgresql") == 0;

	*ret_package = postgresql ? "odbc-postgresql" : "odbc-mariadb";
	if (postgresql)
		return postgresql_drivers;
	return strcasecmp(driver, "mysql") == 0 ? mysql_drivers : NULL;
}

static size_t scheme_len(const char *string)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-_";
	size_t len = strspn(string, letters);

	return strncmp(string + len, "://", 3) == 0 ? len : 0;
}

bool connection_is_url(const char *string)
{
	return scheme_len(string) > 0;
}

static const char *driver_of(const char *url)
{
	size_t len = strcspn(url, "+:");

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strlen(kinds[i].scheme) == len && strncasecmp(url, kinds[i].scheme, len) == 0)
			return kinds[i].driver;
	return NULL;
}

/* Appends a value as its driver needs it: psqlodbc knows braces only around passwords. */
static void put_value(struct buf *out, const char *keyword, const char *value)
{
	buf_putf(out, ";%s=", keyword);
	if (strpbrk(value, ";{} ") != NULL)
		connection_quote(out, value);
	else
		buf_puts(out, value);
}

/* Appends a decoded value; nothing for an empty one. */
static void put_decoded(struct buf *out, const char *keyword, const char *s, size_t len)
{
	cleanup_free char *value = percent_decode(s, len);

	if (value != NULL && *value != '\0')
		put_value(out, keyword, value);
}

/* Reads user:secret, before the last "@" that precedes the path. */
static void put_login(struct buf *out, const char *s, size_t len, const char *password)
{
	const char *colon = memchr(s, ':', len);
	size_t user = colon != NULL ? (size_t)(colon - s) : len;
	size_t rest = colon != NULL ? len - user - 1 : 0;
	bool open = rest == 0 || (rest == strlen(CONNECTION_PLACEHOLDER) &&
				  strncmp(colon + 1, CONNECTION_PLACEHOLDER, rest) == 0);

	put_decoded(out, "Uid", s, user);
	if (!open)
		put_decoded(out, "Pwd", colon + 1, rest);
	else if (password != NULL)
		put_value(out, "Pwd", password);
}

/* Reads host:port or [::1]:port. */
static void put_host(struct buf *out, const char *s, size_t len)
{
	const char *close = *s == '[' ? memchr(s, ']', len) : NULL;
	size_t host = close != NULL ? (size_t)(close - s) + 1 : strcspn(s, ":/?");
	size_t bracket = close != NULL;

	host = host < len ? host : len;
	if (host > 2 * bracket)
		put_decoded(out, "Server", s + bracket, host - 2 * bracket);
	if (host < len && s[host] == ':')
		put_decoded(out, "Port", s + host + 1, len - host - 1);
}

static int put_parameter(struct buf *out, const char *driver, const char *s, size_t len,
			 struct err *err)
{
	const char *equals = memchr(s, '=', len);
	size_t name = equals != NULL ? (size_t)(equals - s) : len;

	for (size_t i = 0; i < ARRAY_SIZE(parameters); i++) {
		if (!str_eq(parameters[i].driver, driver) || strlen(parameters[i].name) != name ||
		    strncasecmp(parameters[i].name, s, name) != 0)
			continue;
		put_decoded(out, parameters[i].keyword, s + name + 1,
			    equals != NULL ? len - name - 1 : 0);
		return 0;
	}
	return err_set(err, ERR_INVALID,
		       "the address has a parameter that is not known here: write an ODBC string, "
		       "Driver={...};Server=...;Database=...;Uid=...;Pwd={...}");
}

int connection_from_url(const char *url, const char *password, struct buf *out, struct err *err)
{
	const char *driver = driver_of(url);
	const char *s = url + scheme_len(url) + 3;
	size_t end = strcspn(s, "/?");
	const char *at = memrchr(s, '@', end);

	if (driver == NULL)
		return err_set(err, ERR_INVALID,
			       "the address is none of postgresql://, mysql:// and mariadb://; "
			       "other databases need an ODBC string: Driver={...};Server=...");
	buf_putf(out, "Driver={%s}", driver);
	if (at != NULL)
		put_login(out, s, (size_t)(at - s), password);
	else if (password != NULL)
		put_value(out, "Pwd", password);
	at = at != NULL ? at + 1 : s;
	put_host(out, at, (size_t)(s + end - at));
	s += end;
	if (*s == '/') {
		put_decoded(out, "Database", s + 1, strcspn(s + 1, "?"));
		s += 1 + strcspn(s + 1, "?");
	}
	while (*s != '\0') {
		size_t len = strcspn(s + 1, "&");

		if (len > 0 && put_parameter(out, driver, s + 1, len, err) < 0)
			return -1;
		s += 1 + len;
	}
	return 0;
}
