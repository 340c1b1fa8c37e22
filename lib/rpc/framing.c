/* SPDX-License-Identifier: MIT */
/*
 * framing.c - splits the input at newlines. A line that lies within one chunk is handed on where it
 * is; only an incomplete one is copied. This saves copying requests of megabytes, and the server's
 * memory stays bounded by one line.
 */
#include "rpc/framing.h"

#include <string.h>

/* A buffer that one long line has grown is freed after it. */
enum { KEEP_CAP = 64 << 10 };

void framing_init(struct framing *framing, size_t line_max, const struct framing_handlers *handlers)
{
	framing->handlers = handlers;
	framing->line_max = line_max;
	framing->skipping = false;
	framing->begun = false;
	buf_init(&framing->partial, line_max);
}

void framing_release(struct framing *framing)
{
	buf_release(&framing->partial);
}

static bool is_blank(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
			return false;
	return true;
}

static void emit(struct framing *framing, const char *line, size_t len)
{
	static const char mark[] = { '\xef', '\xbb', '\xbf' };

	if (!framing->begun && len >= sizeof(mark) && memcmp(line, mark, sizeof(mark)) == 0) {
		line += sizeof(mark);
		len -= sizeof(mark);
	}
	framing->begun = true;
	if (len > 0 && line[len - 1] == '\r')
		len--;
	if (!is_blank(line, len))
		framing->handlers->line(framing, line, len);
}

static void drop_partial(struct framing *framing)
{
	if (framing->partial.cap > KEEP_CAP)
		buf_release(&framing->partial);
	else
		buf_clear(&framing->partial);
}

/* Stores the start of a line. Returns false if the line is over the maximum. */
static bool store_partial(struct framing *framing, const char *data, size_t len)
{
	struct err err;

	if (!framing->skipping && buf_add(&framing->partial, data, len, &err) < 0) {
		const struct buf *partial = &framing->partial;

		framing->skipping = true;
		framing->handlers->too_long(framing, partial->len > 0 ? partial->data : data,
					    partial->len > 0 ? partial->len : len);
		drop_partial(framing);
	}
	return !framing->skipping;
}

/* Ends a line with these `len` bytes, which exclude its \n. */
static void end_line(struct framing *framing, const char *data, size_t len)
{
	bool whole = framing->partial.len == 0 && !framing->skipping && len <= framing->line_max;

	if (whole) {
		emit(framing, data, len);
		return;
	}
	if (store_partial(framing, data, len))
		emit(framing, framing->partial.data, framing->partial.len);
	framing->skipping = false;
	drop_partial(framing);
}

void framing_feed(struct framing *framing, const char *data, size_t len)
{
	const char *end = data + len;

	while (data < end) {
		const char *newline = memchr(data, '\n', (size_t)(end - data));

		if (newline == NULL) {
			(void)store_partial(framing, data, (size_t)(end - data));
			return;
		}
		end_line(framing, data, (size_t)(newline - data));
		data = newline + 1;
	}
}

void framing_end(struct framing *framing)
{
	if (framing->partial.len > 0)
		end_line(framing, "", 0);
	framing->skipping = false;
}
