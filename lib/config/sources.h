/* SPDX-License-Identifier: MIT */
/*
 * sources.h - the text of each setting in flags, environment and files, before it is parsed.
 *
 * Flags win over the environment, and the environment over the files of --env-file. Within one kind
 * the last value wins, but a setting's own name wins over its alias.
 */
#ifndef CONFIG_SOURCES_H
#define CONFIG_SOURCES_H

#include "base/buf.h"
#include "base/util.h"
#include "config/schema.h"
#include "config/user_env.h"

#define SOURCES_SQL_PREFIX "PTYCELL_SQL_"
#define SOURCES_AZURE_STRING "AZURE_DATABASE_CONNECTION_STRING"
#define SOURCES_AZURE_PASSWORD "AZURE_DATABASE_PASSWORD"

struct sources_value {
	char *text;       /* NULL: not given */
	char *origin;     /* " in the environment"; "" for a flag */
	const char *name; /* of the variable as it was given; static */
};

/* NAME and value of a PTYCELL_SQL_NAME, or of AZURE_DATABASE_CONNECTION_STRING and _PASSWORD. */
struct sources_database {
	char *variable;
	char *value;
};

struct sources {
	char *const *env;
	struct sources_value *values;
	struct sources_database *databases;
	size_t database_count;
	struct user_env user_env;
	char **files;       /* paths of --env-file, NULL-terminated; or NULL */
	struct buf notices; /* lines about names that have no effect */
	char *problem;      /* the first problem as a sentence, or NULL */
};

void sources_init(struct sources *sources, char *const env[]);
void sources_release(struct sources *sources);
#define cleanup_sources __attribute__((cleanup(sources_release)))

/* Reads all sources. `argv` does not include the program's name. */
void sources_read(struct sources *sources, int argc, char *const argv[]);
/* Returns the value that counts, NULL if it is the default. Borrowed until sources_release. */
const struct sources_value *sources_find(const struct sources *sources, const struct setting *row);
/*
 * Returns the value of the variable, NULL if it is unset or empty. Borrowed until sources_release.
 */
const char *sources_database(const struct sources *sources, const char *variable);
/*
 * Returns the paths of --env-file, absolute where possible, NULL-terminated. The caller frees them.
 */
char **sources_take_files(struct sources *sources);
/* Records a problem. Only the first is kept. */
void sources_refuse(struct sources *sources, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Records that the setting does not take this value. Only the first problem is kept. */
void sources_refuse_value(struct sources *sources, const struct setting *row,
			  const struct sources_value *value);

#endif
