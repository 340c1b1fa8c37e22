/* SPDX-License-Identifier: MIT */
/*
 * npmrc.c - reads the lines of npm's configuration files. Only the options that choose a registry
 * and its credentials are taken; npm's quoting and ${NAME} are supported, as npm itself is not run.
 */
#include "install/npmrc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "config/paths.h"
#include "install/trusted_config.h"
#include "json/make.h"

enum { FILE_MAX = 256 << 10 };

/* Quotes around a value are ignored, like blanks. */
static const char unread[] = " \t\r\"'";
static const char blanks[] = " \t\r";

struct source {
	char *const *environment;
	const struct shares *shares;
};

static bool is_wanted(const char *key)
{
	return str_eq(key, "registry") || str_eq(key, "cafile") || strncmp(key, "//", 2) == 0 ||
	       (key[0] == '@' && strstr(key, ":registry") != NULL);
}

/*
 * Returns the value with each "${NAME}" replaced like npm does. Unset variables are left as they
 * are. The caller frees it.
 */
static char *expand(const char *value, char *const *environment)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	while (*value != '\0') {
		const char *end = strncmp(value, "${", 2) == 0 ? strchr(value, '}') : NULL;
		cleanup_free char *name =
			end != NULL ? xmemdup(value + 2, (size_t)(end - value - 2)) : NULL;
		const char *known = name != NULL ? paths_getenv(environment, name) : NULL;

		if (known != NULL) {
			buf_puts(&out, known);
			value = end + 1;
		} else {
			buf_put(&out, value++, 1);
		}
	}
	return buf_steal(&out);
}

/*
 * Ends a value before its comment, and removes the backslashes before ";", "#" and "\\" in place. A
 * value in quotes has no comment.
 */
static void cut_comment(char *value)
{
	size_t len = strlen(value);
	bool quoted = len > 1 && value[0] == value[len - 1] && strchr("\"'", value[0]) != NULL;
	char *out = value;

	if (quoted)
		return;
	for (const char *p = value; *p != '\0' && *p != ';' && *p != '#'; p++) {
		p += *p == '\\' && p[1] != '\0' && strchr(";#\\", p[1]) != NULL;
		*out++ = *p;
	}
	*out = '\0';
}

/* Adds the option of a line, unless an earlier file had it. */
static void take_line(json_t *options, char *line, char *const *environment)
{
	char *value = strchr(line, '=');
	cleanup_free char *expanded = NULL;
	const char *key;

	if (value == NULL || line[0] == ';' || line[0] == '#')
		return;
	*value++ = '\0';
	key = str_trim(line, unread);
	if (!is_wanted(key) || json_object_get(options, key) != NULL)
		return;
	value = str_trim(value, blanks);
	cut_comment(value);
	expanded = expand(str_trim(value, unread), environment);
	json_object_set_new(options, key, json_make_str(expanded));
}

static void take_file(json_t *options, const char *path, const struct source *source)
{
	cleanup_free char *text = NULL;
	struct err err;
	size_t len;
	char *rest;
	char *line;

	if (trusted_config_holds(source->shares, path))
		text = fd_read_regular(path, FILE_MAX, &len, &err);
	rest = text;
	while (rest != NULL && (line = strsep(&rest, "\n")) != NULL)
		take_line(options, line, source->environment);
}

/* Returns the value of a variable of npm, or NULL: npm takes its names in either case. */
static const char *variable(char *const *environment, const char *small, const char *capital)
{
	const char *value = paths_getenv(environment, small);

	if (value == NULL || value[0] == '\0')
		value = paths_getenv(environment, capital);
	return value != NULL && value[0] != '\0' ? value : NULL;
}

json_t *npmrc_read(char *const *environment, const struct shares *shares)
{
	static const char *const global[] = { "/usr/etc/npmrc", "/usr/local/etc/npmrc",
					      "/etc/npmrc" };
	const struct source source = { .environment = environment, .shares = shares };
	json_t *options = json_object();
	const char *registry = variable(environment, "npm_config_registry", "NPM_CONFIG_REGISTRY");
	const char *named = variable(environment, "npm_config_userconfig", "NPM_CONFIG_USERCONFIG");
	cleanup_free char *home = paths_user_home(environment, geteuid());
	cleanup_free char *own = home != NULL ? xasprintf("%s/.npmrc", home) : NULL;

	if (registry != NULL)
		json_put_str(options, "registry", registry);
	if (named != NULL)
		take_file(options, named, &source);
	else if (own != NULL)
		take_file(options, own, &source);
	for (size_t i = 0; i < ARRAY_SIZE(global); i++)
		take_file(options, global[i], &source);
	return options;
}
