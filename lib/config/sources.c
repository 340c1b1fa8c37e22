/* SPDX-License-Identifier: MIT */
/*
 * sources.c - collects settings from flags, environment and --env-file. An empty value counts as
 * unset, because hosts write empty strings for fields that the user left blank. Secrets are never
 * accepted as flags: every user of the machine can read a command line.
 */
#include "config/sources.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/chars.h"
#include "base/mem.h"
#include "config/envfile.h"
#include "config/paths.h"
#include "text/sanitize.h"

/* Lowest first: a value of a later source hides the earlier ones. */
enum source { SOURCE_FILE, SOURCE_ENVIRONMENT, SOURCE_FLAG, SOURCES };

/* Our variables. No other program uses names with this prefix. */
static const char prefix[] = "PTYCELL_";

static struct sources_value *value_at(const struct sources *s, enum source source,
				      const struct setting *row)
{
	return &s->values[(size_t)source * schema_count() + (size_t)(row - schema_at(0))];
}

void sources_init(struct sources *sources, char *const env[])
{
	*sources = (struct sources){
		.env = env,
		.values = xcalloc(SOURCES * schema_count(), sizeof(*sources->values)),
	};
	buf_init(&sources->notices, BUF_UNBOUNDED);
}

static void files_free(char **files)
{
	for (size_t i = 0; files && files[i]; i++)
		free(files[i]);
	free(files);
}

void sources_release(struct sources *sources)
{
	for (size_t i = 0; sources->values && i < SOURCES * schema_count(); i++) {
		if (schema_at(i % schema_count())->type == SCHEMA_SECRET && sources->values[i].text)
			explicit_bzero(sources->values[i].text, strlen(sources->values[i].text));
		mem_cleanup(&sources->values[i].text);
		mem_cleanup(&sources->values[i].origin);
	}
	free(sources->values);
	for (size_t i = 0; i < sources->database_count; i++) {
		explicit_bzero(sources->databases[i].value, strlen(sources->databases[i].value));
		free(sources->databases[i].variable);
		free(sources->databases[i].value);
	}
	free(sources->databases);
	files_free(sources->files);
	sources->files = NULL;
	user_env_release(&sources->user_env);
	sources->databases = NULL;
	sources->database_count = 0;
	sources->values = NULL;
	buf_release(&sources->notices);
	mem_cleanup(&sources->problem);
}

void sources_refuse(struct sources *sources, const char *fmt, ...)
{
	va_list args;

	if (sources->problem)
		return;
	va_start(args, fmt);
	sources->problem = xvasprintf(fmt, args);
	va_end(args);
}

void sources_refuse_value(struct sources *sources, const struct setting *row,
			  const struct sources_value *value)
{
	cleanup_free char *quoted = sanitize_quote(value->text);
	bool is_flag = value->origin[0] == '\0';
	cleanup_buf struct buf legal;

	buf_init(&legal, BUF_UNBOUNDED);
	schema_legal(row, &legal);
	sources_refuse(
		sources,
		"The setting %s%s has the value '%s'%s, but it %s. Correct it and start ptycell again.",
		is_flag ? "--" : "", is_flag ? row->flag : value->name, quoted, value->origin,
		buf_str(&legal));
}

static void set_value(struct sources *s, enum source source, const struct setting *row,
		      const char *name, const char *text, const char *origin)
{
	struct sources_value *value = value_at(s, source, row);
	bool by_alias = row->alias != NULL && str_eq(row->alias, name);
	cleanup_free char *earlier = NULL;

	if (by_alias && value->name == row->name && value->text[0] != '\0')
		return;
	earlier = mem_steal(&value->text);
	value->name = by_alias ? row->alias : row->name;
	mem_cleanup(&value->origin);
	if (row->type == SCHEMA_SHARES && source == SOURCE_FLAG && earlier)
		value->text = xasprintf("%s\n%s", earlier, text);
	else
		value->text = xstrdup(text);
	value->origin = xstrdup(origin);
}

/* An empty value counts as unset: hosts write empty ones for fields that the user left blank. */
const struct sources_value *sources_find(const struct sources *sources, const struct setting *row)
{
	for (size_t source = SOURCES; source-- > 0;) {
		const struct sources_value *value = value_at(sources, (enum source)source, row);

		if (value->text && (value->text[0] || source == SOURCE_FLAG))
			return value;
	}
	return NULL;
}

struct other_setting {
	const char *name;
	const char *advice;
};

/* Settings of similar servers, which their users may still have. */
static const struct other_setting other_settings[] = {
	{ "MCP_TRANSPORT", "ptycell speaks over stdin and stdout only; the host starts it "
			   "(ptycell config prints the entry)" },
	{ "MCP_HOST", "ptycell listens nowhere; to reach it on another machine, let the host run "
		      "ssh (ptycell help hosts)" },
	{ "PORT", "ptycell listens nowhere; the host starts it (ptycell config prints the entry)" },
	{ "MCP_PORT",
	  "ptycell listens nowhere; the host starts it (ptycell config prints the entry)" },
	{ "BASE_WORKDIR", "the folder of live sessions is PTYCELL_HOME, that of kept results "
			  "PTYCELL_KEEP" },
};

static void note_other_setting(struct sources *s, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(other_settings); i++) {
		if (str_eq(other_settings[i].name, name))
			buf_putf(&s->notices, "%s has no effect: %s.\n", name,
				 other_settings[i].advice);
	}
}

/* Skips what a copied name may begin with: a blank or a byte order mark that is not shown. */
static const char *visible_part(const char *name)
{
	while (*name != '\0' && !char_is_letter(*name) && !char_is_digit(*name) && *name != '_')
		name++;
	return name;
}

/*
 * Reports PTYCELL_MAX_SESION and the like: a name with our prefix, in capitals or not, is always
 * meant for us.
 */
static void note_unknown(struct sources *s, const char *name)
{
	cleanup_free char *quoted = sanitize_quote(name);
	char flag[SCHEMA_FLAG_MAX + 1];
	const struct setting *nearest;
	size_t n;

	name = visible_part(name);
	if (strncasecmp(name, prefix, sizeof(prefix) - 1) != 0)
		return;
	name += sizeof(prefix) - 1;
	for (n = 0; name[n] && n < SCHEMA_FLAG_MAX; n++)
		flag[n] = (char)(name[n] == '_' ? '-' : name[n] | 0x20);
	flag[n] = '\0';
	nearest = schema_nearest(flag);
	if (!nearest)
		buf_putf(&s->notices,
			 "%s has no effect: there is no such setting; ptycell help settings "
			 "lists what there is.\n",
			 quoted);
	else if (!nearest->name[0])
		buf_putf(&s->notices, "%s has no effect: there is only the flag --%s.\n", quoted,
			 nearest->flag);
	else
		buf_putf(&s->notices, "%s has no effect: did you mean %s?\n", quoted,
			 nearest->name);
}

static bool is_database(const char *name)
{
	return strncmp(name, SOURCES_SQL_PREFIX, sizeof(SOURCES_SQL_PREFIX) - 1) == 0 ||
	       str_eq(name, SOURCES_AZURE_STRING) || str_eq(name, SOURCES_AZURE_PASSWORD);
}

/* Sources are read in the order of their rank, so a later value wins unless it is empty. */
static void take_database(struct sources *s, const char *name, const char *value)
{
	if (value[0] == '\0')
		return;
	for (size_t i = 0; i < s->database_count; i++) {
		if (!str_eq(s->databases[i].variable, name))
			continue;
		free(s->databases[i].value);
		s->databases[i].value = xstrdup(value);
		return;
	}
	s->databases = xrealloc(s->databases, (s->database_count + 1) * sizeof(*s->databases));
	s->databases[s->database_count++] =
		(struct sources_database){ .variable = xstrdup(name), .value = xstrdup(value) };
}

const char *sources_database(const struct sources *sources, const char *variable)
{
	for (size_t i = 0; i < sources->database_count; i++)
		if (str_eq(sources->databases[i].variable, variable))
			return sources->databases[i].value;
	return NULL;
}

static void take_variable(struct sources *s, enum source source, const char *name,
			  const char *value, const char *origin)
{
	const struct setting *row = schema_find(name);

	if (row) {
		set_value(s, source, row, name, value, origin);
		return;
	}
	if (is_database(name)) {
		take_database(s, name, value);
		return;
	}
	if (user_env_take(&s->user_env, name, value, &s->notices))
		return;
	note_other_setting(s, name);
	note_unknown(s, name);
}

static void take_environment(struct sources *s)
{
	for (char *const *entry = s->env; *entry; entry++) {
		const char *equals = strchr(*entry, '=');
		cleanup_free char *name = NULL;

		if (!equals)
			continue;
		name = xmemdup(*entry, (size_t)(equals - *entry));
		take_variable(s, SOURCE_ENVIRONMENT, name, equals + 1, " in the environment");
	}
}

static void note_file(struct sources *s, const char *path)
{
	char *absolute = paths_absolute(s->env, geteuid(), path);
	size_t count = 0;

	while (s->files && s->files[count])
		count++;
	s->files = xrealloc(s->files, (count + 2) * sizeof(*s->files));
	s->files[count] = absolute ? absolute : xstrdup(path);
	s->files[count + 1] = NULL;
}

static void take_file(struct sources *s, const char *path)
{
	cleanup_free char *quoted = sanitize_quote(path);
	struct envfile *file;
	struct err err = { 0 };

	note_file(s, path);
	file = envfile_read(path, s->env, &err);
	if (!file) {
		sources_refuse(s, "The file '%s' of --env-file cannot be read: %s.", quoted,
			       err.code == ERR_SYSTEM  ? strerrordesc_np(err.sys)
			       : err.code == ERR_LIMIT ? "it is too large"
						       : err.msg);
		return;
	}
	for (size_t i = 0; envfile_name(file, i); i++) {
		cleanup_free char *origin =
			xasprintf(" in line %zu of '%s'", envfile_line(file, i), quoted);

		take_variable(s, SOURCE_FILE, envfile_name(file, i), envfile_value(file, i),
			      origin);
	}
	if (envfile_bad_line(file) > 0)
		buf_putf(&s->notices, "Line %zu of '%s' is not NAME=value; it has no effect.\n",
			 envfile_bad_line(file), quoted);
	envfile_free(file);
}

static void refuse_flag(struct sources *s, const char *flag)
{
	cleanup_free char *quoted = sanitize_quote(flag);
	const struct setting *nearest =
		strncmp(flag, "--", 2) == 0 ? schema_nearest(flag + 2) : NULL;

	if (nearest) {
		sources_refuse(s, "ptycell has no flag '%s'; did you mean --%s?", quoted,
			       nearest->flag);
		return;
	}
	if (flag[0] == '-')
		sources_refuse(s, "ptycell has no flag '%s'; ptycell --help says more.", quoted);
	else
		sources_refuse(s,
			       "'%s' has no place here: flags begin with --, and a command is the "
			       "first word; ptycell --help says more.",
			       quoted);
}

static const struct setting *find_flag(const char *flag, size_t len)
{
	for (size_t i = 0; i < schema_count(); i++) {
		const char *candidate = schema_at(i)->flag;

		if (len > 0 && strlen(candidate) == len && strncmp(candidate, flag, len) == 0)
			return schema_at(i);
	}
	return NULL;
}

/*
 * Reads one flag, whose value follows `=` or is the next argument. Returns how many arguments it
 * used.
 */
static int take_flag(struct sources *s, int argc, char *const argv[])
{
	static const char env_file[] = "env-file";
	const char *flag = strncmp(argv[0], "--", 2) == 0 ? argv[0] + 2 : "";
	size_t len = strcspn(flag, "=");
	const struct setting *row = find_flag(flag, len);
	bool is_file = len == sizeof(env_file) - 1 && strncmp(flag, env_file, len) == 0;
	const char *value = flag[len] ? flag + len + 1 : NULL;
	int used = 1;

	if (!row && !is_file) {
		refuse_flag(s, argv[0]);
		return 1;
	}
	if (!value && row && row->type == SCHEMA_SWITCH)
		value = "1";
	if (!value && argc > 1) {
		value = argv[1];
		used = 2;
	}
	if (row && row->type == SCHEMA_SECRET)
		sources_refuse(
			s,
			"--%s would show the secret to every user of this machine: set it as "
			"%s in the environment or in a file for --env-file.",
			row->flag, row->name);
	else if (!value)
		sources_refuse(s, "The flag %s needs a value behind it.", argv[0]);
	else if (is_file)
		take_file(s, value);
	else
		set_value(s, SOURCE_FLAG, row, row->name, value, "");
	return used;
}

/* Session code has the user's time zone, unless another one is passed to it. */
static void take_zone(struct sources *s)
{
	const char *zone = paths_getenv(s->env, "TZ");

	if (zone)
		(void)user_env_take(&s->user_env, USER_ENV_PREFIX "TZ", zone, &s->notices);
}

void sources_read(struct sources *sources, int argc, char *const argv[])
{
	take_zone(sources);
	for (int i = 0; i < argc;)
		i += take_flag(sources, argc - i, argv + i);
	take_environment(sources);
}

char **sources_take_files(struct sources *sources)
{
	char **files = sources->files ? sources->files : xcalloc(1, sizeof(*files));

	sources->files = NULL;
	return files;
}
