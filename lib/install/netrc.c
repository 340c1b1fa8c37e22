/* SPDX-License-Identifier: MIT */
/* netrc.c - reads the words of a .netrc one by one. */
#include "install/netrc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "config/paths.h"
#include "install/trusted_config.h"

enum { FILE_MAX = 256 << 10 };

static const char blanks[] = " \t\r\n";

/* Returns the next word and moves behind it; NULL at the end. The caller frees it. */
static char *next_word(const char **at)
{
	cleanup_buf struct buf word = BUF_INIT(BUF_UNBOUNDED);
	bool quoted;

	*at += strspn(*at, blanks);
	if (**at == '\0')
		return NULL;
	quoted = **at == '"';
	*at += quoted;
	while (**at != '\0' && (quoted ? **at != '"' : strchr(blanks, **at) == NULL)) {
		*at += **at == '\\' && (*at)[1] != '\0';
		buf_put(&word, (*at)++, 1);
	}
	*at += quoted && **at != '\0';
	return buf_steal(&word);
}

/* Moves behind a comment to the line's end, or behind a macro to the next empty line. */
static void skip_to(const char **at, const char *end)
{
	const char *found = strstr(*at, end);

	*at = found != NULL ? found + strlen(end) : *at + strlen(*at);
}

static void put_encoded(struct buf *out, const char *text)
{
	for (; *text != '\0'; text++)
		if (isalnum((unsigned char)*text) || strchr("-._~", *text) != NULL)
			buf_put(out, text, 1);
		else
			buf_putf(out, "%%%02X", (unsigned int)(unsigned char)*text);
}

char *netrc_find(const char *text, const char *host)
{
	cleanup_free char *login = NULL;
	cleanup_free char *password = NULL;
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *at = text != NULL ? text : "";
	bool matches = false;
	char *word;

	while ((word = next_word(&at)) != NULL) {
		cleanup_free char *key = word;

		if (key[0] == '#') {
			skip_to(&at, "\n");
		} else if (str_eq(key, "macdef")) {
			skip_to(&at, "\n\n");
		} else if (str_eq(key, "machine") || str_eq(key, "default")) {
			cleanup_free char *name = str_eq(key, "machine") ? next_word(&at) : NULL;

			if (matches && login != NULL)
				break;
			matches = name != NULL && strcasecmp(name, host) == 0;
		} else if (matches && (str_eq(key, "login") || str_eq(key, "user"))) {
			free(login);
			login = next_word(&at);
		} else if (matches && str_eq(key, "password")) {
			free(password);
			password = next_word(&at);
		} else {
			free(next_word(&at)); /* of another machine, or "account" */
		}
	}
	if (login == NULL)
		return NULL;
	put_encoded(&out, login);
	buf_puts(&out, ":");
	put_encoded(&out, password != NULL ? password : "");
	return buf_steal(&out);
}

char *netrc_read(char *const *environment, const struct shares *shares)
{
	const char *named = paths_getenv(environment, "NETRC");
	cleanup_free char *home = paths_user_home(environment, geteuid());
	cleanup_free char *path = NULL;
	struct err err;
	size_t len;

	if (named != NULL && named[0] != '\0')
		path = xstrdup(named);
	else if (home != NULL)
		path = xasprintf("%s/.netrc", home);
	if (path == NULL || access(path, F_OK) < 0 || !trusted_config_holds(shares, path))
		return NULL;
	return fd_read_regular(path, FILE_MAX, &len, &err);
}
