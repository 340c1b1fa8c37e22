/* SPDX-License-Identifier: MIT */
/*
 * declaration.c - a parser of bash's quoting. Values may contain line ends, so a declaration ends
 * where its quoting ends, not at the end of a line.
 */
#include "runtime/bash/declaration.h"

#include <ctype.h>
#include <string.h>

#include "text/utf8.h"

static const char begin[] = "declare -";

/* ---- words ---- */

/*
 * Returns the position after the closing `quote`. With `escapes`, a backslash quotes the next
 * character.
 */
static const char *quoted_end(const char *at, const char *end, char quote, bool escapes)
{
	for (; at < end; at++) {
		if (escapes && *at == '\\')
			at++;
		else if (*at == quote)
			return at + 1;
	}
	return NULL;
}

/* Returns the position after one quoted part, escape or plain character. */
static const char *part_end(const char *at, const char *end)
{
	if (*at == '"')
		return quoted_end(at + 1, end, '"', true);
	if (*at == '\'')
		return quoted_end(at + 1, end, '\'', false);
	if (*at == '$' && at + 1 < end && at[1] == '\'')
		return quoted_end(at + 2, end, '\'', true);
	if (*at == '\\')
		return at + 1 < end ? at + 2 : NULL;
	return at + 1;
}

const char *declaration_word_end(const char *at, const char *end)
{
	while (at != NULL && at < end && *at != ' ' && *at != '\n')
		at = part_end(at, end);
	return at;
}

/* ---- declarations ---- */

/* Returns the position after the ')' of "([0]=... [1]=...)"; counts the elements. */
static const char *array_end(const char *at, const char *end, size_t *ret_count)
{
	for (at++; at != NULL && at < end; at = part_end(at, end)) {
		if (*at == ')')
			return at + 1;
		if (*at == '[' && (at[-1] == '(' || at[-1] == ' '))
			(*ret_count)++;
	}
	return NULL;
}

static const char *type_of(const char *flags, size_t len)
{
	static const struct {
		char flag;
		const char *type;
	} types[] = {
		{ 'f', "function" }, { 'A', "map" },     { 'a', "array" },
		{ 'n', "nameref" },  { 'i', "integer" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (memchr(flags, types[i].flag, len) != NULL)
			return types[i].type;
	return "string";
}

/* Parses the text after "declare -". Returns NULL if it is no declaration. */
static const char *parse(const char *at, const char *end, struct declaration *ret)
{
	const char *flags = at;
	const char *after;

	*ret = (struct declaration){ .type = NULL };
	while (at < end && *at != ' ' && *at != '\n')
		at++;
	ret->type = type_of(flags, (size_t)(at - flags));
	if (at == end || *at == '\n')
		return NULL;
	ret->name = ++at;
	while (at < end &&
	       (isalnum((unsigned char)*at) || *at == '_' || (ret->type[0] == 'f' && *at != '\n')))
		at++;
	ret->name_len = (size_t)(at - ret->name);
	if (ret->name_len == 0 || at == end || *at != '=')
		return ret->name_len > 0 ? at : NULL;
	ret->value = ++at;
	after = at < end && *at == '(' ? array_end(at, end, &ret->count)
				       : declaration_word_end(at, end);
	ret->value_len = after != NULL ? (size_t)(after - at) : 0;
	return after;
}

static const char *next_line(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline != NULL ? newline + 1 : end;
}

bool declaration_next(const char **at, const char *end, struct declaration *ret)
{
	while (*at < end) {
		const char *line = *at;
		const char *after = NULL;

		if ((size_t)(end - line) >= sizeof(begin) &&
		    memcmp(line, begin, sizeof(begin) - 1) == 0)
			after = parse(line + sizeof(begin) - 1, end, ret);
		*at = next_line(after != NULL ? after : line, end);
		if (after != NULL)
			return true;
	}
	return false;
}

/* ---- values ---- */

static bool is_one_of(const struct declaration *d, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) == d->name_len && memcmp(names[i], d->name, d->name_len) == 0)
			return true;
	return false;
}

static bool has_prefix(const struct declaration *d, const char *prefix)
{
	size_t len = strlen(prefix);

	return d->name_len >= len && memcmp(d->name, prefix, len) == 0;
}

bool declaration_is_users(const struct declaration *d)
{
	static const char *const names[] = {
		"_",
		"BASH",
		"BASHOPTS",
		"BASHPID",
		"COLUMNS",
		"COPROC",
		"DIRSTACK",
		"EPOCHSECONDS",
		"EPOCHREALTIME",
		"EUID",
		"FUNCNAME",
		"GROUPS",
		"HISTCMD",
		"HISTFILE",
		"HISTFILESIZE",
		"HISTSIZE",
		"HOSTNAME",
		"HOSTTYPE",
		"IFS",
		"LINENO",
		"LINES",
		"MACHTYPE",
		"MAILCHECK",
		"MAPFILE",
		"OLDPWD",
		"OPTARG",
		"OPTERR",
		"OPTIND",
		"OSTYPE",
		"PIPESTATUS",
		"PPID",
		"PROMPT_COMMAND",
		"PS1",
		"PS2",
		"PS4",
		"PWD",
		"RANDOM",
		"SECONDS",
		"SHELLOPTS",
		"SHLVL",
		"SRANDOM",
		"UID",
	};

	return !is_one_of(d, names, ARRAY_SIZE(names)) && !has_prefix(d, "__ptycell_") &&
	       !has_prefix(d, "BASH_") && !has_prefix(d, "COMP_");
}

static bool is_scalar(const struct declaration *d)
{
	return d->value != NULL && d->value[0] != '(';
}

/* Returns the character that a backslash and this one stand for within $'...'. */
static char ansi_char(char c)
{
	static const char from[] = "abefnrtv";
	static const char to[] = "\a\b\033\f\n\r\t\v";
	const char *found = c != '\0' ? strchr(from, c) : NULL;

	return found != NULL ? to[found - from] : c;
}

/* Appends a part without its quotes. */
static void put_part(struct buf *out, const char *at, const char *end)
{
	bool ansi = *at == '$' && end - at > 2 && at[1] == '\'';
	bool quoted = ansi || *at == '"' || *at == '\'';
	bool raw = *at == '\'';

	at += ansi ? 2 : quoted;
	end -= quoted;
	for (; at < end; at++) {
		char c = *at;

		if (!raw && c == '\\' && at + 1 < end)
			c = ansi ? ansi_char(*++at) : *++at;
		buf_put(out, &c, 1);
	}
}

void declaration_preview(const struct declaration *d, size_t max_bytes, struct buf *out)
{
	size_t start = out->len;
	const char *end = d->value + d->value_len;
	const char *at = d->value;

	if (!is_scalar(d))
		return;
	while (at != NULL && at < end && out->len - start <= max_bytes) {
		const char *after = part_end(at, end);

		if (after != NULL && (size_t)(after - at) > 2 * max_bytes + 4)
			put_part(out, at, at + 2 * max_bytes + 4);
		else if (after != NULL)
			put_part(out, at, after);
		at = after;
	}
	if (out->len - start > max_bytes) {
		out->len = start + max_bytes;
		while (out->len > start && (out->data[out->len] & 0xc0) == 0x80)
			out->len--;
		out->data[out->len] = '\0';
	}
}

static size_t text_chars(const struct declaration *d)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	declaration_preview(d, d->value_len, &text);
	return utf8_count(buf_str(&text), text.len);
}

void declaration_shape(const struct declaration *d, struct buf *out)
{
	if (d->value == NULL)
		return;
	buf_putf(out, "%zu", is_scalar(d) ? text_chars(d) : d->count);
}

/* Returns the 64-bit FNV-1a hash. */
uint64_t declaration_hash(const struct declaration *d)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const char *c = d->type; *c != '\0'; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	for (size_t i = 0; i < d->value_len; i++)
		hash = (hash ^ (unsigned char)d->value[i]) * UINT64_C(0x100000001b3);
	return hash;
}
