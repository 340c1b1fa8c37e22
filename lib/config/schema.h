/* SPDX-License-Identifier: MIT */
/*
 * schema.h - the table of settings: one descriptor each, and how its values are read and printed.
 */
#ifndef CONFIG_SCHEMA_H
#define CONFIG_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/util.h"

enum schema_type {
	SCHEMA_COUNT,   /* uint64_t */
	SCHEMA_SECONDS, /* uint64_t, also as 90s 5m 2h 1d; 0 for "off" if `words` has it */
	SCHEMA_BYTES,   /* uint64_t, also as 64K 64M 2G 1T */
	SCHEMA_INDEX,   /* unsigned: which one of `words` */
	SCHEMA_WORD,    /* char *: one of `words` */
	SCHEMA_FOLDER,  /* char *: absolute, ~ is the home folder; NULL for "off" if `words` has it
			 */
	SCHEMA_FILE,    /* char *: as a folder; words that end with a colon may precede it, or stand
			   alone */
	SCHEMA_SWITCH,  /* bool; the flag takes no value */
	SCHEMA_PROGRAM, /* passed on in the environment: language_locate() reads it there */
	SCHEMA_SHARES,  /* struct settings_share[]: a folder a line; the flag may be repeated */
	SCHEMA_HOSTS,   /* char *: a list of net/host_list.h; NULL if it allows nothing */
	SCHEMA_TEXT,    /* char *: as written; NULL if it is not set */
	SCHEMA_SECRET,  /* char *: as written; NULL if it is not set. No flag takes it and nothing
			   shows it */
	SCHEMA_MODULES, /* char *: names with commas between; NULL for "off" */
};

struct setting {
	const char *name;  /* of the environment variable; "" if there is only the flag, or none */
	const char *alias; /* another name of the variable, older or expected; or NULL */
	const char *flag;  /* without the leading dashes; "" for a limit that no user sets */
	const char *key;   /* in effective_config, if a session may lower it; or NULL */
	const char *help;
	const char *default_text; /* describes the default where a number does not; or NULL */
	const char *const *words; /* NULL-terminated, or NULL */
	size_t offset;            /* in struct settings */
	uint64_t default_number;
	uint64_t minimum;
	uint64_t maximum;
	enum schema_type type;
	bool fixed;  /* a session may set it only before its first cell */
	bool common; /* --help shows it */
};

enum { SCHEMA_FLAG_MAX = 32 }; /* no flag is longer */

/* Returns descriptor `index`, NULL past the end. */
const struct setting *schema_at(size_t index);
size_t schema_count(void);
/* Returns the descriptor by the variable's name or alias, NULL if there is none. */
const struct setting *schema_find(const char *name);
/*
 * Returns the descriptor whose flag `flag` resembles but for one or two letters ("max-sesions"), or
 * NULL.
 */
const struct setting *schema_nearest(const char *flag);
bool schema_is_number(const struct setting *row);
/* Returns whether the field in struct settings is a char * that settings_free frees. */
bool schema_is_string(const struct setting *row);
/* Returns the default. The one of the memory limit depends on the machine. */
uint64_t schema_default_number(const struct setting *row);

/*
 * Reads a value strictly: ASCII digits and one suffix; blanks around them are ignored. The number
 * of a word is its index, that of a switch 0 or 1. Returns false if `text` is not legal:
 * schema_legal() says what is. Must not be called for folders, programs, shares, hosts and modules.
 */
bool schema_parse(const struct setting *row, const char *text, uint64_t *ret_number) MUST_CHECK;
/* Appends "takes seconds, 1 to 604800, also written 90s, 5m, 2h or 1d". */
void schema_legal(const struct setting *row, struct buf *out);
/* Appends a number in the largest unit that divides it: "64M", "300". */
void schema_print(const struct setting *row, uint64_t number, struct buf *out);
/* Appends "1 to 604800", "blocks, json", "a path, off". */
void schema_range(const struct setting *row, struct buf *out);
/* Appends the default as a user would write it. */
void schema_default(const struct setting *row, struct buf *out);

#endif
