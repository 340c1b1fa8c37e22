/* SPDX-License-Identifier: MIT */
/*
 * schema_format.c - values as text, in both directions, and the description of legal values. A
 * default memory limit is half of what the machine or our container has, at most 4 GiB; it is
 * computed here, because a table cannot.
 */
#include <string.h>

#include "base/chars.h"
#include "base/machine.h"
#include "config/schema.h"

#define KIB ((uint64_t)1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)
#define DAY ((uint64_t)86400)

struct unit {
	char letter;
	uint64_t factor;
};

/* Largest first: the first unit that divides a number is the one to print. */
static const struct unit bytes_units[] = { { 'T', TIB }, { 'G', GIB }, { 'M', MIB }, { 'K', KIB } };
static const struct unit seconds_units[] = { { 'd', DAY }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };

bool schema_is_number(const struct setting *row)
{
	return row->type == SCHEMA_COUNT || row->type == SCHEMA_SECONDS ||
	       row->type == SCHEMA_BYTES;
}

bool schema_is_string(const struct setting *row)
{
	switch (row->type) {
	case SCHEMA_WORD:
	case SCHEMA_FOLDER:
	case SCHEMA_FILE:
	case SCHEMA_HOSTS:
	case SCHEMA_TEXT:
	case SCHEMA_SECRET:
	case SCHEMA_MODULES:
		return true;
	default:
		return false;
	}
}

/* Returns the suffix's factor; 0 if the setting knows no such suffix. */
static uint64_t unit_factor(const struct setting *row, char letter)
{
	const struct unit *units = row->type == SCHEMA_BYTES ? bytes_units : seconds_units;

	if (row->type == SCHEMA_COUNT)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(bytes_units); i++) {
		if ((units[i].letter | 0x20) == (letter | 0x20))
			return units[i].factor;
	}
	return 0;
}

static bool parse_number(const struct setting *row, const char *s, size_t len, uint64_t *ret_number)
{
	uint64_t number = 0;
	uint64_t factor = 1;
	size_t digits = 0;

	while (digits < len && s[digits] >= '0' && s[digits] <= '9') {
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(s[digits] - '0'), &number))
			return false;
		digits++;
	}
	if (len == digits + 1)
		factor = unit_factor(row, s[digits]);
	if (digits == 0 || factor == 0 || len > digits + 1 ||
	    __builtin_mul_overflow(number, factor, &number) || number < row->minimum ||
	    number > row->maximum)
		return false;
	*ret_number = number;
	return true;
}

static bool parse_word(const struct setting *row, const char *s, size_t len, uint64_t *ret_number)
{
	for (size_t i = 0; row->words[i]; i++) {
		if (strlen(row->words[i]) == len && strncasecmp(row->words[i], s, len) == 0) {
			*ret_number = row->type == SCHEMA_SWITCH ? i % 2 : i;
			return true;
		}
	}
	return false;
}

bool schema_parse(const struct setting *row, const char *text, uint64_t *ret_number)
{
	size_t len = strlen(text);

	chars_trim(&text, &len);
	if (!schema_is_number(row))
		return parse_word(row, text, len, ret_number);
	return parse_number(row, text, len, ret_number) ||
	       (row->words != NULL && parse_word(row, text, len, ret_number));
}

void schema_print(const struct setting *row, uint64_t number, struct buf *out)
{
	for (size_t i = 0; row->type == SCHEMA_BYTES && i < ARRAY_SIZE(bytes_units); i++) {
		uint64_t factor = bytes_units[i].factor;

		if (number >= factor && number % factor == 0) {
			buf_putf(out, "%llu%c", (unsigned long long)(number / factor),
				 bytes_units[i].letter);
			return;
		}
	}
	buf_putf(out, "%llu", (unsigned long long)number);
}

static void put_number_range(const struct setting *row, struct buf *out)
{
	schema_print(row, row->minimum, out);
	buf_puts(out, " to ");
	schema_print(row, row->maximum, out);
	if (row->words != NULL)
		buf_putf(out, "%s, %s", row->type == SCHEMA_SECONDS ? " s" : "", row->words[0]);
}

/* Names what a value is that is neither a number nor one of the row's words. */
static void put_kind(const struct setting *row, struct buf *out)
{
	if (row->type == SCHEMA_FOLDER || row->type == SCHEMA_FILE || row->type == SCHEMA_PROGRAM)
		buf_puts(out, row->words ? "a path, " : "a path");
	if (row->type == SCHEMA_SHARES)
		buf_puts(out, "PATH or PATH:rw, one a line");
	if (row->type == SCHEMA_TEXT)
		buf_puts(out, "text");
	if (row->type == SCHEMA_SECRET)
		buf_puts(out, "a secret, as a variable only");
	if (row->type == SCHEMA_HOSTS)
		buf_putf(out, "HOST, HOST:PORT, *.SUFFIX, !HOST, with commas between%s",
			 row->words ? "; " : "");
	if (row->type == SCHEMA_MODULES)
		buf_puts(out, "names with commas between, ");
}

void schema_range(const struct setting *row, struct buf *out)
{
	if (schema_is_number(row)) {
		put_number_range(row, out);
		return;
	}
	if (row->type == SCHEMA_SWITCH) {
		buf_puts(out, "0, 1");
		return;
	}
	put_kind(row, out);
	for (size_t i = 0; row->words && row->words[i]; i++)
		buf_putf(out, "%s%s", i > 0 ? ", " : "", row->words[i]);
}

void schema_legal(const struct setting *row, struct buf *out)
{
	static const char *const kinds[] = {
		[SCHEMA_COUNT] = "takes a whole number, ",
		[SCHEMA_SECONDS] = "takes seconds, ",
		[SCHEMA_BYTES] = "takes bytes, ",
		[SCHEMA_INDEX] = "takes one of ",
		[SCHEMA_WORD] = "takes one of ",
		[SCHEMA_FOLDER] = "takes a folder, absolute or from ~/ on: ",
		[SCHEMA_FILE] = "takes a file, absolute or from ~/ on: ",
		[SCHEMA_SWITCH] = "takes one of ",
		[SCHEMA_PROGRAM] = "takes a program: ",
		[SCHEMA_SHARES] = "takes at most 32 folders, absolute or from ~/ on: ",
		[SCHEMA_HOSTS] = "takes at most 256 hosts by name: ",
		[SCHEMA_TEXT] = "takes ",
		[SCHEMA_SECRET] = "takes ",
		[SCHEMA_MODULES] = "takes at most 32 modules: ",
	};

	buf_puts(out, kinds[row->type]);
	schema_range(row, out);
	if (row->type == SCHEMA_SECONDS && row->words != NULL)
		buf_puts(out, "; also written 90s, 5m, 2h or 1d");
	else if (row->type == SCHEMA_SECONDS)
		buf_puts(out, ", also written 90s, 5m, 2h or 1d");
	if (row->type == SCHEMA_BYTES)
		buf_puts(out, ", also written 512K, 64M or 2G");
}

void schema_default(const struct setting *row, struct buf *out)
{
	if (row->type == SCHEMA_SECRET)
		buf_puts(out, "none");
	else if (row->default_text)
		buf_puts(out, row->default_text);
	else if (row->words && !schema_is_number(row))
		buf_puts(out, row->words[row->default_number]);
	else
		schema_print(row, row->default_number, out);
}

/* Returns half of the memory of the machine, or of our container, but at most 4 GiB. */
static uint64_t default_memory(const struct setting *row)
{
	uint64_t half = machine_memory() / 2;

	if (half > 4 * GIB)
		half = 4 * GIB;
	return half < row->minimum ? row->minimum : half;
}

uint64_t schema_default_number(const struct setting *row)
{
	if (schema_is_number(row) && row->default_number < row->minimum)
		return default_memory(row);
	return row->default_number;
}
