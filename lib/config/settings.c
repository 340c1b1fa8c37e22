/* SPDX-License-Identifier: MIT */
/*
 * settings.c - turns the values of all sources into struct settings. Each type of the schema has a
 * function that reads its text; then follow the rules that concern several settings. A mistake is
 * recorded by sources_refuse and the default stays, so the result is always usable.
 */
#include "config/settings.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/paths.h"
#include "config/room.h"
#include "config/schema.h"
#include "config/sources.h"
#include "net/host_list.h"
#include "redact/redact.h"
#include "text/sanitize.h"

/* Returns the field of any type. The descriptor must have one. */
static void *field_of(struct settings *settings, const struct setting *row)
{
	return (char *)settings + row->offset;
}

static void set_number(struct settings *settings, const struct setting *row, uint64_t number)
{
	void *field = field_of(settings, row);

	switch (row->type) {
	case SCHEMA_COUNT:
	case SCHEMA_SECONDS:
	case SCHEMA_BYTES:
		*(uint64_t *)field = number;
		break;
	case SCHEMA_INDEX:
		*(unsigned int *)field = (unsigned int)number;
		break;
	case SCHEMA_WORD:
		mem_cleanup(field);
		*(char **)field = xstrdup(row->words[number]);
		break;
	case SCHEMA_SWITCH:
		*(bool *)field = number != 0;
		break;
	case SCHEMA_FOLDER:
	case SCHEMA_FILE:
	case SCHEMA_PROGRAM:
	case SCHEMA_SHARES:
	case SCHEMA_HOSTS:
	case SCHEMA_TEXT:
	case SCHEMA_SECRET:
	case SCHEMA_MODULES:
		break;
	}
}

/* Cuts `word` off the end of `text`. Returns false if it is not there. */
static bool cut_suffix(char *text, const char *word)
{
	size_t len = strlen(text);
	size_t word_len = strlen(word);

	if (len <= word_len || !str_eq(text + len - word_len, word))
		return false;
	text[len - word_len] = '\0';
	return true;
}

/* Returns false if `line` is no share, or one too many. */
static bool add_share(struct settings *s, char *const env[], char *line)
{
	struct settings_share share = { .path = NULL };

	line = str_trim(line, " \t\r");
	if (line[0] == '\0')
		return true;
	for (bool more = true; more;) {
		more = cut_suffix(line, ":rw");
		share.writable = share.writable || more;
		if (cut_suffix(line, ":home"))
			share.is_home = more = true;
	}
	share.path = paths_absolute(env, geteuid(), line);
	if (!share.path || s->share_count == SETTINGS_SHARES_MAX) {
		free(share.path);
		return false;
	}
	s->shares = xrealloc(s->shares, (s->share_count + 1) * sizeof(*s->shares));
	s->shares[s->share_count++] = share;
	return true;
}

static void apply_shares(struct settings *s, struct sources *sources, const struct setting *row)
{
	const struct sources_value *value = sources_find(sources, row);
	cleanup_free char *copy = xstrdup(value->text);
	char *rest = copy;
	char *line;

	while ((line = strsep(&rest, "\n")) != NULL) {
		if (!add_share(s, sources->env, line)) {
			sources_refuse_value(sources, row, value);
			return;
		}
	}
}

static void apply_hosts(struct settings *s, struct sources *sources, const struct setting *row)
{
	const struct sources_value *value = sources_find(sources, row);
	bool is_off = row->words && strcasecmp(value->text, row->words[0]) == 0;
	char **field = field_of(s, row);
	struct err err;
	struct host_list *hosts = host_list_parse(is_off ? "" : value->text, &err);

	if (!hosts) {
		bool is_flag = value->origin[0] == '\0';

		sources_refuse(
			sources,
			"The setting %s%s%s has a mistake: %s. Correct it and start ptycell again.",
			is_flag ? "--" : "", is_flag ? row->flag : value->name, value->origin,
			err.msg);
		return;
	}
	mem_cleanup(field);
	*field = host_list_write(hosts);
	/* Where a word for "none" exists, a list of forbidden hosts alone is still a list. */
	if (!is_off && (row->words ? (*field)[0] == '\0' : host_list_empty(hosts)))
		mem_cleanup(field);
	host_list_free(hosts);
}

/*
 * Returns whether this is a module's name. The names go to an interpreter, so they must be
 * harmless.
 */
static bool is_module(const char *name)
{
	static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_.";

	return name[0] != '\0' && name[0] != '.' && name[strspn(name, legal)] == '\0';
}

static void apply_modules(struct settings *s, struct sources *sources, const struct setting *row)
{
	const struct sources_value *value = sources_find(sources, row);
	cleanup_free char *copy = xstrdup(value->text);
	cleanup_buf struct buf names = BUF_INIT(BUF_UNBOUNDED);
	char *rest = copy;
	char *name;
	size_t count = 0;

	while ((name = strsep(&rest, ", \t\r\n")) != NULL) {
		if (name[0] == '\0')
			continue;
		if (!is_module(name) || count == SETTINGS_MODULES_MAX) {
			sources_refuse_value(sources, row, value);
			return;
		}
		buf_putf(&names, "%s%s", count++ > 0 ? "," : "", name);
	}
	mem_cleanup(&s->preload);
	s->preload = count == 0 || strcasecmp(buf_str(&names), row->words[0]) == 0
			     ? NULL
			     : buf_steal(&names);
}

/* Reads `off` if the setting has that word, else a path. */
static void apply_path(struct settings *s, struct sources *sources, const struct setting *row)
{
	const struct sources_value *value = sources_find(sources, row);
	char **field = field_of(s, row);
	bool is_off = row->words && strcasecmp(value->text, row->words[0]) == 0;
	char *path = is_off ? NULL : paths_target(sources->env, geteuid(), value->text, row->words);

	if (!path && !is_off) {
		sources_refuse_value(sources, row, value);
		return;
	}
	mem_cleanup(field);
	*field = path;
}

static void apply_text(struct settings *s, const struct setting *row, const char *text)
{
	char **field = field_of(s, row);

	mem_cleanup(field);
	*field = text[0] != '\0' ? xstrdup(text) : NULL;
}

static void apply_setting(struct settings *s, struct sources *sources, const struct setting *row)
{
	const struct sources_value *value = sources_find(sources, row);
	uint64_t number = 0;

	if (!value)
		return;
	if (row->type == SCHEMA_FOLDER || row->type == SCHEMA_FILE)
		apply_path(s, sources, row);
	else if (row->type == SCHEMA_SHARES)
		apply_shares(s, sources, row);
	else if (row->type == SCHEMA_HOSTS)
		apply_hosts(s, sources, row);
	else if (row->type == SCHEMA_TEXT || row->type == SCHEMA_SECRET)
		apply_text(s, row, value->text);
	else if (row->type == SCHEMA_MODULES)
		apply_modules(s, sources, row);
	else if (row->type == SCHEMA_PROGRAM && value->text[0] == '\0')
		sources_refuse_value(sources, row, value);
	else if (row->type != SCHEMA_PROGRAM && !schema_parse(row, value->text, &number))
		sources_refuse_value(sources, row, value);
	else if (row->type != SCHEMA_PROGRAM)
		set_number(s, row, number);
}

static void set_defaults(struct settings *s, char *const env[])
{
	cleanup_free char *home = paths_user_home(env, geteuid());

	for (size_t i = 0; i < schema_count(); i++)
		set_number(s, schema_at(i), schema_default_number(schema_at(i)));
	s->query_rows_max = SETTINGS_QUERY_ROWS_MAX;
	s->install_files_max = SETTINGS_INSTALL_FILES_MAX;
	s->home = paths_state(env, geteuid());
	s->preload = xstrdup(schema_find("PTYCELL_PRELOAD")->default_text);
	s->keep = home ? xasprintf("%s/ptycell", home) : NULL;
}

/*
 * The default deadline must not exceed the most that a call may ask for. If the user set only one
 * of the two, that one counts.
 */
static void reconcile_timeouts(struct settings *s, struct sources *sources)
{
	const struct setting *timeout = schema_find("PTYCELL_EXEC_TIMEOUT");
	const struct setting *most = schema_find("PTYCELL_EXEC_TIMEOUT_MAX");

	if (s->limits.exec_timeout <= s->exec_timeout_max)
		return;
	if (!sources_find(sources, most)) {
		s->exec_timeout_max = s->limits.exec_timeout;
		return;
	}
	if (sources_find(sources, timeout))
		sources_refuse(
			sources,
			"The setting %s is %llu s, more than %s, which is %llu s. Correct one of them and start ptycell again.",
			timeout->name, (unsigned long long)s->limits.exec_timeout, most->name,
			(unsigned long long)s->exec_timeout_max);
	s->limits.exec_timeout = s->exec_timeout_max;
}

/* No code runs below a floor that was set, and --unconfined is below every floor. */
static void reconcile_confinement(const struct settings *s, struct sources *sources)
{
	const struct setting *floor = schema_find("PTYCELL_FLOOR");

	if (s->unconfined && sources_find(sources, floor) != NULL)
		sources_refuse(sources,
			       "--unconfined contradicts %s: with the one code runs without "
			       "confinement, with the other it does not. Remove one of them and "
			       "start ptycell again.",
			       floor->name);
}

static void add_database(struct settings *s, const char *name, const char *string)
{
	struct settings_database *database;

	s->databases = xrealloc(s->databases, (s->database_count + 1) * sizeof(*s->databases));
	database = &s->databases[s->database_count++];
	database->name = xstrdup(name);
	database->string = xstrdup(string);
	for (char *c = database->name; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c | 0x20);
}

static bool has_database(const struct settings *s, const char *name)
{
	for (size_t i = 0; i < s->database_count; i++)
		if (str_eq(s->databases[i].name, name))
			return true;
	return false;
}

static void apply_databases(struct settings *s, struct sources *sources)
{
	const size_t prefix = sizeof(SOURCES_SQL_PREFIX) - 1;
	const char *azure = sources_database(sources, SOURCES_AZURE_STRING);
	const char *password = sources_database(sources, SOURCES_AZURE_PASSWORD);

	for (size_t i = 0; i < sources->database_count; i++) {
		const char *variable = sources->databases[i].variable;

		if (strncmp(variable, SOURCES_SQL_PREFIX, prefix) != 0)
			continue;
		if (variable[prefix] == '\0' || strcasecmp(variable + prefix, "files") == 0)
			sources_refuse(
				sources,
				"%s is no name for a database: write PTYCELL_SQL_NAME with a "
				"NAME of yours, and not FILES. Correct it and start ptycell "
				"again.",
				variable);
		else if (!has_database(s, variable + prefix))
			add_database(s, variable + prefix, sources->databases[i].value);
	}
	if (azure && !has_database(s, "default"))
		add_database(s, "default", azure);
	s->database_password = password ? xstrdup(password) : NULL;
}

static void add_secret(struct settings *s, struct sources *sources,
		       const struct user_env_variable *secret)
{
	if (strlen(secret->value) > REDACT_BYTES_MAX) {
		sources_refuse(sources,
			       "%s%s is longer than %d bytes, which is more than a secret may be. "
			       "Pass it as %s%s, or shorten it, and start ptycell again.",
			       USER_ENV_SECRET_PREFIX, secret->name, REDACT_BYTES_MAX,
			       USER_ENV_PREFIX, secret->name);
		return;
	}
	if (!redact_takes(secret->value)) {
		buf_putf(&sources->notices,
			 "%s%s is shorter than %d characters: code gets it, but it is not taken "
			 "out of what is shown.\n",
			 USER_ENV_SECRET_PREFIX, secret->name, REDACT_CHARS_MIN);
		return;
	}
	if (s->redact == NULL)
		s->redact = redact_new();
	redact_add(s->redact, secret->name, secret->value);
}

static void apply_user_env(struct settings *s, struct sources *sources)
{
	s->user_env = sources->user_env;
	sources->user_env = (struct user_env){ .items = NULL };
	if (s->user_env.bytes > USER_ENV_BYTES_MAX)
		sources_refuse(sources,
			       "The variables %sNAME and %sNAME together hold more than %d bytes. "
			       "Pass less and start ptycell again.",
			       USER_ENV_PREFIX, USER_ENV_SECRET_PREFIX, USER_ENV_BYTES_MAX);
	for (size_t i = 0; i < s->user_env.count; i++)
		if (s->user_env.items[i].secret)
			add_secret(s, sources, &s->user_env.items[i]);
	if (s->redact != NULL)
		redact_finish(s->redact);
}

/* Recognises "<your-connection-string>", as in example files. */
static bool is_placeholder(const char *value)
{
	return value != NULL && value[0] == '<' && value[strlen(value) - 1] == '>';
}

static void settle_storage(struct settings *s, struct sources *sources)
{
	struct err err;

	if (is_placeholder(s->storage.azure_connection)) {
		buf_puts(&sources->notices, "AZURE_BLOB_CONNECTION_STRING is still a placeholder: "
					    "nothing is uploaded.\n");
		mem_cleanup(&s->storage.azure_connection);
	}
	if (s->storage.azure_container == NULL)
		s->storage.azure_container =
			xstrdup(schema_find("AZURE_BLOB_CONTAINER_NAME")->default_text);
	if (storage_target_settle(&s->storage, &err) < 0)
		sources_refuse(sources,
			       "The storage for results is not set up right: %s. Correct it and "
			       "start ptycell again.",
			       err.msg);
}

/* Returns the given environment with the programs that flags and files name. */
static char **build_environment(const struct sources *sources)
{
	size_t count = 0;
	size_t n = 0;
	char **out;

	while (sources->env[count])
		count++;
	out = xcalloc(count + schema_count() + 1, sizeof(*out));
	for (size_t i = 0; i < schema_count(); i++) {
		const struct sources_value *value = sources_find(sources, schema_at(i));

		if (value && schema_at(i)->type == SCHEMA_PROGRAM)
			out[n++] = xasprintf("%s=%s", schema_at(i)->name, value->text);
	}
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *name = xmemdup(sources->env[i], strcspn(sources->env[i], "="));
		const struct setting *row = schema_find(name);

		if (!row || row->type != SCHEMA_PROGRAM)
			out[n++] = xstrdup(sources->env[i]);
	}
	return out;
}

struct settings *settings_load(int argc, char *const argv[], char *const env[])
{
	struct settings *s = xcalloc(1, sizeof(*s));
	cleanup_sources struct sources sources;

	sources_init(&sources, env);
	sources_read(&sources, argc, argv);
	set_defaults(s, env);
	for (size_t i = 0; i < schema_count(); i++)
		apply_setting(s, &sources, schema_at(i));
	reconcile_timeouts(s, &sources);
	reconcile_confinement(s, &sources);
	s->home_set = sources_find(&sources, schema_find("PTYCELL_HOME")) != NULL;
	s->call_budget_set = sources_find(&sources, schema_find("PTYCELL_CALL_BUDGET")) != NULL;
	apply_databases(s, &sources);
	apply_user_env(s, &sources);
	settle_storage(s, &sources);
	s->environment = build_environment(&sources);
	s->env_files = sources_take_files(&sources);
	s->problem = mem_steal(&sources.problem);
	if (sources.notices.len > 0)
		s->notices = buf_steal(&sources.notices);
	return s;
}

void settings_free(struct settings *settings)
{
	if (!settings)
		return;
	for (size_t i = 0; settings->environment[i]; i++)
		free(settings->environment[i]);
	free(settings->environment);
	for (size_t i = 0; settings->env_files[i]; i++)
		free(settings->env_files[i]);
	free(settings->env_files);
	for (size_t i = 0; i < settings->share_count; i++)
		free(settings->shares[i].path);
	free(settings->shares);
	for (size_t i = 0; i < settings->database_count; i++) {
		explicit_bzero(settings->databases[i].string,
			       strlen(settings->databases[i].string));
		free(settings->databases[i].name);
		free(settings->databases[i].string);
	}
	free(settings->databases);
	free(settings->database_password);
	user_env_release(&settings->user_env);
	redact_free(settings->redact);
	storage_target_release(&settings->storage);
	for (size_t i = 0; i < schema_count(); i++)
		if (schema_is_string(schema_at(i)))
			mem_cleanup(field_of(settings, schema_at(i)));
	free(settings->problem);
	free(settings->notices);
	free(settings);
}

static const struct setting *limit_row(size_t index)
{
	for (size_t i = 0; i < schema_count(); i++) {
		if (schema_at(i)->key && index-- == 0)
			return schema_at(i);
	}
	return NULL;
}

/* Returns the limit's field. Its offset counts from struct settings, which contains the limits. */
static uint64_t *limit_field(struct session_limits *limits, const struct setting *row)
{
	return (void *)((char *)limits + (row->offset - offsetof(struct settings, limits)));
}

static const struct setting *find_limit(const char *key)
{
	const struct setting *row;

	for (size_t i = 0; (row = limit_row(i)) != NULL; i++) {
		if (str_eq(row->key, key))
			return row;
	}
	return NULL;
}

static int refuse_key(const char *key, struct err *err)
{
	cleanup_free char *quoted = sanitize_quote(key);
	cleanup_buf struct buf keys = BUF_INIT(BUF_UNBOUNDED);
	const struct setting *row;

	for (size_t i = 0; (row = limit_row(i)) != NULL; i++)
		buf_putf(&keys, "%s%s", i > 0 ? ", " : "", row->key);
	return err_set(err, ERR_INVALID, "no key '%s'; there are %s", quoted, buf_str(&keys));
}

int settings_clamp(const struct settings *settings, struct session_limits *limits, const char *key,
		   double value, struct err *err)
{
	const struct setting *row = find_limit(key);
	struct session_limits servers = settings->limits;
	uint64_t maximum;

	if (!row)
		return refuse_key(key, err);
	if (isnan(value))
		return err_set(err, ERR_INVALID, "'%s' must be a number", key);
	maximum = *limit_field(&servers, row);
	if (value <= (double)row->minimum)
		*limit_field(limits, row) = row->minimum;
	else if (value >= (double)maximum)
		*limit_field(limits, row) = maximum;
	else
		*limit_field(limits, row) = (uint64_t)value;
	limits->ulimits &= ~room_ulimits_of(key);
	if (*limit_field(limits, row) == maximum)
		limits->ulimits |= servers.ulimits & room_ulimits_of(key);
	return 0;
}

bool settings_limit_at(const struct session_limits *limits, size_t index, const char **ret_key,
		       uint64_t *ret_value)
{
	const struct setting *row = limit_row(index);
	struct session_limits copy = *limits;

	if (!row)
		return false;
	*ret_key = row->key;
	*ret_value = *limit_field(&copy, row);
	return true;
}

const char *settings_fixed_difference(const struct session_limits *a,
				      const struct session_limits *b, uint64_t *ret_value)
{
	struct session_limits copy_a = *a;
	struct session_limits copy_b = *b;
	const struct setting *row;

	if (memcmp(a, b, sizeof(*a)) == 0) /* nearly always, and this runs in every call */
		return NULL;
	for (size_t i = 0; (row = limit_row(i)) != NULL; i++) {
		uint64_t value = *limit_field(&copy_a, row);

		if (row->fixed && value != *limit_field(&copy_b, row)) {
			*ret_value = value;
			return row->key;
		}
	}
	return NULL;
}
