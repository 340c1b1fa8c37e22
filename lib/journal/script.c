/* SPDX-License-Identifier: MIT */
/*
 * script.c - writes the pieces of a script. A cell of another language must not leave its comment,
 * so each character that ends a line in any of the languages is followed by a new comment mark.
 */
#include "journal/script.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "journal/magics.h"

static const char *leader_of(const char *language)
{
	return str_eq(language, "javascript") ? "// " : "# ";
}

/*
 * Returns the bytes up to the end of the line at `s`, including it, or all `len` if nothing ends
 * the line.
 */
static size_t line_len(const char *s, size_t len, bool *ret_ended)
{
	*ret_ended = true;
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '\n')
			return i + 1;
		if (s[i] == '\r')
			return i + (i + 1 < len && s[i + 1] == '\n' ? 2 : 1);
		/* U+2028 and U+2029 */
		if (i + 2 < len && memcmp(s + i, "\xe2\x80", 2) == 0 &&
		    ((unsigned char)s[i + 2] & 0xfeU) == 0xa8U)
			return i + 3;
	}
	*ret_ended = false;
	return len;
}

/*
 * Returns whether JavaScript would take the cell for more of the statement before it, which may
 * lack its semicolon. Comments of a line may stand in between.
 */
static bool continues_statement(const char *code, size_t len)
{
	size_t at = 0;
	bool ended;

	for (; at < len; at++) {
		if (at + 1 < len && memcmp(code + at, "//", 2) == 0)
			at += line_len(code + at, len - at, &ended) - 1;
		else if (strchr(" \t\r\n", code[at]) == NULL)
			break;
	}
	return at < len && strchr("([`+-*/", code[at]) != NULL;
}

/* Appends the code as a script runs it, with a line end. */
static void put_code(struct buf *out, const char *language, const char *code, size_t len)
{
	size_t before = out->len;

	if (str_eq(language, "python")) {
		magics_rewrite(out, code, len);
	} else {
		if (str_eq(language, "javascript") && continues_statement(code, len))
			buf_put_char(out, ';');
		buf_put(out, code, len);
	}
	if (out->len > before && out->data[out->len - 1] != '\n')
		buf_put_char(out, '\n');
}

/* Appends the code as comments, with a line end. */
static void put_comments(struct buf *out, const char *leader, const char *code, size_t len)
{
	bool ended = true;

	while (len > 0) {
		size_t line = line_len(code, len, &ended);

		buf_puts(out, leader);
		buf_put(out, code, line);
		code += line;
		len -= line;
	}
	if (!ended)
		buf_put_char(out, '\n');
}

void script_measure(struct script_cell *cell, const char *code)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t left = cell->code_len;

	put_code(&text, cell->language, code, left);
	cell->nul = left > 0 && memchr(code, '\0', left) != NULL;
	cell->runs_len = text.len;
	cell->lines = 0;
	for (cell->open = false; left > 0; cell->lines++) {
		bool ended;
		size_t line = line_len(code, left, &ended);

		cell->open = !ended;
		code += line;
		left -= line;
	}
}

static void put_head(struct buf *out, const struct script_cell *cell, const char *language)
{
	buf_putf(out, "%s%%%% cell %" PRIu64, leader_of(language), cell->number);
	if (!str_eq(cell->language, language))
		buf_putf(out, ", %s", cell->language);
	if (!str_eq(cell->state, "done"))
		buf_putf(out, ", %s", cell->state);
	if (cell->broken && str_eq(cell->language, language))
		buf_puts(out, ", left out: it does not run");
	buf_puts(out, "\n");
}

/* Returns whether bash says that the cell does not parse. It has no error name for that. */
static bool says_syntax_error(const struct script_cell *cell, const char *text)
{
	cleanup_free char *place = xasprintf("cell %" PRIu64 ": line ", cell->number);

	for (const char *at = strstr(text, place); at != NULL; at = strstr(at + 1, place)) {
		const char *what = at + strlen(place);

		what += strspn(what, "0123456789");
		if ((at == text || at[-1] == '\n') &&
		    (str_begins(what, ": syntax error") || str_begins(what, ": unexpected EOF")))
			return true;
	}
	return false;
}

bool script_is_broken(const struct script_cell *cell, const char *error_name, const char *text)
{
	static const char *const states[] = { "died", "killed" };
	static const char *const errors[] = { "SyntaxError", "IndentationError", "TabError",
					      "parseError" };

	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (str_eq(states[i], cell->state))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (error_name != NULL && str_eq(errors[i], error_name))
			return true;
	if (cell->nul && str_eq(cell->language, "python"))
		return true;
	return text != NULL && str_eq(cell->language, "bash") && says_syntax_error(cell, text);
}

static bool runs(const struct script_cell *cell, const char *language)
{
	return str_eq(cell->language, language) && !cell->broken;
}

size_t script_size(const struct script_cell *cell, const char *language)
{
	cleanup_buf struct buf head = BUF_INIT(BUF_UNBOUNDED);

	put_head(&head, cell, language);
	if (runs(cell, language))
		return head.len + cell->runs_len + 1;
	return head.len + cell->code_len + cell->lines * strlen(leader_of(language)) +
	       (cell->open ? 1 : 0) + 1;
}

void script_write(struct buf *out, const struct script_cell *cell, const char *language,
		  const char *code)
{
	put_head(out, cell, language);
	if (runs(cell, language))
		put_code(out, language, code, cell->code_len);
	else
		put_comments(out, leader_of(language), code, cell->code_len);
	buf_puts(out, "\n");
}

void script_tail(struct buf *out, const char *language, uint64_t left_out)
{
	if (left_out > 0)
		buf_putf(out,
			 "%s%%%% The journal is full: %" PRIu64 " cells after this point are not "
			 "in it (PTYCELL_JOURNAL_MAX).\n",
			 leader_of(language), left_out);
}
