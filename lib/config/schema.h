/* SPDX-License-Identifier: MIT */
/* row.h - the table of settings: one row each, and how its values read and print. */
#ifndef CONFIG_SCHEMA_H
#define CONFIG_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/util.h"

enum schema_type {
	SCHEMA_COUNT,   /* uint64_t */
	SCHEMA_SECONDS, /* uint64_t, also as 90s 5m 2h 1d */
	SCHEMA_BYTES,   /* uint64_t, also as 64K 64M 2G 1T */
	SCHEMA_INDEX,   /* unsigned: which one of `words` */
	SCHEMA_WORD,    /* char *: one of `words` */
	SCHEMA_FOLDER,  /* char *: absolute, ~ is the home folder; NULL for "off" where `words` has
			 * it
			 */
	SCHEMA_FILE, /* char *: the same; words that end with a colon may stand before it, or alone
		      */
	SCHEMA_SWITCH,  /* bool; the flag takes no value */
	SCHEMA_PROGRAM, /* handed on in the environment: language_locate() reads it there */
	SCHEMA_SHARES,  /* struct settings_share[]: a folder a line; the flag may be repeated */
	SCHEMA_HOSTS,   /* char *: a list of net/host_list.h; NULL when it allows nothing */
	SCHEMA_TEXT,    /* char *: as it is written; NULL when it is not set */
	SCHEMA_SECRET,  /* char *: the same, but no flag takes it and nothing ever shows it */
	SCHEMA_MODULES, /* char *: names with commas between; NULL for "off" */
};

struct setting {
	const char *name; /* of the environment variable; "" when there is only the flag */
	const char *flag; /* without the dashes in front */
	const char *key;  /* in effective_config, when a session may narrow it; or NULL */
	const char *help;
	const char *fallback_text; /* says the default where a number does not; or NULL */
	const char *const *words;  /* NULL-terminated, or NULL */
	size_t offset;             /* in struct settings */
	uint64_t fallback;
	uint64_t floor;
	uint64_t ceiling;
	enum schema_type type;
	bool fixed; /* a session may set it before its first cell only */
};

enum { SCHEMA_FLAG_MAX = 32 }; /* no flag is longer */

/* Row `index`, NULL past the end. */
const struct setting *schema_at(size_t index);
size_t schema_count(void);
/* By the variable's name; NULL when there is none. */
const struct setting *schema_find(const char *name);
/* The row of whose flag `flag` looks like a slip of one or two letters ("max-sesions"), or NULL. */
const struct setting *schema_nearest(const char *flag);
bool schema_is_number(const struct setting *row);
/* Returns true if the field in struct settings is a char * that settings_free frees. */
bool schema_is_string(const struct setting *row);
/* The row's default; for the memory limit it depends on the machine. */
uint64_t schema_fallback(const struct setting *row);

/*
 * Strict: ASCII digits and one suffix, blanks around them are ignored. A word's number is its
 * index, a switch's 0 or 1. False when `text` is not legal: schema_legal() says what is. Not for
 * folders, programs, shares, hosts and modules.
 */
bool schema_parse(const struct setting *row, const char *text, uint64_t *ret_number) MUST_CHECK;
/* "takes seconds, 1 to 604800, also written 90s, 5m, 2h or 1d" */
void schema_legal(const struct setting *row, struct buf *out);
/* A number with the row's largest unit that leaves none over: "64M", "300". */
void schema_print(const struct setting *row, uint64_t number, struct buf *out);
/* "1 to 604800", "blocks, json", "a path, off". */
void schema_range(const struct setting *row, struct buf *out);
/* The default as it would be written. */
void schema_default(const struct setting *row, struct buf *out);

#endif
