/* SPDX-License-Identifier: MIT */
/*
 * html.c - cleans text, then escapes it. Cleaning comes first: it writes <U+200B> for characters
 * that are not seen, and these brackets are escaped as all others.
 */
#include "journal/html.h"

#include "text/sanitize.h"

static const char *reference_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

static void put_escaped(struct buf *out, const char *text, size_t len)
{
	size_t from = 0;

	for (size_t i = 0; i < len; i++) {
		const char *reference = reference_of(text[i]);

		if (reference == NULL)
			continue;
		buf_put(out, text + from, i - from);
		buf_puts(out, reference);
		from = i + 1;
	}
	buf_put(out, text + from, len - from);
}

void html_block(struct buf *out, const char *text, size_t len)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	sanitize_block(&clean, text, len);
	put_escaped(out, buf_str(&clean), clean.len);
}

void html_line(struct buf *out, const char *text, size_t len, size_t max_chars)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	sanitize_line(&clean, text, len, max_chars);
	put_escaped(out, buf_str(&clean), clean.len);
}

/* Returns the bytes of the control character (C0, DEL or C1) at `s`, or 0; not of a line end. */
static size_t control_len(const char *s, size_t len)
{
	unsigned char c = (unsigned char)s[0];
	unsigned char next = len > 1 ? (unsigned char)s[1] : 0;

	if (c == 0xc2 && next >= 0x80 && next < 0xa0)
		return next == 0x85 ? 0 : 2;
	return (c < ' ' && c != '\n' && c != '\r' && c != '\t') || c == 0x7f;
}

void html_code(struct buf *out, const char *code, size_t len)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < len;) {
		size_t control = control_len(code + i, len - i);

		if (control == 0)
			buf_put_char(&shown, code[i++]);
		else
			buf_putf(&shown, "<U+%04X>", (unsigned char)code[i + control - 1]);
		i += control;
	}
	html_block(out, buf_str(&shown), shown.len);
}
