/* SPDX-License-Identifier: MIT */
/*
 * databases.c - makes the part of a request to ptycell-sql that names the database.
 *
 * Connection strings and passwords of the settings go into that part and nowhere else. A file of
 * unixODBC decides which library a helper loads, so one that session code may change is never
 * named.
 */
#include "query/databases.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/paths.h"
#include "confinement/shares.h"
#include "json/make.h"
#include "json/write.h"
#include "sql/connection_string.h"
#include "text/sanitize.h"
#include "workspace/beneath.h"

static const char default_name[] = "default";
static const char files_name[] = "files";
static const char file_scheme[] = "sqlite:";

static const struct settings_database *find_database(const struct settings *settings,
						     const char *name)
{
	for (size_t i = 0; i < settings->database_count; i++)
		if (strcasecmp(settings->databases[i].name, name) == 0)
			return &settings->databases[i];
	return NULL;
}

json_t *databases_list(const struct settings *settings)
{
	json_t *names = json_array();

	if (find_database(settings, default_name) != NULL)
		json_append(names, json_make_str(default_name));
	json_append(names, json_make_str(files_name));
	for (size_t i = 0; i < settings->database_count; i++)
		if (!str_eq(settings->databases[i].name, default_name))
			json_append(names, json_make_str(settings->databases[i].name));
	return names;
}

void databases_put_names(const struct settings *settings, struct buf *out)
{
	cleanup_json json_t *names = databases_list(settings);
	size_t index;
	const json_t *name;

	json_array_foreach (names, index, name)
		buf_putf(out, "%s'%s'", index > 0 ? ", " : "", json_string_value(name));
}

static json_t *make_database(const char *kind, const char *key, const char *value)
{
	json_t *database_json = json_object();

	json_put_str(database_json, "kind", kind);
	if (key != NULL)
		json_put_str(database_json, key, value);
	return database_json;
}

static void put_path(json_t *database_json, const struct shares *shares, const char *key,
		     const char *path)
{
	if (path != NULL && path[0] == '/' && !shares_may_change(shares, path))
		json_put_str(database_json, key, path);
}

/* Puts the files in which unixODBC looks up a DSN or a driver, as it does for the user. */
static void put_odbc_paths(json_t *database_json, const struct settings *settings,
			   const struct shares *shares)
{
	cleanup_free char *home = paths_user_home(settings->environment, geteuid());
	cleanup_free char *own = home != NULL ? xasprintf("%s/.odbc.ini", home) : NULL;
	const char *ini = paths_getenv(settings->environment, "ODBCINI");

	put_path(database_json, shares, "ini", ini != NULL ? ini : own);
	put_path(database_json, shares, "folder",
		 paths_getenv(settings->environment, "ODBCSYSINI"));
}

/* Adds the time zone of session code. */
static json_t *with_zone(json_t *database_own, const struct settings *settings)
{
	for (size_t i = 0; i < settings->user_env.count; i++)
		if (str_eq(settings->user_env.items[i].name, "TZ"))
			json_put_str(database_own, "zone", settings->user_env.items[i].value);
	return database_own;
}

static json_t *from_settings(const struct settings *settings, const struct shares *shares,
			     const struct settings_database *database, struct err *err)
{
	cleanup_buf struct buf string = BUF_INIT(BUF_UNBOUNDED);
	const size_t scheme = sizeof(file_scheme) - 1;
	const char *password =
		str_eq(database->name, default_name) ? settings->database_password : NULL;
	json_t *database_json;

	if (strncmp(database->string, file_scheme, scheme) == 0) {
		if (database->string[scheme] == '/')
			return with_zone(make_database("sqlite", "path", database->string + scheme),
					 settings);
		(void)err_set(err, ERR_INVALID,
			      "the database '%s' is set to no absolute path: sqlite:/path/of/file",
			      database->name);
		return NULL;
	}
	if (connection_complete(database->string, password, &string, err) < 0) {
		(void)err_wrap(err, "the database '%s'", database->name);
		return NULL;
	}
	database_json = make_database("odbc", "string", buf_str(&string));
	put_odbc_paths(database_json, settings, shares);
	explicit_bzero(string.data, string.len);
	return database_json;
}

/* Returns the path relative to the session's folder, or NULL for a path outside and for a name. */
static const char *relative_path(const char *name, const char *data_path)
{
	size_t len = strlen(data_path);

	if (strncmp(name, data_path, len) == 0 && name[len] == '/')
		name += len + 1;
	if (strncmp(name, "./", 2) == 0)
		name += 2;
	return beneath_path_valid(name) && strpbrk(name, "./") != NULL ? name : NULL;
}

static void set_unknown(const struct settings *settings, const char *name, struct err *err)
{
	json_t *names = databases_list(settings);
	cleanup_free char *list = json_write_text(names);
	cleanup_free char *quoted = sanitize_quote(name);

	(void)err_set(err, ERR_NOT_FOUND,
		      "arguments.database '%s' is neither one of %s nor a path below the session's "
		      "folder, like input/data.db",
		      quoted, list);
	json_decref(names);
}

bool databases_is_named(const struct settings *settings, const char *name)
{
	return find_database(settings, name != NULL ? name : default_name) != NULL;
}

json_t *databases_find(const struct settings *settings, const struct shares *shares,
		       const char *name, const char *data_path, struct err *err)
{
	const struct settings_database *database =
		find_database(settings, name != NULL ? name : default_name);
	const char *path;

	if (database != NULL)
		return from_settings(settings, shares, database, err);
	if (name == NULL || strcasecmp(name, files_name) == 0)
		return with_zone(make_database("files", NULL, NULL), settings);
	path = relative_path(name, data_path);
	if (path != NULL)
		return with_zone(make_database("file", "path", path), settings);
	set_unknown(settings, name, err);
	return NULL;
}
