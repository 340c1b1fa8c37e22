/* SPDX-License-Identifier: MIT */
/*
 * sanitize.c - one pipeline for all text: bytes, escape sequences removed, code points, the filter
 * of invisible characters, then the output of a block, line or word. Plain ASCII skips the
 * pipeline, since it is most of all output.
 */
#include "text/sanitize.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unictype.h>
#include <unistr.h>

#include "base/mem.h"
#include "text/escape.h"
#include "text/invisible.h"
#include "text/truncate.h"
#include "text/utf8.h"

enum { DOTS = 3, NEXT_LINE = 0x85 };

/* The pipeline: bytes, sequences removed, code points, filter, then `emit`. */
struct cleaner {
	struct escape escape;
	struct utf8_decoder utf8;
	struct invisible filter;
	bool after_cr;
	struct buf *out;
	void (*emit)(struct cleaner *cleaner, uint32_t cp);
	/* For one line: */
	size_t chars;
	size_t max_chars;
	size_t cut; /* bytes of `out` that leave room for the dots */
	bool blank; /* seen since the last character */
	bool word;
	bool full; /* the text continues after max_chars */
};

static void write_char(struct buf *out, uint32_t cp)
{
	char bytes[4];

	buf_put(out, bytes, utf8_encode(cp, bytes));
}

static bool is_line_break(uint32_t cp)
{
	return (cp >= '\n' && cp <= '\r') || cp == NEXT_LINE || cp == 0x2028 || cp == 0x2029;
}

static bool is_control(uint32_t cp)
{
	return cp < ' ' || (cp >= 0x7f && cp < 0xa0);
}

static void clean_char(struct cleaner *c, uint32_t cp)
{
	bool second_of_crlf = c->after_cr && cp == '\n';
	uint32_t kept[INVISIBLE_OUT_MAX];
	size_t count;

	c->after_cr = cp == '\r';
	if (second_of_crlf)
		return;
	if (is_line_break(cp))
		cp = '\n';
	else if (cp != '\t' && is_control(cp))
		return;
	count = invisible_next(&c->filter, cp, kept);
	for (size_t i = 0; i < count; i++)
		c->emit(c, kept[i]);
}

static void clean_byte(struct cleaner *c, unsigned char byte)
{
	int32_t first;
	int32_t second;

	if (escape_feed(&c->escape, byte) != ESCAPE_TEXT) {
		if (utf8_decode_end(&c->utf8))
			clean_char(c, UTF8_REPLACEMENT);
		return;
	}
	utf8_decode(&c->utf8, byte, &first, &second);
	if (first != UTF8_MORE)
		clean_char(c, (uint32_t)first);
	if (second != UTF8_MORE)
		clean_char(c, (uint32_t)second);
}

static void clean_rest(struct cleaner *c)
{
	if (utf8_decode_end(&c->utf8))
		clean_char(c, UTF8_REPLACEMENT);
}

static void clean_all(struct cleaner *c, const char *s, size_t len)
{
	for (size_t i = 0; i < len && !c->full; i++)
		clean_byte(c, (unsigned char)s[i]);
	clean_rest(c);
}

static void emit_block(struct cleaner *c, uint32_t cp)
{
	write_char(c->out, cp);
}

/*
 * Returns how many bytes of `s` stay unchanged, with any continuation: printable ASCII outside
 * sequences.
 */
static size_t plain_run(const struct cleaner *c, const char *s, size_t len)
{
	size_t run = 0;

	if (!escape_idle(&c->escape) || c->utf8.missing > 0)
		return 0;
	while (run < len && s[run] >= ' ' && s[run] <= '~')
		run++;
	return run;
}

static void clean_many(struct cleaner *c, const char *s, size_t len)
{
	size_t i = 0;

	while (i < len) {
		size_t run = plain_run(c, s + i, len - i);

		if (run == 0) {
			clean_byte(c, (unsigned char)s[i++]);
			continue;
		}
		buf_put(c->out, s + i, run);
		i += run;
		c->filter = (struct invisible){ .previous = (unsigned char)s[i - 1] };
		c->after_cr = false;
	}
}

void sanitize_block(struct buf *out, const char *s, size_t len)
{
	struct cleaner cleaner = { .out = out, .emit = emit_block };

	clean_many(&cleaner, s, len);
	clean_rest(&cleaner);
}

struct sanitize_stream {
	struct cleaner cleaner;
};

struct sanitize_stream *sanitize_stream_new(void)
{
	struct sanitize_stream *stream = xcalloc(1, sizeof(*stream));

	stream->cleaner.emit = emit_block;
	return stream;
}

void sanitize_stream_free(struct sanitize_stream *stream)
{
	free(stream);
}

void sanitize_feed(struct sanitize_stream *stream, const char *s, size_t len, struct buf *out)
{
	stream->cleaner.out = out;
	clean_many(&stream->cleaner, s, len);
}

void sanitize_end(struct sanitize_stream *stream, struct buf *out)
{
	stream->cleaner.out = out;
	clean_rest(&stream->cleaner);
}

static void add_to_line(struct cleaner *c, uint32_t cp)
{
	if (c->chars == c->max_chars) {
		c->full = true;
		return;
	}
	if (c->chars == c->max_chars - DOTS)
		c->cut = c->out->len;
	write_char(c->out, cp);
	c->chars++;
}

static void emit_line(struct cleaner *c, uint32_t cp)
{
	if (cp == '\n' || cp == '\t' || uc_is_property_white_space(cp)) {
		c->blank = true;
		return;
	}
	if (c->blank && c->chars > 0)
		add_to_line(c, c->word ? '_' : ' ');
	c->blank = false;
	if (c->word && cp < 0x80 && strchr("|[]#,", (int)cp) != NULL)
		cp = '_';
	add_to_line(c, cp);
}

/*
 * Returns where to cut a line. A grapheme cluster that alone fills the line is cut where the room
 * ends.
 */
static size_t line_end(const char *line, size_t len, size_t cut)
{
	size_t end = truncate_before(line, len, cut);

	return end > 0 ? end : cut;
}

/* Returns whether anything was left to show. */
static bool clean_one_line(struct cleaner *c, const char *s, size_t len)
{
	size_t start = c->out->len;

	assert(c->max_chars >= DOTS);
	clean_all(c, s, len);
	if (!c->full)
		return c->chars > 0;
	c->out->len =
		start + line_end(buf_str(c->out) + start, c->out->len - start, c->cut - start);
	buf_puts(c->out, "...");
	return true;
}

void sanitize_line(struct buf *out, const char *s, size_t len, size_t max_chars)
{
	struct cleaner cleaner = { .out = out, .emit = emit_line, .max_chars = max_chars };

	(void)clean_one_line(&cleaner, s, len);
}

void sanitize_word(struct buf *out, const char *s, size_t len, size_t max_chars)
{
	struct cleaner cleaner = {
		.out = out, .emit = emit_line, .max_chars = max_chars, .word = true
	};

	if (!clean_one_line(&cleaner, s, len))
		buf_puts(out, "_");
}

char *sanitize_quote(const char *s)
{
	struct buf out;

	buf_init(&out, BUF_UNBOUNDED);
	sanitize_line(&out, s, strlen(s), SANITIZE_QUOTE_MAX);
	return buf_steal(&out);
}

/* ---- paths ---- */

static bool is_clean_path(const char *s, size_t len)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	sanitize_block(&clean, s, len);
	return clean.len == len && memcmp(buf_str(&clean), s, len) == 0 &&
	       memchr(s, '\n', len) == NULL && memchr(s, '\t', len) == NULL;
}

void sanitize_escape(struct buf *out, uint32_t cp)
{
	if (cp >= 0x10000) {
		cp -= 0x10000;
		buf_putf(out, "\\u%04" PRIx32, 0xd800 + (cp >> 10));
		cp = 0xdc00 + (cp & 0x3ff);
	}
	buf_putf(out, "\\u%04" PRIx32, cp);
}

static void write_string_char(struct buf *out, struct invisible *filter, uint32_t cp)
{
	uint32_t shown[INVISIBLE_OUT_MAX];

	if (is_line_break(cp) || is_control(cp) || cp == '|' ||
	    invisible_next(filter, cp, shown) != 1) {
		*filter = (struct invisible){ 0 };
		sanitize_escape(out, cp);
		return;
	}
	if (cp == '"' || cp == '\\')
		buf_put_char(out, '\\');
	write_char(out, cp);
}

static void write_string(struct buf *out, const char *s, size_t len)
{
	struct invisible filter = { 0 };

	buf_put_char(out, '"');
	while (len > 0) {
		ucs4_t cp;
		int bytes = u8_mbtoucr(&cp, (const uint8_t *)s, len);

		if (bytes > 0) {
			write_string_char(out, &filter, cp);
		} else {
			bytes = 1;
			sanitize_escape(out, 0xdc00U + (unsigned char)*s);
		}
		s += bytes;
		len -= (size_t)bytes;
	}
	buf_put_char(out, '"');
}

static void put_path(struct buf *out, const char *s, size_t len)
{
	if (len > 0 && s[0] != '"' && is_clean_path(s, len))
		buf_put(out, s, len);
	else
		write_string(out, s, len);
}

char *sanitize_path_string(const char *s)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	put_path(&out, s, strlen(s));
	return buf_steal(&out);
}

/* Returns whether it has no blanks of any script and no signs of the grammar. */
static bool is_word(const char *s, size_t len)
{
	cleanup_buf struct buf word = BUF_INIT(BUF_UNBOUNDED);

	sanitize_word(&word, s, len, SANITIZE_PATH_MAX);
	return word.len == len && memcmp(buf_str(&word), s, len) == 0 &&
	       strpbrk(buf_str(&word), "\"\\") == NULL;
}

void sanitize_path_word(struct buf *out, const char *s, size_t len)
{
	size_t shown = utf8_offset(s, len, SANITIZE_PATH_MAX);

	if (is_clean_path(s, shown) && is_word(s, shown))
		put_path(out, s, shown);
	else
		write_string(out, s, shown);
	if (shown < len)
		buf_puts(out, "...");
}

void sanitize_symbol(struct buf *out, const char *s, size_t len)
{
	size_t shown = utf8_offset(s, len, SANITIZE_QUOTE_MAX);

	put_path(out, s, shown);
	if (shown < len)
		buf_puts(out, "...");
}

void sanitize_symbol_word(struct buf *out, const char *s, size_t len)
{
	size_t shown = utf8_offset(s, len, SANITIZE_QUOTE_MAX);

	if (shown > 0 && s[0] == '-')
		write_string(out, s, shown);
	else
		sanitize_path_word(out, s, shown);
	if (shown < len)
		buf_puts(out, "...");
}

static void write_path_char(struct buf *out, struct invisible *filter, int32_t decoded)
{
	uint32_t cp = (uint32_t)decoded;
	uint32_t shown[INVISIBLE_OUT_MAX];

	if (decoded == UTF8_MORE)
		return;
	if (is_line_break(cp) || is_control(cp) || invisible_next(filter, cp, shown) != 1) {
		cp = '_';
		(void)invisible_next(filter, cp, shown);
	}
	write_char(out, cp);
}

void sanitize_name(struct buf *out, const char *s, size_t len)
{
	struct utf8_decoder utf8 = { .missing = 0 };
	struct invisible filter = { 0 };

	if (is_clean_path(s, len)) {
		buf_put(out, s, len);
		return;
	}
	for (size_t i = 0; i < len; i++) {
		int32_t first;
		int32_t second;

		utf8_decode(&utf8, (unsigned char)s[i], &first, &second);
		write_path_char(out, &filter, first);
		write_path_char(out, &filter, second);
	}
	if (utf8_decode_end(&utf8))
		write_char(out, UTF8_REPLACEMENT);
}
