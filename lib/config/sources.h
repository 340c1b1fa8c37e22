/* SPDX-License-Identifier: MIT */
/*
 * sources.h - what flags, environment and files say about each setting, before it is understood.
 *
 * Flags win over the environment, that over the files of --env-file; of one kind the last wins.
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
	char *text;   /* NULL: not given */
	char *origin; /* " in the environment"; "" for a flag */
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
	struct user_env passed;
	char **files;       /* of --env-file, NULL behind the last; or NULL */
	struct buf notices; /* lines about names that have no effect */
	char *problem;      /* the first trouble as a sentence, or NULL */
};

void sources_init(struct sources *sources, char *const env[]);
void sources_release(struct sources *sources);
#define cleanup_sources __attribute__((cleanup(sources_release)))

/* `argv` is without the program's name. */
void sources_read(struct sources *sources, int argc, char *const argv[]);
/* The value that counts, NULL when the default does; borrowed. */
const struct sources_value *sources_find(const struct sources *sources, const struct setting *row);
/* The value of the variable, NULL when it is not set or empty; borrowed. */
const char *sources_database(const struct sources *sources, const char *variable);
/* The paths of --env-file, absolute where that can be said, NULL behind the last: the caller's. */
char **sources_take_files(struct sources *sources);
/* Keeps the sentence when it is the first. */
void sources_refuse(struct sources *sources, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same about a value that the row does not take. */
void sources_refuse_value(struct sources *sources, const struct setting *row,
			  const struct sources_value *value);

#endif
