/* SPDX-License-Identifier: MIT */
/*
 * gitini.c - a parser for git's configuration, stricter than git's own. It decides whether a
 * repository that session code wrote would run commands for the user. Anything that git might read
 * in another way is therefore odd, and the caller treats odd lines as dangerous.
 */
#include "base/gitini.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

struct reader {
	struct buf section; /* "" before the first section */
	struct buf subsection;
	gitini_fn *fn;
	void *data;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

static bool is_comment(const char *at)
{
	return at[0] == '\0' || at[0] == '#' || at[0] == ';';
}

static void put_lower(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf_put_char(out, (char)tolower((unsigned char)text[i]));
}

static bool read_subsection(struct reader *reader, const char **at)
{
	buf_puts(&reader->section, ".");
	for ((*at)++; **at != '"'; (*at)++) {
		if (**at == '\\')
			(*at)++;
		if (**at == '\0')
			return false;
		buf_put(&reader->subsection, *at, 1);
	}
	(*at)++;
	return true;
}

/*
 * Reads a section's name. `*rest` points behind the opening bracket, afterwards behind the closing
 * one.
 */
static bool read_section(struct reader *reader, const char **rest)
{
	const char *at = *rest;

	size_t len = strspn(at, LETTERS);

	buf_clear(&reader->section);
	buf_clear(&reader->subsection);
	put_lower(&reader->section, at, len);
	at = skip_blanks(at + len);
	if (len == 0 || (*at == '"' && !read_subsection(reader, &at)) || *at != ']')
		return false;
	*rest = skip_blanks(at + 1);
	return true;
}

/*
 * Returns the character that follows a backslash. Returns 0 for one that git refuses, and for the
 * end of a line that continues on the next.
 */
static char unescape(char c)
{
	return c == 'n'                ? '\n'
	       : c == 't'              ? '\t'
	       : c == 'b'              ? '\b'
	       : c == '\\' || c == '"' ? c
				       : '\0';
}

static bool read_value(struct buf *out, const char *at)
{
	bool quoted = false;
	char c;

	for (; *at != '\0'; at++) {
		if (*at == '"') {
			quoted = !quoted;
			continue;
		}
		if (!quoted && (*at == '#' || *at == ';'))
			break;
		c = *at == '\\' ? unescape(*++at) : *at;
		if (c == '\0')
			return false;
		buf_put_char(out, c);
	}
	while (out->len > 0 && is_blank(out->data[out->len - 1]))
		out->data[--out->len] = '\0';
	return !quoted;
}

static bool read_entry(struct reader *reader, const char *at)
{
	size_t len = strspn(at, LETTERS);
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf value = BUF_INIT(BUF_UNBOUNDED);

	put_lower(&name, at, len);
	at = skip_blanks(at + len);
	if (len == 0 || reader->section.len == 0 || (!is_comment(at) && *at != '='))
		return false;
	if (*at == '=' && !read_value(&value, skip_blanks(at + 1)))
		return false;
	reader->fn(reader->data, &(struct gitini_entry){ .section = buf_str(&reader->section),
							 .subsection = buf_str(&reader->subsection),
							 .name = buf_str(&name),
							 .value = buf_str(&value) });
	return true;
}

static void read_line(struct reader *reader, const char *line)
{
	const char *at = skip_blanks(line);
	bool is_section = *at == '[';
	bool known = true;

	if (is_section) {
		at++;
		known = read_section(reader, &at);
	}
	/*
	 * An entry in the line of its section belongs to that section, but git does not write it
	 * so.
	 */
	if (known && !is_comment(at))
		known = read_entry(reader, at) && !is_section;
	if (!known)
		reader->fn(reader->data, &(struct gitini_entry){ .odd = line });
}

void gitini_each(const char *text, size_t len, gitini_fn *fn, void *data)
{
	struct reader reader = { .fn = fn, .data = data };

	buf_init(&reader.section, BUF_UNBOUNDED);
	buf_init(&reader.subsection, BUF_UNBOUNDED);
	if (memchr(text, '\0', len) != NULL)
		fn(data, &(struct gitini_entry){ .odd = "\\0" });
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t line_len = end != NULL ? (size_t)(end - text) : len;
		bool carriage = line_len > 0 && text[line_len - 1] == '\r';
		cleanup_free char *line = xmemdup(text, line_len - carriage);

		read_line(&reader, line);
		len -= line_len + (end != NULL);
		text += line_len + (end != NULL);
	}
	buf_release(&reader.section);
	buf_release(&reader.subsection);
}

bool gitini_is_include(const struct gitini_entry *entry)
{
	return (str_eq(entry->section, "include") || str_eq(entry->section, "includeif.")) &&
	       str_eq(entry->name, "path");
}

bool gitini_is_hooks(const struct gitini_entry *entry)
{
	return str_eq(entry->section, "core") && str_eq(entry->name, "hookspath");
}

bool gitini_is_worktree(const struct gitini_entry *entry)
{
	return str_eq(entry->section, "core") && str_eq(entry->name, "worktree");
}

bool gitini_is_command(const struct gitini_entry *entry)
{
	static const char *const keys[][2] = {
		{ "core", " fsmonitor sshcommand editor pager askpass gitproxy "
			  "alternaterefscommand " },
		{ "sequence", " editor " },
		{ "gpg", " program " },
		{ "gpg.", " program defaultkeycommand " },
		{ "filter.", " clean smudge process " },
		{ "diff", " external " },
		{ "diff.", " command textconv " },
		{ "merge.", " driver " },
		{ "credential", " helper " },
		{ "credential.", " helper " },
		{ "remote.", " uploadpack receivepack " },
		{ "submodule.", " update " },
		{ "interactive", " difffilter " },
		{ "trailer.", " command cmd " },
		{ "hook.", " command " },
	};
	cleanup_free char *name = xasprintf(" %s ", entry->name);

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (str_eq(keys[i][0], entry->section) && strstr(keys[i][1], name) != NULL)
			return true;
	return str_eq(entry->section, "pager");
}

/* Returns true when an expansion stands before the first slash of a word. */
static bool follows_expansion(const char *word, char before)
{
	return word[0] == '/' ? strchr(")}`\"'", before) != NULL : before == '$';
}

/*
 * Calls `fn` for the rest of a word behind an expansion, as in "$PWD/tools/x" and
 * "$(git rev-parse --show-toplevel)/tools/x". It is not known where an expansion leads, but mostly
 * it is the folder where git runs the command, or the home folder.
 */
static void each_rest(const char *word, char before, void (*fn)(void *data, const char *word),
		      void *data)
{
	const char *slash = strchr(word, '/');
	const char *rest = slash != NULL ? slash + strspn(slash, "/") : "";
	cleanup_free char *below_home = NULL;

	if (rest[0] == '\0' || !follows_expansion(word, before))
		return;
	fn(data, rest);
	below_home = xasprintf("~/%s", rest);
	fn(data, below_home);
}

void gitini_each_word(const char *command, void (*fn)(void *data, const char *word), void *data)
{
	static const char between[] = " \t\n\"'`\\;|&<>()=,:$!{}";
	char before = ' ';

	for (;;) {
		size_t skipped = strspn(command, between);
		size_t len;

		if (skipped > 0)
			before = command[skipped - 1];
		command += skipped;
		len = strcspn(command, between);
		if (len == 0)
			return;
		cleanup_free char *word = xmemdup(command, len);

		fn(data, word);
		each_rest(word, before, fn, data);
		command += len;
	}
}

/* Compares the last names of `folder` with the first names of the value, as many as agree. */
const char *gitini_below_home(const char *value, const char *folder)
{
	const char *rest = value[0] == '~' ? strchr(value, '/') : NULL;

	for (const char *tail = folder; rest != NULL && tail != NULL;
	     tail = strchr(tail + 1, '/')) {
		size_t len = strlen(tail);

		if (strncmp(rest, tail, len) == 0 && (rest[len] == '/' || rest[len] == '\0'))
			return rest + len + (rest[len] == '/');
	}
	return NULL;
}
