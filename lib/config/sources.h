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
#include "config/row.h"

struct sources_value {
	char *text;   /* NULL: not given */
	char *origin; /* " in the environment"; "" for a flag */
};

struct sources {
	char *const *env;
	struct sources_value *values;
	struct buf notices; /* lines about names that have no effect */
	char *problem;      /* the first trouble as a sentence, or NULL */
};

void sources_init(struct sources *sources, char *const env[]);
void sources_release(struct sources *sources);
#define cleanup_sources __attribute__((cleanup(sources_release)))

/* `argv` is without the program's name. */
void sources_read(struct sources *sources, int argc, char *const argv[]);
/* The value that counts, NULL when the default does; borrowed. */
const struct sources_value *sources_find(const struct sources *sources, const struct row *row);
/* Keeps the sentence when it is the first. */
void sources_refuse(struct sources *sources, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same about a value that the row does not take. */
void sources_refuse_value(struct sources *sources, const struct row *row,
			  const struct sources_value *value);

#endif
