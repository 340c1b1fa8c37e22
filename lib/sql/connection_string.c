/* SPDX-License-Identifier: MIT */
/*
 * connection_string.c - reads and changes connection strings without logging or quoting any part of
 * them, because each may be the password. Drivers differ in how they read braces; FreeTDS before
 * 1.4 does not undo doubled ones, so the caller asks its version where this matters.
 */
#include "sql/connection_string.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "sql/connection_url.h"

struct pair {
	const char *key;
	size_t key_len;
	const char *value; /* with its braces */
	size_t value_len;
};

/*
 * Returns the end of a value: behind its braces, or at the next semicolon. NULL if braces stay
 * open.
 */
static const char *value_end(const char *s)
{
	if (*s != '{')
		return s + strcspn(s, ";");
	for (s++; *s != '\0'; s++) {
		if (*s != '}')
			continue;
		if (s[1] != '}')
			return s + 1;
		s++;
	}
	return NULL;
}

/* Reads the next KEY=VALUE at *at. Returns 1, 0 at the end, -1 if it is malformed. */
static int next_pair(const char **at, struct pair *ret)
{
	const char *s = *at + strspn(*at, "; \t\r\n");
	const char *end;

	if (*s == '\0')
		return 0;
	ret->key = s;
	ret->key_len = strcspn(s, "=;");
	if (s[ret->key_len] != '=')
		return -1;
	ret->value = s + ret->key_len + 1;
	while (ret->key_len > 0 && strchr(" \t", s[ret->key_len - 1]) != NULL)
		ret->key_len--;
	ret->value += strspn(ret->value, " \t");
	end = value_end(ret->value);
	if (end == NULL || ret->key_len == 0)
		return -1;
	ret->value_len = (size_t)(end - ret->value);
	end += strspn(end, " \t\r\n");
	if (*end != ';' && *end != '\0')
		return -1;
	*at = end;
	return 1;
}

static char *unquote(const struct pair *pair)
{
	char *value;
	size_t out = 0;

	if (pair->value_len < 2 || pair->value[0] != '{')
		return xmemdup(pair->value, pair->value_len);
	value = xmemdup(pair->value + 1, pair->value_len - 2);
	for (size_t i = 0; value[i] != '\0'; i++) {
		value[out++] = value[i];
		i += value[i] == '}' && value[i + 1] == '}';
	}
	value[out] = '\0';
	return value;
}

char *connection_get(const char *string, const char *keyword)
{
	struct pair pair;

	while (next_pair(&string, &pair) > 0)
		if (strlen(keyword) == pair.key_len &&
		    strncasecmp(pair.key, keyword, pair.key_len) == 0)
			return unquote(&pair);
	return NULL;
}

void connection_quote(struct buf *out, const char *value)
{
	buf_puts(out, "{");
	for (; *value != '\0'; value++)
		buf_put(out, *value == '}' ? "}}" : value, *value == '}' ? 2 : 1);
	buf_puts(out, "}");
}

static int check_pairs(const char *string, struct err *err)
{
	struct pair pair;
	int result;

	while ((result = next_pair(&string, &pair)) > 0)
		;
	return result == 0 ? 0
			   : err_set(err, ERR_INVALID,
				     "the connection string is not KEYWORD=value;...; a value with "
				     "a semicolon belongs in braces");
}

static bool has_password(const char *string)
{
	cleanup_free char *pwd = connection_get(string, "PWD");
	cleanup_free char *password = connection_get(string, "Password");

	return pwd != NULL || password != NULL;
}

/* Puts the password in. The placeholder may itself be in braces: {{your_password_here}}. */
static void replace_placeholder(const char *string, const char *found, const char *password,
				struct buf *out)
{
	const char *rest = found + strlen(CONNECTION_PLACEHOLDER);
	size_t before = (size_t)(found - string);
	bool braced = before > 0 && found[-1] == '{' && *rest == '}';

	buf_put(out, string, before - braced);
	connection_quote(out, password);
	buf_puts(out, rest + braced);
}

int connection_complete(const char *string, const char *password, struct buf *out, struct err *err)
{
	const char *found = strstr(string, CONNECTION_PLACEHOLDER);
	size_t begin = out->len;

	if (connection_is_url(string) && (found == NULL || password != NULL))
		return connection_from_url(string, password, out, err);
	if (found != NULL && password == NULL)
		return err_set(err, ERR_INVALID,
			       "the connection string has " CONNECTION_PLACEHOLDER
			       " and there is no password");
	if (strchr(string, '=') == NULL)
		buf_putf(out, "DSN=%s", string);
	else if (found != NULL)
		replace_placeholder(string, found, password, out);
	else
		buf_puts(out, string);
	if (check_pairs(buf_str(out) + begin, err) < 0)
		return -1;
	if (password != NULL && found == NULL && !has_password(buf_str(out) + begin)) {
		buf_puts(out, ";PWD=");
		connection_quote(out, password);
	}
	return 0;
}

void connection_set(struct buf *string, const char *keyword, const char *value)
{
	cleanup_free char *whole = buf_steal(string);
	const char *at = whole;
	struct pair pair;

	buf_putf(string, "%s=", keyword);
	connection_quote(string, value);
	while (next_pair(&at, &pair) > 0)
		if (strlen(keyword) != pair.key_len ||
		    strncasecmp(pair.key, keyword, pair.key_len) != 0)
			buf_putf(string, ";%.*s=%.*s", (int)pair.key_len, pair.key,
				 (int)pair.value_len, pair.value);
}

void connection_default(struct buf *string, const char *keyword, const char *value)
{
	cleanup_free char *there = connection_get(buf_str(string), keyword);

	if (there == NULL)
		buf_putf(string, ";%s=%s", keyword, value);
}

static bool is_freetds(const char *string)
{
	cleanup_free char *driver = connection_get(string, "Driver");

	return driver != NULL && strcasestr(driver, "tds") != NULL;
}

static bool needs_braces(const char *value)
{
	return value[0] == '{' || strchr(value, ';') != NULL;
}

bool connection_asks_version(const char *string)
{
	struct pair pair;

	if (!is_freetds(string))
		return false;
	while (next_pair(&string, &pair) > 0) {
		cleanup_free char *value = unquote(&pair);

		if (needs_braces(value) && strchr(value, '}') != NULL)
			return true;
	}
	return false;
}

static int put_adapted(struct buf *out, const struct pair *pair, bool old, struct err *err)
{
	cleanup_free char *value = unquote(pair);

	buf_putf(out, "%.*s=", (int)pair->key_len, pair->key);
	if (!needs_braces(value))
		buf_puts(out, value);
	else if (!old)
		connection_quote(out, value);
	else if (strstr(value, "};") == NULL)
		buf_putf(out, "{%s}", value);
	else
		return err_set(err, ERR_INVALID,
			       "FreeTDS before version 1.4 takes no password with '};' in it: "
			       "change the password, or use a newer driver");
	buf_puts(out, ";");
	return 0;
}

int connection_adapt(struct buf *string, bool old, struct err *err)
{
	cleanup_free char *whole = NULL;
	const char *at;
	struct pair pair;
	int result = 0;

	if (!is_freetds(buf_str(string)))
		return 0;
	whole = buf_steal(string);
	at = whole;
	while (result == 0 && next_pair(&at, &pair) > 0)
		result = put_adapted(string, &pair, old, err);
	return result;
}

const char *connection_hint(const char *state)
{
	static const char *const no_driver[] = { "IM002", "IM003", "IM004", "01000" };

	for (size_t i = 0; i < ARRAY_SIZE(no_driver); i++)
		if (str_eq(state, no_driver[i]))
			return " ('ptycell doctor' lists the drivers found here)";
	return "";
}

enum sql_dialect connection_dialect(const char *string)
{
	cleanup_free char *driver = connection_get(string, "Driver");

	return driver != NULL ? sql_dialect_of_product(driver) : SQL_GENERIC;
}
