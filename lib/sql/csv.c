/* SPDX-License-Identifier: MIT */
#include "sql/csv.h"

#include <stdint.h>
#include <string.h>

void csv_start(struct csv_reader *reader, char separator, const struct csv_handlers *handlers,
	       void *data)
{
	*reader = (struct csv_reader){
		.handlers = handlers, .data = data, .separator = separator, .line = 1
	};
	buf_init(&reader->field, CSV_FIELD_MAX);
}

void csv_release(struct csv_reader *reader)
{
	buf_release(&reader->field);
}

static int end_field(struct csv_reader *r, struct err *err)
{
	bool missing = r->field.len == 0 && !r->was_quoted;
	int result = r->handlers->field(r->data, buf_str(&r->field), r->field.len, missing, err);

	buf_clear(&r->field);
	r->state = CSV_FIELD_START;
	r->was_quoted = false;
	return result;
}

static int end_row(struct csv_reader *r, struct err *err)
{
	if (!r->in_row)
		return 0;
	r->in_row = false;
	if (end_field(r, err) < 0)
		return -1;
	return r->handlers->row(r->data, err);
}

static int add(struct csv_reader *r, const char *s, size_t len, struct err *err)
{
	if (buf_add(&r->field, s, len, err) < 0)
		return err_set(err, ERR_LIMIT, "line %zu has a field of more than %d MB", r->line,
			       CSV_FIELD_MAX >> 20);
	return 0;
}

/* How many bytes from `s` on are nothing but text in this state. */
static size_t plain_run(const struct csv_reader *r, const char *s, size_t len)
{
	size_t n = 0;

	if (r->state == CSV_QUOTED) {
		const char *quote = memchr(s, '"', len);

		return quote == NULL ? len : (size_t)(quote - s);
	}
	while (n < len && s[n] != r->separator && s[n] != '\n' && s[n] != '\r')
		n++;
	return n;
}

static size_t count_lines(const char *s, size_t len)
{
	size_t lines = 0;

	for (const char *p = s; (p = memchr(p, '\n', (size_t)(s + len - p))) != NULL; p++)
		lines++;
	return lines;
}

/* A separator or a line end outside of quotes; `c` is none: false. */
static bool take_border(struct csv_reader *r, char c, int *ret_result, struct err *err)
{
	if (c == r->separator) {
		r->in_row = true;
		*ret_result = end_field(r, err);
		return true;
	}
	if (c != '\n' && c != '\r')
		return false;
	*ret_result = end_row(r, err);
	if (*ret_result < 0)
		return true;
	r->line += c == '\r' || !r->after_cr;
	r->after_cr = c == '\r';
	return true;
}

/* One character that matters, or a run of those that do not; returns how many, 0 on failure. */
static size_t take(struct csv_reader *r, const char *s, size_t len, struct err *err)
{
	size_t run;
	int result = 0;

	if (r->state == CSV_QUOTED && *s == '"') {
		r->state = CSV_QUOTE_SEEN;
		return 1;
	}
	if (r->state != CSV_QUOTED && take_border(r, *s, &result, err))
		return result < 0 ? 0 : 1;
	r->in_row = true;
	r->after_cr = false;
	if (*s == '"' && r->state == CSV_FIELD_START) {
		r->state = CSV_QUOTED;
		r->was_quoted = true;
		return 1;
	}
	if (*s == '"' && r->state == CSV_QUOTE_SEEN) {
		r->state = CSV_QUOTED;
		return add(r, s, 1, err) < 0 ? 0 : 1;
	}
	if (r->state != CSV_QUOTED)
		r->state = CSV_PLAIN;
	run = plain_run(r, s, len);
	if (r->state == CSV_QUOTED)
		r->line += count_lines(s, run);
	return add(r, s, run, err) < 0 ? 0 : run;
}

int csv_feed(struct csv_reader *reader, const char *s, size_t len, struct err *err)
{
	while (len > 0) {
		size_t used = take(reader, s, len, err);

		if (used == 0)
			return -1;
		s += used;
		len -= used;
	}
	return 0;
}

int csv_finish(struct csv_reader *reader, struct err *err)
{
	if (reader->state == CSV_QUOTED)
		return err_set(err, ERR_INVALID, "the text ends within quotes");
	return end_row(reader, err);
}

char csv_separator(const char *head, size_t len)
{
	static const char candidates[] = { ',', ';', '\t' };
	size_t counts[sizeof(candidates)] = { 0 };
	size_t best = 0;
	bool quoted = false;

	for (size_t i = 0; i < len && (quoted || (head[i] != '\n' && head[i] != '\r')); i++) {
		if (head[i] == '"')
			quoted = !quoted;
		for (size_t c = 0; !quoted && c < sizeof(candidates); c++)
			counts[c] += head[i] == candidates[c];
	}
	for (size_t c = 1; c < sizeof(candidates); c++)
		if (counts[c] > counts[best])
			best = c;
	return candidates[best];
}

enum { WORD = sizeof(uint64_t) };

#define EACH_BYTE(b) (UINT64_C(0x0101010101010101) * (b))

/* Not zero when one of the eight bytes is zero. */
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
