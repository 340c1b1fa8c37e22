/* SPDX-License-Identifier: MIT */
/* magics.c - reads a cell line by line. A line that continues an expression or a string has none.
 */
#include "journal/magics.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

struct reader {
	const char *at;
	const char *end;
	struct buf *out;
	int depth; /* of brackets */
};

struct span {
	const char *data;
	size_t len;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\f';
}

static bool ends_line(char c)
{
	return c == '\n' || c == '\r';
}

static struct span trimmed(const char *from, const char *to)
{
	while (from < to && is_blank(*from))
		from++;
	while (to > from && (is_blank(to[-1]) || ends_line(to[-1])))
		to--;
	return (struct span){ .data = from, .len = (size_t)(to - from) };
}

/* Appends a Python string, as repr() writes it. Bytes beyond ASCII stay. */
static void put_string(struct buf *out, struct span text)
{
	bool single = memchr(text.data, '\'', text.len) != NULL;
	char quote = single && memchr(text.data, '"', text.len) == NULL ? '"' : '\'';

	buf_put_char(out, quote);
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];

		if (c == '\n' || c == '\r' || c == '\t')
			buf_puts(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
		else if (c == quote || c == '\\')
			buf_putf(out, "\\%c", c);
		else if ((unsigned char)c < ' ' || c == 0x7f)
			buf_putf(out, "\\x%02x", (unsigned int)c);
		else
			buf_put_char(out, c);
	}
	buf_put_char(out, quote);
}

/* Appends a call with one or two strings. */
static void put_call(struct buf *out, const char *method, struct span first,
		     const struct span *second)
{
	buf_putf(out, "get_ipython().%s(", method);
	put_string(out, first);
	if (second != NULL) {
		buf_puts(out, ", ");
		put_string(out, *second);
	}
	buf_puts(out, ")");
}

static void pass_line_end(struct reader *r)
{
	if (r->at < r->end)
		r->at += r->at[0] == '\r' && r->at + 1 < r->end && r->at[1] == '\n' ? 2 : 1;
}

/*
 * Takes the rest of the line without its end. Lines that a backslash continues are joined into
 * `joined`.
 */
static struct span take_rest(struct reader *r, struct buf *joined)
{
	const char *from = r->at;
	bool continued = true;

	while (continued) {
		while (r->at < r->end && !ends_line(*r->at))
			r->at++;
		continued = r->at < r->end && r->at > from && r->at[-1] == '\\';
		buf_put(joined, from, (size_t)(r->at - from) - (continued ? 1 : 0));
		if (!continued)
			break;
		buf_put_char(joined, ' ');
		pass_line_end(r);
		from = r->at;
	}
	return trimmed(buf_str(joined), buf_str(joined) + joined->len);
}

/* Splits a magic into its name and what follows. */
static struct span split(struct span text, struct span *ret_rest)
{
	size_t len = 0;

	while (len < text.len && !is_blank(text.data[len]))
		len++;
	*ret_rest = trimmed(text.data + len, text.data + text.len);
	return (struct span){ .data = text.data, .len = len };
}

/* Appends the call for a line that begins with % or !, behind an equals sign or not. */
static void take_escape(struct reader *r, bool assigned)
{
	cleanup_buf struct buf joined = BUF_INIT(BUF_UNBOUNDED);
	char mark = *r->at++;
	bool twice = r->at < r->end && *r->at == mark;
	struct span text;
	struct span rest;
	struct span name;

	if (twice)
		r->at++;
	text = take_rest(r, &joined);
	if (mark == '!') {
		put_call(r->out, twice || assigned ? "getoutput" : "system", text, NULL);
		return;
	}
	name = split(text, &rest);
	put_call(r->out, "run_line_magic", name, &rest);
}

/* Appends the call of a cell whose first line begins with %%. Its last line ends, as in Jupyter. */
static void take_cell(struct reader *r)
{
	cleanup_buf struct buf joined = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf body = BUF_INIT(BUF_UNBOUNDED);
	struct span line;
	struct span rest;
	struct span name;

	r->at += 2;
	line = take_rest(r, &joined);
	name = split(line, &rest);
	pass_line_end(r);
	buf_put(&body, r->at, (size_t)(r->end - r->at));
	if (body.len > 0 && body.data[body.len - 1] != '\n')
		buf_put_char(&body, '\n');
	buf_puts(r->out, "get_ipython().run_cell_magic(");
	put_string(r->out, name);
	buf_puts(r->out, ", ");
	put_string(r->out, rest);
	buf_puts(r->out, ", ");
	put_string(r->out, (struct span){ .data = buf_str(&body), .len = body.len });
	buf_puts(r->out, ")");
	r->at = r->end;
}

/* Appends a string of the code as it is. One of one quote ends with its line. */
static void copy_string(struct reader *r)
{
	const char *from = r->at;
	char quote = *from;
	size_t quotes = r->end - from >= 3 && from[1] == quote && from[2] == quote ? 3 : 1;

	r->at += quotes;
	while (r->at < r->end) {
		if (*r->at == '\\' && r->at + 1 < r->end) {
			r->at += 2;
			continue;
		}
		if (quotes == 1 && (*r->at == quote || *r->at == '\n')) {
			r->at += *r->at == quote ? 1 : 0;
			break;
		}
		if (quotes == 3 && r->end - r->at >= 3 && *r->at == quote && r->at[1] == quote &&
		    r->at[2] == quote) {
			r->at += 3;
			break;
		}
		r->at++;
	}
	buf_put(r->out, from, (size_t)(r->at - from));
}

/* Appends one character of the code, with what belongs to it. Returns false at a line's end. */
static bool copy_code(struct reader *r)
{
	char c = *r->at;

	if (c == '\'' || c == '"') {
		copy_string(r);
		return true;
	}
	if (c == '#') {
		while (r->at < r->end && !ends_line(*r->at))
			buf_put_char(r->out, *r->at++);
		return true;
	}
	if (strchr("([{", c) != NULL && c != '\0')
		r->depth++;
	else if (strchr(")]}", c) != NULL && c != '\0' && r->depth > 0)
		r->depth--;
	buf_put_char(r->out, c);
	r->at++;
	if (c == '\\' && r->at < r->end) { /* the next line continues this one */
		buf_put_char(r->out, *r->at++);
		return true;
	}
	return !(ends_line(c) && r->depth == 0);
}

/* Returns true behind an equals sign, with blanks between, at which a magic's mark stands. */
static bool is_assigned(const struct reader *r, size_t line_at)
{
	const char *line = buf_str(r->out) + line_at;
	const char *at = buf_str(r->out) + r->out->len;

	while (at > line && is_blank(at[-1]))
		at--;
	return r->depth == 0 && at > line && at[-1] == '=';
}

/* Replaces a line of the output that begins at `line_at` and is followed by question marks. */
static void take_help(struct reader *r, size_t line_at)
{
	cleanup_free char *line = xstrdup(buf_str(r->out) + line_at);
	size_t indent = strspn(line, " \t");
	struct span name = trimmed(line + indent, line + strlen(line));
	const char *marks = r->at;
	struct span method = { .data = "pinfo", .len = 5 };

	while (r->at < r->end && *r->at == '?')
		r->at++;
	if (r->at - marks > 1)
		method = (struct span){ .data = "pinfo2", .len = 6 };
	if (name.len == 0) { /* ?name */
		marks = r->at;
		while (r->at < r->end && !ends_line(*r->at))
			r->at++;
		name = trimmed(marks, r->at);
	}
	r->out->len = line_at + indent;
	put_call(r->out, "run_line_magic", method, &name);
}

static void take_line(struct reader *r)
{
	size_t line_at = r->out->len;

	while (r->at < r->end && is_blank(*r->at))
		buf_put_char(r->out, *r->at++);
	if (r->at < r->end && (*r->at == '%' || *r->at == '!')) {
		take_escape(r, false);
		return;
	}
	while (r->at < r->end) {
		if ((*r->at == '%' || *r->at == '!') && is_assigned(r, line_at)) {
			take_escape(r, true);
			return;
		}
		if (*r->at == '?' && r->depth == 0)
			take_help(r, line_at);
		else if (!copy_code(r))
			return;
	}
}

void magics_rewrite(struct buf *out, const char *code, size_t len)
{
	struct reader r = { .at = code, .end = code + len, .out = out };
	size_t lead = 0;

	while (lead < len && (is_blank(code[lead]) || ends_line(code[lead])))
		lead++;
	if (len - lead > 2 && code[lead] == '%' && code[lead + 1] == '%') {
		r.at += lead;
		take_cell(&r);
	}
	while (r.at < r.end)
		take_line(&r);
}
