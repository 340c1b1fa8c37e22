/* SPDX-License-Identifier: MIT */
/* Texts that are there as a whole. */
#include <stdlib.h>

#include "base/mem.h"
#include "redact/redact_internal.h"

/* Of a text for one letter of a value: &#xHHHHHHH; and for what means nothing between two. */
enum { REACH_PER_LETTER = 11, REACH_MORE = 512 };

enum { ESCAPE_LETTERS_MAX = 8 }; /* of one whose start is cut off */

/* Letters behind a gap, and where in the text each of them ends. */
struct letters {
	struct buf bytes;
	uint64_t *ends;
};

static void read_letters(const struct redact_stream *s, const struct look *look, size_t at,
			 size_t max, struct letters *ret)
{
	struct spelled spelled;

	for (; at < s->text.len && ret->bytes.len < max; at += spelled.len) {
		(void)encoding_next(look->spelling, s->text.data + at, s->text.len - at, true,
				    &spelled);
		for (size_t i = 0; i < spelled.count; i++) {
			int letter = redact_letter(look->alphabet, spelled.bytes[i]);
			char byte = (char)letter;

			if (letter == REDACT_NO_LETTER)
				return;
			if (letter == REDACT_NOTHING || ret->bytes.len >= max)
				continue;
			ret->ends[ret->bytes.len] = s->base + at + spelled.len;
			buf_put(&ret->bytes, &byte, 1);
		}
	}
}

/* Backwards, the last letters of a value are its first. */
static void mark_ended(struct redact_stream *s, const struct look *look, size_t at)
{
	const struct matcher *ends = s->redact->ends[look->pattern];
	/* A letter takes a byte of the text at least. */
	size_t max = size_min(matcher_longest(ends) + ESCAPE_LETTERS_MAX, s->text.len - at);
	cleanup_free uint64_t *places = xcalloc(max, sizeof(*places));
	struct letters letters = { .bytes = BUF_INIT(BUF_UNBOUNDED), .ends = places };
	uint32_t state = MATCHER_START;

	read_letters(s, look, at, max, &letters);
	for (size_t i = letters.bytes.len; i > 0; i--) {
		size_t depth;

		state = matcher_step(ends, state, (unsigned char)letters.bytes.data[i - 1]);
		depth = matcher_depth(ends, state);
		if (i <= ESCAPE_LETTERS_MAX && depth >= REDACT_BEGUN_MIN)
			redact_mark(s, (struct mark){ .from = s->base + at,
						      .to = places[i - 1 + depth - 1],
						      .longest = depth,
						      .tag = matcher_begun(ends, state) });
	}
	buf_release(&letters.bytes);
}

/* Where the text goes on behind dots: a line's end or a blank, a b, a quote. */
static size_t after_gap(const struct redact_stream *s, size_t at)
{
	const char *text = s->text.data;
	size_t len = s->text.len;

	while (at < len && (text[at] == '.' || text[at] == ']' || redact_is_blank(text[at])))
		at++;
	if (at + 1 < len && text[at] == 'b' && memchr("'\"", text[at + 1], 2) != NULL)
		at++;
	return at < len && memchr("'\"`", text[at], 3) != NULL ? at + 1 : at;
}

static uint64_t end_of(const struct redact_stream *s)
{
	return s->base + s->text.len;
}

/* A value whose first part is in what was left out, behind the next gap; false: there is none. */
static bool mark_end(struct redact_stream *s)
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
		mark_ended(s, &redact_looks[i], at);
	s->gap = s->base + at;
	s->gaps++;
	return true;
}

/* The stream is as new. */
static enum redact_step settle(struct redact_stream *s, enum redact_step step)
{
	s->said = end_of(s);
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
	s->looked = s->gap = end_of(s);
	buf_put(&s->text, text, len);
}

enum redact_step redact_step(struct redact_stream *s, struct buf *out)
{
	if (s->looked < end_of(s)) {
		redact_look_at(s, s->looked, true);
		s->looked = size_min(s->looked + REDACT_LOOK_SLICE, end_of(s));
		return REDACT_MORE;
	}
	if (mark_end(s))
		return REDACT_MORE;
	if (!s->found)
		return settle(s, REDACT_NOTHING_FOUND);
	redact_say(s, size_min(s->said + REDACT_LOOK_SLICE, end_of(s)), out);
	return s->said < end_of(s) ? REDACT_MORE : settle(s, REDACT_FOUND);
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
	redact_look(s, true);
	redact_say(s, from, &before);
	redact_say(s, to, out);
	redact_stream_free(s);
}

size_t redact_reach(const struct redact *redact)
{
	return REACH_PER_LETTER * matcher_longest(redact->matchers[PATTERN_PERCENT]) + REACH_MORE;
}
