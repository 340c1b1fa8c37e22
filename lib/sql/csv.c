/* SPDX-License-Identifier: MIT */
/*
 * csv.c - a reader that keeps one row in memory and unquotes fields in place. The separator is
 * guessed from the first lines, as spreadsheets in different countries write different ones. A
 * written field is checked for special characters eight bytes at a time.
 */
#include "sql/csv.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

enum { READ_SIZE = 256 << 10, LOOK_SIZE = 64 << 10, FIELDS_FIRST = 32 };

void csv_start(struct csv_reader *reader, csv_read *read, void *data)
{
	*reader = (struct csv_reader){ .read = read, .data = data, .line = 1 };
	csv_set(reader, ',', true);
}

void csv_release(struct csv_reader *reader)
{
	free(reader->text);
	free(reader->fields);
	reader->text = NULL;
	reader->fields = NULL;
}

void csv_set(struct csv_reader *reader, char separator, bool quotes)
{
	memset(reader->border, 0, sizeof(reader->border));
	reader->border['\n'] = reader->border['\r'] = true;
	reader->border[(unsigned char)separator] = true;
	reader->quotes = quotes;
}

void csv_escape(struct csv_reader *reader)
{
	reader->escapes = true;
}

void csv_skip(struct csv_reader *reader, size_t len)
{
	for (size_t i = 0; i < len; i++)
		reader->breaks += reader->text[reader->at + i] == '\n';
	reader->at += len;
}

/* Reads more behind the available bytes; returned rows make room. */
static int read_more(struct csv_reader *r, struct err *err)
{
	size_t len = 0;

	if (r->at > 0) {
		memmove(r->text, r->text + r->at, r->end - r->at);
		r->end -= r->at;
		r->at = 0;
	}
	if (r->end == CSV_ROW_MAX)
		return err_set(err, ERR_LIMIT,
			       "line %ju begins a row of more than %d MB; is there a quote that "
			       "does not end?",
			       (uintmax_t)r->line, CSV_ROW_MAX >> 20);
	if (r->cap - r->end < READ_SIZE) {
		r->cap = r->cap == 0 ? (size_t)2 * READ_SIZE : size_min(2 * r->cap, CSV_ROW_MAX);
		r->text = xrealloc(r->text, r->cap);
	}
	if (r->read(r->data, r->text + r->end, r->cap - r->end, &len, err) < 0)
		return -1;
	r->end += len;
	r->ended = len == 0;
	return 0;
}

int csv_peek(struct csv_reader *reader, const char **ret_text, size_t *ret_len, struct err *err)
{
	while (!reader->ended && reader->end - reader->at < LOOK_SIZE)
		if (read_more(reader, err) < 0)
			return -1;
	*ret_text = reader->text != NULL ? reader->text + reader->at : "";
	*ret_len = reader->end - reader->at;
	return 0;
}

/* ---- a row ---- */

/* The place of a field: from `at` to `end` of the row's text, with its quotes. */
struct span {
	char *at;
	char *end; /* NULL: the end has not been read yet */
	bool quoted;
	bool raw;
};

static char *plain_end(const struct csv_reader *r, char *s, const char *end)
{
	while (s < end && !r->border[(unsigned char)*s])
		s++;
	return s < end || r->ended ? s : NULL;
}

/* Returns whether a backslash before the quote makes it part of the field at `s`. */
static bool is_escaped(struct csv_reader *r, const char *s, const char *quote)
{
	const char *first = quote;

	while (first - 1 > s && first[-1] == '\\')
		first--;
	if ((quote - first) % 2 == 0)
		return false;
	r->slashed = true;
	return r->escapes;
}

/*
 * Returns the position behind the quote that ends the field at `s`; NULL if there is none. `raw`:
 * more than its last byte is a quote.
 */
static char *quoted_end(struct csv_reader *r, char *s, const char *end, bool *ret_raw)
{
	char *quote = s;

	*ret_raw = false;
	while ((quote = memchr(quote + 1, '"', (size_t)(end - quote - 1))) != NULL) {
		if (is_escaped(r, s, quote))
			continue;
		if (quote + 1 == end && !r->ended)
			return NULL;
		if (quote + 1 == end || quote[1] != '"')
			break;
		*ret_raw = true;
		quote++;
		if (quote + 1 == end)
			return NULL;
	}
	if (quote == NULL)
		return NULL;
	if (r->escapes && memchr(s, '\\', (size_t)(quote - s)) != NULL)
		*ret_raw = true;
	if (quote + 1 == end || r->border[(unsigned char)quote[1]])
		return quote + 1;
	*ret_raw = r->loose = true;
	return plain_end(r, quote + 1, end);
}

static void add_field(struct csv_reader *r, const struct span *span)
{
	size_t trim = span->quoted && !span->raw ? 1 : 0;

	if (r->count == r->fields_cap) {
		r->fields_cap = r->fields_cap == 0 ? FIELDS_FIRST : 2 * r->fields_cap;
		r->fields = xrealloc(r->fields, r->fields_cap * sizeof(*r->fields));
	}
	r->fields[r->count++] =
		(struct csv_field){ .s = span->at + trim,
				    .len = (size_t)(span->end - span->at) - 2 * trim,
				    .quoted = span->quoted,
				    .raw = span->raw };
}

/* Unquotes in place: removes the outer quotes, doubles and escaping backslashes. */
static void unquote(struct csv_field *field, bool escapes)
{
	const char *s = field->s + 1;
	const char *end = field->s + field->len;
	char *out = field->s;
	bool within = true;

	for (; s < end; s++) {
		bool more = within && s + 1 < end;

		if (more && ((s[0] == '"' && s[1] == '"') ||
			     (escapes && s[0] == '\\' && (s[1] == '"' || s[1] == '\\'))))
			*out++ = *++s;
		else if (within && *s == '"')
			within = false;
		else
			*out++ = *s;
	}
	field->len = (size_t)(out - field->s);
	field->raw = false;
}

static size_t count_breaks(const char *s, size_t len)
{
	size_t breaks = 0;

	for (const char *p = s; (p = memchr(p, '\n', (size_t)(s + len - p))) != NULL; p++)
		breaks++;
	return breaks;
}

static void finish_fields(struct csv_reader *r)
{
	for (size_t i = 0; i < r->count; i++) {
		struct csv_field *field = &r->fields[i];

		if (!field->quoted)
			continue;
		r->breaks += count_breaks(field->s, field->len);
		if (field->raw)
			unquote(field, r->escapes);
	}
}

/* Returns the position behind the line end at `s`; NULL if more must be read to know. */
static char *after_break(const struct csv_reader *r, char *s, const char *end)
{
	if (s == end)
		return s;
	if (*s == '\r' && s + 1 == end && !r->ended)
		return NULL;
	return s + (*s == '\r' && s + 1 < end && s[1] == '\n' ? 2 : 1);
}

/* Finds the row's fields. Returns where the next row begins; NULL if more must be read first. */
static char *scan(struct csv_reader *r)
{
	char *s = r->text + r->at;
	char *end = r->text + r->end;

	r->count = 0;
	for (;;) {
		struct span span = { .at = s };

		span.quoted = r->quotes && s < end && *s == '"';
		span.end = span.quoted ? quoted_end(r, s, end, &span.raw) : plain_end(r, s, end);
		if (span.end == NULL)
			return NULL;
		add_field(r, &span);
		s = span.end;
		if (s == end || *s == '\n' || *s == '\r')
			return after_break(r, s, end);
		s++;
	}
}

static int fail_unended(const struct csv_reader *r, struct err *err)
{
	uint64_t line = r->line;

	if (r->count > 0)
		for (size_t i = 0; i < r->count; i++)
			line += r->fields[i].quoted ? count_breaks(r->fields[i].s, r->fields[i].len)
						    : 0;
	return err_set(err, ERR_INVALID, "line %ju has a quote that does not end", (uintmax_t)line);
}

int csv_next(struct csv_reader *reader, struct err *err)
{
	for (;;) {
		char *next = NULL;

		reader->line += reader->breaks;
		reader->breaks = 0;
		if (reader->at == reader->end && reader->ended)
			return 0;
		if (reader->at < reader->end)
			next = scan(reader);
		if (next == NULL && reader->ended)
			return fail_unended(reader, err);
		if (next == NULL) {
			if (read_more(reader, err) < 0)
				return -1;
			continue;
		}
		reader->at = (size_t)(next - reader->text);
		reader->breaks = 1;
		if (reader->count > 1 || reader->fields[0].len > 0 || reader->fields[0].quoted ||
		    reader->single) {
			if (!reader->begun)
				reader->single = reader->count == 1;
			reader->begun = true;
			finish_fields(reader);
			return 1;
		}
	}
}

/* ---- the separator ---- */

/* Counts `separator` in each of the first lines, outside quotes. Returns the number of lines. */
static size_t count_lines(const char *head, size_t len, char separator,
			  size_t counts[CSV_LOOK_LINES])
{
	size_t lines = 0;
	bool quoted = false;
	bool empty = true;

	counts[0] = 0;
	for (size_t i = 0; i < len && lines < CSV_LOOK_LINES; i++) {
		quoted ^= head[i] == '"';
		if (!quoted && (head[i] == '\n' || head[i] == '\r')) {
			lines += !empty;
			if (lines < CSV_LOOK_LINES)
				counts[lines] = 0;
			empty = true;
			continue;
		}
		empty = false;
		counts[lines] += !quoted && head[i] == separator;
	}
	/* A line that was cut off says nothing, unless it is the only one. */
	return lines == 0 && !empty ? 1 : lines;
}

/* Returns whether a blank follows a separator in the first line, as in text: "price, EUR". */
static bool is_spaced(const char *head, size_t len, char separator)
{
	bool quoted = false;
	size_t i = 0;

	while (i < len && (head[i] == '\n' || head[i] == '\r'))
		i++;
	for (; i + 1 < len && (quoted || (head[i] != '\n' && head[i] != '\r')); i++) {
		quoted ^= head[i] == '"';
		if (!quoted && head[i] == separator && head[i + 1] == ' ')
			return true;
	}
	return false;
}

/* How well a character separates the first lines. */
struct fit {
	size_t alike;
	bool spaced;
	size_t count;
};

static struct fit fit_of(const char *head, size_t len, char separator)
{
	size_t counts[CSV_LOOK_LINES];
	size_t lines = count_lines(head, len, separator, counts);
	struct fit fit = { .spaced = is_spaced(head, len, separator), .count = counts[0] };

	for (size_t i = 0; i < lines; i++)
		fit.alike += counts[0] > 0 && counts[i] == counts[0];
	return fit;
}

static bool is_better(const struct fit *a, const struct fit *b)
{
	if (a->alike != b->alike)
		return a->alike > b->alike;
	if (a->spaced != b->spaced)
		return b->spaced;
	return a->count > b->count;
}

char csv_separator(const char *head, size_t len)
{
	static const char candidates[] = { ',', ';', '\t', '|' };
	struct fit best = fit_of(head, len, candidates[0]);
	char chosen = candidates[0];

	for (size_t c = 1; c < sizeof(candidates); c++) {
		struct fit fit = fit_of(head, len, candidates[c]);

		if (!is_better(&fit, &best))
			continue;
		best = fit;
		chosen = candidates[c];
	}
	return chosen;
}

size_t csv_declared(const char *head, size_t len, char *ret_separator)
{
	enum { MARK = 4 }; /* sep= */
	size_t end = MARK + 1;

	if (len <= end || strncasecmp(head, "sep=", MARK) != 0 || head[MARK] == '\n' ||
	    head[MARK] == '\r')
		return 0;
	if (head[end] == '\r')
		end++;
	if (end >= len || head[end] != '\n')
		return 0;
	*ret_separator = head[MARK];
	return end + 1;
}

/* ---- writing ---- */

enum { WORD = sizeof(uint64_t) };

#define EACH_BYTE(b) (UINT64_C(0x0101010101010101) * (b))

/* Returns nonzero if one of the eight bytes is zero. */
static uint64_t zero_bytes(uint64_t word)
{
	return (word - EACH_BYTE(1)) & ~word & EACH_BYTE(0x80);
}

static bool has_special(const char *s, size_t len)
{
	uint64_t word = 0;

	for (; len >= WORD; s += WORD, len -= WORD) {
		memcpy(&word, s, WORD);
		if ((zero_bytes(word ^ EACH_BYTE(',')) | zero_bytes(word ^ EACH_BYTE('"')) |
		     zero_bytes(word ^ EACH_BYTE('\n')) | zero_bytes(word ^ EACH_BYTE('\r'))) != 0)
			return true;
	}
	for (size_t i = 0; i < len; i++)
		if (s[i] == ',' || s[i] == '"' || s[i] == '\n' || s[i] == '\r')
			return true;
	return false;
}

static bool needs_quotes(const char *s, size_t len)
{
	return len == 0 || s[0] == ' ' || s[len - 1] == ' ' || has_special(s, len);
}

void csv_put(struct buf *out, const char *s, size_t len)
{
	if (s == NULL)
		return;
	if (!needs_quotes(s, len)) {
		buf_put(out, s, len);
		return;
	}
	buf_put(out, "\"", 1);
	while (len > 0) {
		const char *quote = memchr(s, '"', len);
		size_t part = quote == NULL ? len : (size_t)(quote - s) + 1;

		buf_put(out, s, part);
		if (quote != NULL)
			buf_put(out, "\"", 1);
		s += part;
		len -= part;
	}
	buf_put(out, "\"", 1);
}
