/* SPDX-License-Identifier: MIT */
/*
 * pipconf.c - reads pip's configuration files in the order of pip and its PIP_NAME variables. The
 * format is that of Python's configparser: an indented line continues the value above it.
 */
#include "install/pipconf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "config/paths.h"
#include "install/trusted_config.h"
#include "json/make.h"

enum { FILE_MAX = 256 << 10 };

static const char *const options[] = { "index-url", "extra-index-url", "find-links",
				       "no-index",  "trusted-host",    "cert" };

static const char blanks[] = " \t\r";

/* The state of the parser. NULL stands for sections and options that are not used. */
struct reader {
	json_t *sections;
	const char *section;
	const char *option;
};

static const char *find_option(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (str_eq(options[i], name))
			return options[i];
	return NULL;
}

/*
 * Returns the normal form of an option's name: pip accepts index_url and --index-url for index-url.
 */
static const char *name_option(char *key)
{
	for (char *p = key; *p != '\0'; p++)
		*p = *p == '_' ? '-' : (char)tolower((unsigned char)*p);
	return find_option(key + (strncmp(key, "--", 2) == 0 ? 2 : 0));
}

static json_t *section_of(const struct reader *reader)
{
	json_t *section = json_object_get(reader->sections, reader->section);

	if (section != NULL)
		return section;
	section = json_object();
	json_put(reader->sections, reader->section, section);
	return section;
}

static void take_section(struct reader *reader, char *line)
{
	char *end = strchr(line, ']');

	reader->option = NULL;
	reader->section = NULL;
	if (end == NULL)
		return;
	*end = '\0';
	if (str_eq(line + 1, "global"))
		reader->section = "global";
	else if (str_eq(line + 1, "install"))
		reader->section = "install";
}

/* Appends an indented line to the value above it. */
static void take_more(const struct reader *reader, const char *more)
{
	json_t *section = section_of(reader);
	const char *value = json_string_value(json_object_get(section, reader->option));
	cleanup_free char *joined = xasprintf("%s\n%s", value != NULL ? value : "", more);

	json_put_str(section, reader->option, joined);
}

static void take_option(struct reader *reader, char *line)
{
	char *value = strpbrk(line, "=:");

	reader->option = NULL;
	if (value == NULL || reader->section == NULL)
		return;
	*value++ = '\0';
	reader->option = name_option(str_trim(line, blanks));
	if (reader->option != NULL)
		json_put_str(section_of(reader), reader->option, str_trim(value, blanks));
}

static void take_line(struct reader *reader, char *line)
{
	bool indented = line[0] == ' ' || line[0] == '\t';
	char *text = str_trim(line, blanks);

	if (text[0] == '\0' || text[0] == '#' || text[0] == ';')
		return;
	if (indented && reader->option != NULL)
		take_more(reader, text);
	else if (text[0] == '[')
		take_section(reader, text);
	else
		take_option(reader, text);
}

void pipconf_parse(json_t *sections, const char *text, size_t len)
{
	struct reader reader = { .sections = sections };
	cleanup_free char *copy = xmemdup(text, len);
	char *rest = copy;
	char *line;

	while ((line = strsep(&rest, "\n")) != NULL)
		take_line(&reader, line);
}

/* The options of all files, and the shares that a file must not be in. */
struct files {
	json_t *sections;
	const struct shares *shares;
};

static void take_file(const struct files *files, const char *path)
{
	cleanup_free char *text = NULL;
	struct err err;
	size_t len = 0;

	if (trusted_config_holds(files->shares, path))
		text = fd_read_regular(path, FILE_MAX, &len, &err);
	if (text != NULL)
		pipconf_parse(files->sections, text, len);
}

static void take_person_s(const struct files *files, char *const *environment)
{
	const char *config = paths_getenv(environment, "XDG_CONFIG_HOME");
	cleanup_free char *home = paths_user_home(environment, geteuid());
	cleanup_free char *old = home != NULL ? xasprintf("%s/.pip/pip.conf", home) : NULL;
	cleanup_free char *own = NULL;

	if (config != NULL && config[0] == '/')
		own = xasprintf("%s/pip/pip.conf", config);
	else if (home != NULL)
		own = xasprintf("%s/.config/pip/pip.conf", home);
	if (old != NULL)
		take_file(files, old);
	if (own != NULL)
		take_file(files, own);
}

static void take_files(const struct files *files, char *const *environment)
{
	const char *named = paths_getenv(environment, "PIP_CONFIG_FILE");
	const char *venv = paths_getenv(environment, "VIRTUAL_ENV");
	cleanup_free char *site =
		venv != NULL && venv[0] != '\0' ? xasprintf("%s/pip.conf", venv) : NULL;

	if (named != NULL && str_eq(named, "/dev/null"))
		return;
	take_file(files, "/etc/xdg/pip/pip.conf");
	take_file(files, "/etc/pip.conf");
	if (named == NULL || access(named, F_OK) < 0)
		take_person_s(files, environment);
	if (site != NULL)
		take_file(files, site);
	if (named != NULL && named[0] != '\0')
		take_file(files, named);
}

/* Returns the value of an option's variable: PIP_INDEX_URL is index-url. */
static const char *find_variable(char *const *environment, const char *option)
{
	cleanup_free char *name = xasprintf("PIP_%s", option);

	for (char *p = name; *p != '\0'; p++)
		*p = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
	return paths_getenv(environment, name);
}

json_t *pipconf_read(char *const *environment, const struct shares *shares)
{
	cleanup_json json_t *sections = json_object();
	const struct files files = { .sections = sections, .shares = shares };
	json_t *found = json_object();

	take_files(&files, environment);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const char *value = find_variable(environment, options[i]);

		if (value == NULL || value[0] == '\0')
			value = json_string_value(
				json_object_get(json_object_get(sections, "install"), options[i]));
		if (value == NULL)
			value = json_string_value(
				json_object_get(json_object_get(sections, "global"), options[i]));
		if (value != NULL && value[0] != '\0')
			json_put_str(found, options[i], value);
	}
	return found;
}
