/* SPDX-License-Identifier: MIT */
/*
 * redact_whole.c - removes values from a text that is there as a whole. Only here truncated values
 * can be found: a text shortened for display keeps the beginning of a value before the dots, and
 * its end behind them. The end is found by reading the letters behind the dots backwards through a
 * matcher of reversed strings.
 */
#include <stdlib.h>

#include "base/chars.h"
#include "base/mem.h"
#include "redact/redact_internal.h"

/*
 * The most bytes of text for one letter of a value: &#xHHHHHHH; and bytes that stand for nothing
 * between two letters.
 */
enum { REACH_PER_LETTER = 11, REACH_MORE = 512 };

enum { ESCAPE_LETTERS_MAX = 8 }; /* of an escape whose start is cut off */

/* Letters behind a gap, and where in the text each of them ends. */
struct letters {
	struct buf bytes;
	uint64_t *ends;
};

static void read_letters(const struct redact_stream *s, const struct view_kind *kind, size_t at,
			 size_t max, struct letters *ret)
{
	struct piece piece;

	for (; at < s->text.len && ret->bytes.len < max; at += piece.len) {
		(void)encoding_next(kind->encoding, s->text.data + at, s->text.len - at, true,
				    &piece);
		for (size_t i = 0; i < piece.count; i++) {
			int letter = redact_letter(kind->alphabet, piece.bytes[i]);
			char byte = (char)letter;

			if (letter == REDACT_NO_LETTER)
				return;
			if (letter == REDACT_NOTHING || ret->bytes.len >= max)
				continue;
			ret->ends[ret->bytes.len] = s->base + at + piece.len;
			buf_put(&ret->bytes, &byte, 1);
		}
	}
}

/*
 * Marks the last letters of a value behind a gap. Read backwards, they are the first of its
 * reversed string.
 */
static void mark_tail(struct redact_stream *s, const struct view_kind *kind, size_t at)
{
	const struct matcher *ends = s->redact->ends[kind->pattern];
	/* A letter takes at least one byte of the text. */
	size_t max = size_min(matcher_longest(ends) + ESCAPE_LETTERS_MAX, s->text.len - at);
	cleanup_free uint64_t *places = xcalloc(max, sizeof(*places));
	struct letters letters = { .bytes = BUF_INIT(BUF_UNBOUNDED), .ends = places };
	uint32_t state = MATCHER_START;

	read_letters(s, kind, at, max, &letters);
	for (size_t i = letters.bytes.len; i > 0; i--) {
		size_t depth;

		state = matcher_step(ends, state, (unsigned char)letters.bytes.data[i - 1]);
		depth = matcher_depth(ends, state);
		if (i <= ESCAPE_LETTERS_MAX && depth >= REDACT_TRUNCATED_MIN)
			redact_mark(s, (struct mark){ .from = s->base + at,
						      .to = places[i - 1 + depth - 1],
						      .longest = depth,
						      .tag = matcher_prefix_tag(ends, state) });
	}
	buf_release(&letters.bytes);
}

/* Returns where the text continues behind dots: after a line's end or a blank, a b, a quote. */
static size_t after_gap(const struct redact_stream *s, size_t at)
{
	const char *text = s->text.data;
	size_t len = s->text.len;

	while (at < len && (text[at] == '.' || text[at] == ']' || char_is_blank(text[at])))
		at++;
	if (at + 1 < len && text[at] == 'b' && memchr("'\"", text[at + 1], 2) != NULL)
		at++;
	return at < len && memchr("'\"`", text[at], 3) != NULL ? at + 1 : at;
}

static uint64_t end_of(const struct redact_stream *s)
{
	return s->base + s->text.len;
}

/*
 * Marks the end of a value behind the next gap, which holds its first part. Returns false if there
 * is no further gap.
 */
static bool mark_next_gap(struct redact_stream *s)
{
	static const char dots[] = "...";
	size_t at = (size_t)(s->gap - s->base);
	const char *gap = NULL;

	if (s->gaps < REDACT_GAPS_MAX)
		gap = memmem(buf_str(&s->text) + at, s->text.len - at, dots, strlen(dots));
	if (gap == NULL) {
		s->gaps = REDACT_GAPS_MAX;
		return false;
	}
	at = after_gap(s, (size_t)(gap - s->text.data));
	for (size_t i = 0; i < VIEWS; i++)
		mark_tail(s, &redact_view_kinds[i], at);
	s->gap = s->base + at;
	s->gaps++;
	return true;
}

/* Makes the stream unused again. */
static enum redact_step reset_stream(struct redact_stream *s, enum redact_step step)
{
	s->emitted = end_of(s);
	redact_forget(s);
	s->found = s->whole = s->cut = false;
	s->gaps = 0;
	for (size_t i = 0; i < VIEWS; i++)
		s->views[i].state = MATCHER_START;
	return step;
}

void redact_begin(struct redact_stream *s, const char *text, size_t len)
{
	s->whole = true;
	s->scanned = s->gap = end_of(s);
	buf_put(&s->text, text, len);
}

enum redact_step redact_step(struct redact_stream *s, struct buf *out)
{
	if (s->scanned < end_of(s)) {
		redact_scan_slice(s, s->scanned, true);
		s->scanned = size_min(s->scanned + REDACT_SLICE, end_of(s));
		return REDACT_MORE;
	}
	if (mark_next_gap(s))
		return REDACT_MORE;
	if (!s->found)
		return reset_stream(s, REDACT_NOTHING_FOUND);
	redact_emit(s, size_min(s->emitted + REDACT_SLICE, end_of(s)), out);
	return s->emitted < end_of(s) ? REDACT_MORE : reset_stream(s, REDACT_FOUND);
}

static bool redact_whole(struct redact_stream *s, const char *text, size_t len, bool cut,
			 struct buf *out)
{
	enum redact_step step;

	redact_begin(s, text, len);
	s->cut = cut;
	while ((step = redact_step(s, out)) == REDACT_MORE)
		;
	return step == REDACT_FOUND;
}

bool redact_text(struct redact_stream *s, const char *text, size_t len, struct buf *out)
{
	return redact_whole(s, text, len, false, out);
}

static void redact_part(const struct redact *redact, char **text, bool cut)
{
	struct redact_stream *s;
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (redact == NULL || *text == NULL)
		return;
	s = redact_stream_new(redact);
	if (redact_whole(s, *text, strlen(*text), cut, &out)) {
		free(*text);
		*text = buf_steal(&out);
	}
	redact_stream_free(s);
}

void redact_string(const struct redact *redact, char **text)
{
	redact_part(redact, text, false);
}

void redact_cut_string(const struct redact *redact, char **text)
{
	redact_part(redact, text, true);
}

void redact_range(const struct redact *redact, const char *text, size_t len, size_t from, size_t to,
		  struct buf *out)
{
	struct redact_stream *s = redact_stream_new(redact);
	cleanup_buf struct buf before = BUF_INIT(BUF_UNBOUNDED);

	s->whole = true;
	buf_put(&s->text, text, len);
	redact_scan(s, true);
	redact_emit(s, from, &before);
	redact_emit(s, to, out);
	redact_stream_free(s);
}

size_t redact_reach(const struct redact *redact)
{
	return REACH_PER_LETTER * matcher_longest(redact->matchers[PATTERN_PERCENT]) + REACH_MORE;
}
