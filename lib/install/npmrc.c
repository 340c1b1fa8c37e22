/* SPDX-License-Identifier: MIT */
#include "install/npmrc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "config/places.h"
#include "json/make.h"

enum { FILE_MAX = 256 << 10 };

static bool is_wanted(const char *key)
{
	return str_eq(key, "registry") || strncmp(key, "//", 2) == 0 ||
	       (key[0] == '@' && strstr(key, ":registry") != NULL);
}

/* "${NAME}" gives the variable's value, as npm has it; what is not set stays as it is. */
static char *expand(const char *value, char *const *environment)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	while (*value != '\0') {
		const char *end = strncmp(value, "${", 2) == 0 ? strchr(value, '}') : NULL;
		cleanup_free char *name =
			end != NULL ? xmemdup(value + 2, (size_t)(end - value - 2)) : NULL;
		const char *known = name != NULL ? places_getenv(environment, name) : NULL;

		if (known != NULL) {
			buf_puts(&out, known);
			value = end + 1;
		} else {
			buf_put(&out, value++, 1);
		}
	}
	return buf_steal(&out);
}

static char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t\r\"'");
	len = strlen(text);
	while (len > 0 && strchr(" \t\r\"'", text[len - 1]) != NULL)
		text[--len] = '\0';
	return text;
}

/* Earlier files win. */
static void take_line(json_t *options, char *line, char *const *environment)
{
	char *value = strchr(line, '=');
	cleanup_free char *expanded = NULL;
	const char *key;

	if (value == NULL || line[0] == ';' || line[0] == '#')
		return;
	*value++ = '\0';
	key = trim(line);
	if (!is_wanted(key) || json_object_get(options, key) != NULL)
		return;
	expanded = expand(trim(value), environment);
	json_object_set_new(options, key, json_make_str(expanded));
}

static void take_file(json_t *options, const char *path, char *const *environment)
{
	struct err err;
	size_t len;
	cleanup_free char *text = fd_read_file(AT_FDCWD, path, FILE_MAX, &len, &err);
	char *rest = text;
	char *line;

	while (rest != NULL && (line = strsep(&rest, "\n")) != NULL)
		take_line(options, line, environment);
}

json_t *npmrc_read(char *const *environment)
{
	static const char *const global[] = { "/usr/etc/npmrc", "/usr/local/etc/npmrc",
					      "/etc/npmrc" };
	json_t *options = json_object();
	const char *registry = places_getenv(environment, "npm_config_registry");
	const char *named = places_getenv(environment, "npm_config_userconfig");
	cleanup_free char *home = places_user_home(environment, geteuid());
	cleanup_free char *own = home != NULL ? xasprintf("%s/.npmrc", home) : NULL;

	if (registry != NULL && registry[0] != '\0')
		json_put_str(options, "registry", registry);
	if (named != NULL && named[0] != '\0')
		take_file(options, named, environment);
	else if (own != NULL)
		take_file(options, own, environment);
	for (size_t i = 0; i < ARRAY_SIZE(global); i++)
		take_file(options, global[i], environment);
	return options;
}
