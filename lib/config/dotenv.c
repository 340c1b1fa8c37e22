/* SPDX-License-Identifier: MIT */
/*
 * dotenv.c - a hand-written parser that accepts what python-dotenv's regular expressions accept.
 * Users share such files between programs, so a value must not read differently here. Where the
 * expressions backtrack, the code says which match they end up with.
 */
#include "config/dotenv.h"

#include "base/buf.h"
#include "base/mem.h"

static bool at_end(const struct dotenv *d)
{
	return d->at >= d->len;
}

/* Returns NUL past the end; at_end() distinguishes it from a NUL in the text. */
static char peek(const struct dotenv *d)
{
	return at_end(d) ? '\0' : d->data[d->at];
}

static bool is_newline(char c)
{
	return c == '\n' || c == '\r';
}

/* Matches Python's \s without the line breaks. */
static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\v' || c == '\f' || (c >= 0x1c && c <= 0x1f);
}

/* Takes one byte. All bytes pass here, so that CR, LF and CRLF each count as one line. */
static void advance(struct dotenv *d)
{
	char c = d->data[d->at++];

	if (c == '\r' || (c == '\n' && (d->at < 2 || d->data[d->at - 2] != '\r')))
		d->line++;
}

static void advance_to(struct dotenv *d, size_t at)
{
	while (d->at < at)
		advance(d);
}

static void skip_blanks(struct dotenv *d)
{
	while (!at_end(d) && is_blank(peek(d)))
		advance(d);
}

static void skip_white(struct dotenv *d)
{
	while (!at_end(d) && (is_blank(peek(d)) || is_newline(peek(d))))
		advance(d);
}

static void skip_line(struct dotenv *d)
{
	while (!at_end(d) && !is_newline(peek(d)))
		advance(d);
}

static void skip_export(struct dotenv *d)
{
	static const char word[] = "export";
	size_t len = sizeof(word) - 1;

	if (d->len - d->at <= len || memcmp(d->data + d->at, word, len) != 0 ||
	    !is_blank(d->data[d->at + len]))
		return;
	d->at += len;
	skip_blanks(d);
}

static char *read_quoted_name(struct dotenv *d)
{
	size_t start = d->at + 1;
	const char *end = memchr(d->data + start, '\'', d->len - start);
	size_t len = end ? (size_t)(end - d->data) - start : 0;

	if (len == 0)
		return NULL;
	advance_to(d, start + len + 1);
	return xmemdup(d->data + start, len);
}

static char *read_name(struct dotenv *d)
{
	size_t start = d->at;

	if (peek(d) == '\'')
		return read_quoted_name(d);
	while (!at_end(d) && peek(d) != '=' && peek(d) != '#' && !is_blank(peek(d)) &&
	       !is_newline(peek(d)))
		advance(d);
	return d->at > start ? xmemdup(d->data + start, d->at - start) : NULL;
}

/*
 * Returns the position of the closing quote, 0 if there is none. It is the first without a
 * backslash before it. If there is none, it is the last quote, which a backtracking expression
 * finds.
 */
static size_t find_close(const struct dotenv *d, char quote)
{
	size_t last = 0;

	for (size_t i = d->at + 1; i < d->len; i++) {
		if (d->data[i] != quote)
			continue;
		if (i == d->at + 1 || d->data[i - 1] != '\\')
			return i;
		last = i;
	}
	return last;
}

/* Returns the character that `\c` stands for; NUL if it stands for itself. */
static char unescape(char c, char quote)
{
	static const char from[] = "abfnrtv\"";
	static const char to[] = "\a\b\f\n\r\t\v\"";
	const char *found;

	if (c == '\\' || c == '\'')
		return c;
	if (quote == '\'' || c == '\0')
		return '\0';
	found = strchr(from, c);
	return found ? to[found - from] : '\0';
}

static char *read_quoted(struct dotenv *d)
{
	char quote = peek(d);
	size_t close = find_close(d, quote);
	char *value;
	size_t n = 0;

	if (close == 0)
		return NULL;
	value = xmemdup(d->data + d->at + 1, close - d->at - 1);
	for (size_t i = d->at + 1; i < close; i++) {
		char c = '\0';

		if (d->data[i] == '\\' && i + 1 < close)
			c = unescape(d->data[i + 1], quote);
		i += c != '\0';
		value[n++] = c != '\0' ? c : d->data[i];
	}
	value[n] = '\0';
	advance_to(d, close + 1);
	return value;
}

/* Reads up to the first blank that a # follows. Blanks at the end do not count. */
static char *read_bare(struct dotenv *d)
{
	size_t start = d->at;
	size_t end;

	skip_line(d);
	for (end = start; end < d->at; end++) {
		size_t i = end;

		while (i < d->at && is_blank(d->data[i]))
			i++;
		if (i == d->at || (i > end && d->data[i] == '#'))
			break;
		end = i;
	}
	return xmemdup(d->data + start, size_min(end, d->at) - start);
}

static char *read_value(struct dotenv *d)
{
	if (peek(d) == '\'' || peek(d) == '"')
		return read_quoted(d);
	return read_bare(d);
}

/* Returns false if anything but a comment follows on the line. */
static bool read_line_end(struct dotenv *d)
{
	skip_blanks(d);
	if (peek(d) == '#')
		skip_line(d);
	return at_end(d) || is_newline(peek(d));
}

static bool read_entry(struct dotenv *d, struct dotenv_entry *entry)
{
	entry->name = read_name(d);
	if (!entry->name)
		return false;
	skip_blanks(d);
	if (peek(d) == '=') {
		advance(d);
		skip_blanks(d);
		entry->value = read_value(d);
		if (!entry->value)
			return false;
	}
	return read_line_end(d);
}

void dotenv_init(struct dotenv *d, const char *data, size_t len)
{
	static const char mark[] = "\xef\xbb\xbf";

	*d = (struct dotenv){ .data = data, .len = len, .line = 1 };
	if (len >= 3 && memcmp(data, mark, 3) == 0)
		d->at = 3;
}

bool dotenv_next(struct dotenv *d, struct dotenv_entry *ret_entry)
{
	struct dotenv_entry entry = { 0 };

	for (;;) {
		skip_white(d);
		if (at_end(d))
			return false;
		entry.line = d->line;
		skip_export(d);
		if (peek(d) != '#')
			break;
		skip_line(d);
	}
	if (!read_entry(d, &entry)) {
		dotenv_entry_release(&entry);
		skip_line(d);
	}
	*ret_entry = entry;
	return true;
}

void dotenv_entry_release(struct dotenv_entry *entry)
{
	mem_cleanup(&entry->name);
	mem_cleanup(&entry->value);
	entry->name = NULL;
	entry->value = NULL;
}

/* Returns the end of the reference at `s` ("${...}") and sets its default; NULL if it is none. */
static const char *end_of_reference(const char *s, const char **ret_fallback)
{
	const char *end = s + strcspn(s, "}:");

	*ret_fallback = NULL;
	if (end[0] == ':' && end[1] == '-') {
		*ret_fallback = end + 2;
		end += strcspn(end, "}");
	}
	return *end == '}' ? end : NULL;
}

static int add_reference(struct buf *out, const char *name, const char *fallback, const char *end,
			 struct dotenv_scope *scope, struct err *err)
{
	size_t name_len = (size_t)((fallback ? fallback - 2 : end) - name);
	cleanup_free char *copy = xmemdup(name, name_len);
	const char *found = scope->find(scope, copy);

	if (found)
		return buf_add_str(out, found, err);
	return fallback ? buf_add(out, fallback, (size_t)(end - fallback), err) : 0;
}

char *dotenv_expand(const char *value, struct dotenv_scope *scope, struct err *err)
{
	cleanup_buf struct buf out;
	int rc = 0;

	buf_init(&out, DOTENV_VALUE_MAX);
	while (*value && rc == 0) {
		const char *fallback = NULL;
		const char *end = NULL;

		if (value[0] == '$' && value[1] == '{')
			end = end_of_reference(value + 2, &fallback);
		if (end)
			rc = add_reference(&out, value + 2, fallback, end, scope, err);
		else
			rc = buf_add(&out, value, 1, err);
		value = end ? end + 1 : value + 1;
	}
	return rc < 0 ? NULL : buf_steal(&out);
}
