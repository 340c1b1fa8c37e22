/* SPDX-License-Identifier: MIT */
/*
 * redact.c - searches a stream. The text passes through nine views at once: each reads it in one
 * encoding and one alphabet, and has a matcher of its own. A view remembers where the last letters
 * began, so that a match gives the range of the original text. Overlapping matches of all views are
 * merged into marks; text is emitted up to the earliest unfinished match.
 */
#include "redact/redact.h"

#include <stdlib.h>

#include "base/chars.h"
#include "base/mem.h"
#include "base/util.h"
#include "redact/redact_internal.h"
#include "text/escape.h"

enum {
	IGNORED_MAX = 256,   /* bytes that stand for nothing, between two letters of a value */
	CUT_ESCAPE_MAX = 32, /* bytes of an escape that was cut in two */
	CUT_BLANKS_MAX = 256,
	CUT_DOTS_MAX = 3, /* dots that belong to the value where it was cut */
	SHARED_MAX = 40,  /* letters that many values begin with */
};

/* ---- views and marks ---- */

struct redact_stream *redact_stream_new(const struct redact *redact)
{
	struct redact_stream *s = xcalloc(1, sizeof(*s));

	s->redact = redact;
	buf_init(&s->text, BUF_UNBOUNDED);
	for (size_t i = 0; i < VIEWS; i++) {
		struct view *v = &s->views[i];

		v->matcher = redact->matchers[redact_view_kinds[i].pattern];
		v->mask = 1;
		while (v->mask <= matcher_longest(v->matcher))
			v->mask *= 2;
		v->starts = xcalloc(v->mask--, sizeof(*v->starts));
	}
	return s;
}

void redact_stream_free(struct redact_stream *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < VIEWS; i++)
		free(s->views[i].starts);
	buf_release(&s->text);
	free(s->marks);
	free(s);
}

/* Returns where the last `len` letters begin. */
static uint64_t start_of(const struct view *v, size_t len)
{
	return v->starts[(v->letters - len) & v->mask];
}

/* Returns the first mark that ends behind `at`. */
static size_t mark_after(const struct redact_stream *s, uint64_t at)
{
	size_t low = s->mark_first;
	size_t high = s->mark_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->marks[middle].to <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Replaces the marks from `at` to `end` by `mark`. */
static void put_mark(struct redact_stream *s, size_t at, size_t end, struct mark mark)
{
	if (s->mark_count == s->mark_cap) {
		s->mark_cap = 2 * s->mark_cap + 8;
		s->marks = xrealloc(s->marks, s->mark_cap * sizeof(*s->marks));
	}
	if (end != at + 1)
		memmove(s->marks + at + 1, s->marks + end,
			(s->mark_count - end) * sizeof(*s->marks));
	s->mark_count = s->mark_count + 1 - (end - at);
	s->marks[at] = mark;
}

/* Merges the mark with those that it overlaps. */
void redact_mark(struct redact_stream *s, struct mark mark)
{
	size_t at;
	size_t end;

	s->found = true;
	if (mark.to <= s->emitted)
		return;
	mark.from = mark.from < s->emitted ? s->emitted : mark.from;
	at = mark_after(s, mark.from);
	for (end = at; end < s->mark_count && s->marks[end].from < mark.to; end++) {
		const struct mark *other = &s->marks[end];

		mark.from = other->from < mark.from ? other->from : mark.from;
		mark.to = other->to > mark.to ? other->to : mark.to;
		mark.emitted = mark.emitted || other->emitted;
		if (other->longest > mark.longest) {
			mark.longest = other->longest;
			mark.tag = other->tag;
		}
	}
	put_mark(s, at, end, mark);
}

/* ---- truncated values ---- */

static const char of_escapes[] = "\\%uUx0123456789abcdefABCDEF";

static bool is_one_of(char c, const char *bytes)
{
	return c != '\0' && strchr(bytes, c) != NULL;
}

static const char *skip_any(const char *p, const char *end, const char *bytes)
{
	while (p < end && is_one_of(*p, bytes))
		p++;
	return p;
}

static const char *skip_half_escape(const char *p, const char *end)
{
	end = end - p > CUT_ESCAPE_MAX ? p + CUT_ESCAPE_MAX : end;
	if (p < end && (*p == '\\' || *p == '%'))
		return skip_any(p, end, of_escapes);
	if (p < end && *p == ESCAPE_BYTE)
		return skip_any(p + 1, end, "[" ENCODING_COLOUR_BYTES);
	return p;
}

/* Skips everything that may precede the dots: the first half of an escape, a quote and blanks. */
static const char *skip_to_dots(const char *p, const char *end)
{
	p = skip_half_escape(p, end);
	if (p < end && is_one_of(*p, "'\"`"))
		p++;
	end = end - p > CUT_BLANKS_MAX ? p + CUT_BLANKS_MAX : end;
	while (p < end && char_is_blank(*p))
		p++;
	return p;
}

static bool starts_with(const char *p, const char *end, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(end - p) >= len && memcmp(p, word, len) == 0;
}

static bool is_cut_here(const struct redact_stream *s, const char *p)
{
	const char *end = s->text.data + s->text.len;

	p = skip_to_dots(p, end);
	return (s->cut && p == end) || starts_with(p, end, "...") || starts_with(p, end, "[...]") ||
	       starts_with(p, end, "\xe2\x80\xa6");
}

/*
 * Returns whether the text was cut at `at`, by us or by another program that shortens long texts.
 * The last letters may be the value's, or belong to the cut: dots, or half an escape.
 */
static bool is_cut(const struct redact_stream *s, uint64_t at)
{
	const char *start = s->text.data;
	const char *p = start + (at - s->base);
	int dots = 0;

	while (!is_cut_here(s, p) && p > start && p[-1] == '.' && dots++ < CUT_DOTS_MAX)
		p--;
	if (is_cut_here(s, p))
		return true;
	start = p - start > CUT_ESCAPE_MAX ? p - CUT_ESCAPE_MAX : start;
	while (p > start && is_one_of(*--p, of_escapes))
		if (*p == '%' || *p == '\\')
			return is_cut_here(s, p);
	return false;
}

/*
 * Returns whether the text ends like postgresql:// or -----BEGIN PRIVATE KEY-----, which only says
 * what kind of value would follow.
 */
static bool is_common_prefix(const struct redact_stream *s, uint64_t at)
{
	static const char *const ends[] = { "://", "-----" };
	size_t len = (size_t)(at - s->base);
	size_t least = len > CUT_BLANKS_MAX ? len - CUT_BLANKS_MAX : 0;

	while (len > least && char_is_blank(s->text.data[len - 1]))
		len--;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t end = strlen(ends[i]);

		if (len >= end && memcmp(s->text.data + len - end, ends[i], end) == 0)
			return true;
	}
	return false;
}

/* Marks the first letters of a value, which end at `at`, if the text was cut there. */
static void take_truncated(struct redact_stream *s, const struct view *v, uint64_t at)
{
	size_t depth = matcher_depth(v->matcher, v->state);

	if (s->whole && depth >= REDACT_TRUNCATED_MIN && (is_cut(s, v->end) || is_cut(s, at)) &&
	    !(depth <= SHARED_MAX && is_common_prefix(s, v->end)))
		redact_mark(s, (struct mark){ .from = start_of(v, depth),
					      .to = v->end,
					      .longest = depth,
					      .tag = matcher_prefix_tag(v->matcher, v->state) });
}

/* ---- letters ---- */

static bool has_long_prefix(const struct redact_stream *s, const struct view *v)
{
	return s->whole && matcher_depth(v->matcher, v->state) >= REDACT_TRUNCATED_MIN;
}

/* Takes one letter, which the text has from `from` to `to`. */
static void take_letter(struct redact_stream *s, struct view *v, unsigned char letter,
			uint64_t from, uint64_t to)
{
	uint32_t state = matcher_step(v->matcher, v->state, letter);
	uint32_t tag;
	size_t found;

	if (has_long_prefix(s, v) &&
	    matcher_depth(v->matcher, state) <= matcher_depth(v->matcher, v->state))
		take_truncated(s, v, from);
	v->state = state;
	if (state == MATCHER_START)
		return;
	v->ignored = 0;
	v->end = to;
	v->starts[v->letters++ & v->mask] = from;
	found = matcher_found(v->matcher, v->state, &tag);
	if (found > 0)
		redact_mark(s, (struct mark){ .from = start_of(v, found),
					      .to = to,
					      .longest = found,
					      .tag = tag });
}

static void end_match(struct redact_stream *s, struct view *v, uint64_t at)
{
	if (has_long_prefix(s, v))
		take_truncated(s, v, at);
	v->state = MATCHER_START;
}

static void skip_bytes(struct view *v, uint64_t len)
{
	v->ignored += len;
	if (v->ignored > IGNORED_MAX)
		v->state = MATCHER_START;
}

/* Takes a letter, or the other results of redact_letter(). */
static void take_result(struct redact_stream *s, struct view *v, int letter, uint64_t from,
			uint64_t to)
{
	if (letter == REDACT_NOTHING)
		skip_bytes(v, to - from);
	else if (letter == REDACT_NO_LETTER)
		end_match(s, v, from);
	else
		take_letter(s, v, (unsigned char)letter, from, to);
}

static void take_piece(struct redact_stream *s, size_t view, const struct piece *piece, uint64_t at)
{
	struct view *v = &s->views[view];

	if (piece->count == 0)
		skip_bytes(v, piece->len);
	for (size_t i = 0; i < piece->count; i++)
		take_result(s, v, redact_letter(redact_view_kinds[view].alphabet, piece->bytes[i]),
			    at, at + piece->len);
}

static bool is_idle(const struct redact_stream *s, enum encoding encoding)
{
	for (size_t i = redact_first_view[encoding]; i < redact_first_view[encoding + 1]; i++)
		if (s->views[i].state != MATCHER_START)
			return false;
	return true;
}

/* Takes the piece at `at`. Returns its bytes; 0 if more text is needed to know it. */
static size_t scan_once(struct redact_stream *s, enum encoding encoding, size_t at, bool last)
{
	const struct redact *redact = s->redact;
	const size_t first = redact_first_view[encoding];
	const size_t end = redact_first_view[encoding + 1];
	const unsigned char byte = (unsigned char)s->text.data[at];
	const uint64_t from = s->base + at;
	struct piece piece;

	if (redact->alone[first][byte] != REDACT_ASK) {
		for (size_t i = first; i < end; i++)
			take_result(s, &s->views[i], redact->alone[i][byte], from, from + 1);
		return 1;
	}
	if (!encoding_next(encoding, s->text.data + at, s->text.len - at, last, &piece))
		return 0;
	for (size_t i = first; i < end; i++)
		take_piece(s, i, &piece, from);
	return piece.len;
}

/* Scans up to `until`, or to the end of a piece that began before it. */
static void scan_encoding(struct redact_stream *s, enum encoding encoding, uint64_t until,
			  bool last)
{
	const bool *wakes = s->redact->wakes[encoding];
	const char *text = s->text.data;
	const size_t end = (size_t)(until - s->base);
	size_t at = (size_t)(s->read[encoding] - s->base);
	size_t len = 1;

	while (at < end && len > 0) {
		if (is_idle(s, encoding))
			while (at < end && !wakes[(unsigned char)text[at]])
				at++;
		len = at < end ? scan_once(s, encoding, at, last) : 0;
		at += len;
	}
	s->read[encoding] = s->base + at;
}

void redact_scan_slice(struct redact_stream *s, uint64_t at, bool last)
{
	const uint64_t end = s->base + s->text.len;

	for (size_t i = 0; i < s->redact->encodings; i++)
		scan_encoding(s, (enum encoding)i,
			      end - at > REDACT_SLICE ? at + REDACT_SLICE : end, last);
	if (end - at > REDACT_SLICE)
		return;
	for (size_t i = 0; last && s->cut && i < VIEWS; i++)
		take_truncated(s, &s->views[i], end);
}

/* Scans in slices, so that the marks found in one encoding merge into few of other encodings. */
void redact_scan(struct redact_stream *s, bool last)
{
	for (uint64_t at = s->base; at < s->base + s->text.len; at += REDACT_SLICE)
		redact_scan_slice(s, at, last);
}

/* ---- emitting ---- */

static void emit_mark(struct redact_stream *s, uint64_t to, struct buf *out)
{
	struct mark *mark = &s->marks[s->mark_first];

	if (!mark->emitted)
		buf_putf(out, REDACT_MARK "%s]", s->redact->names[mark->tag]);
	mark->emitted = true;
	if (mark->to > to) {
		mark->from = to;
		s->emitted = to;
		return;
	}
	s->emitted = mark->to;
	s->mark_first++;
}

void redact_emit(struct redact_stream *s, uint64_t to, struct buf *out)
{
	while (s->emitted < to) {
		bool marked = s->mark_first < s->mark_count && s->marks[s->mark_first].from < to;
		uint64_t from = marked ? s->marks[s->mark_first].from : to;

		buf_put(out, s->text.data + (s->emitted - s->base), (size_t)(from - s->emitted));
		s->emitted = from;
		if (marked)
			emit_mark(s, to, out);
	}
	if (s->mark_first == 0)
		return;
	s->mark_count -= s->mark_first;
	memmove(s->marks, s->marks + s->mark_first, s->mark_count * sizeof(*s->marks));
	s->mark_first = 0;
}

/* Drops the bytes that no view needs any more. */
void redact_forget(struct redact_stream *s)
{
	uint64_t to = s->emitted;

	for (size_t i = 0; i < s->redact->encodings; i++)
		to = s->read[i] < to ? s->read[i] : to;
	buf_consume(&s->text, (size_t)(to - s->base));
	s->base = to;
}

/* Returns where the first match begins of which at least `min` letters were read. */
static uint64_t first_prefix(const struct redact_stream *s, size_t min)
{
	uint64_t first = s->base + s->text.len;

	for (size_t i = 0; i < VIEWS; i++) {
		const struct view *v = &s->views[i];
		size_t depth = matcher_depth(v->matcher, v->state);

		if (depth >= min && start_of(v, depth) < first)
			first = start_of(v, depth);
	}
	return first;
}

void redact_feed(struct redact_stream *s, const char *data, size_t len, struct buf *out)
{
	uint64_t sure;

	buf_put(&s->text, data, len);
	redact_scan(s, false);
	sure = first_prefix(s, 1);
	for (size_t i = 0; i < s->redact->encodings; i++)
		sure = s->read[i] < sure ? s->read[i] : sure;
	redact_emit(s, sure, out);
	redact_forget(s);
}

void redact_settle(struct redact_stream *s, struct buf *out)
{
	redact_emit(s, first_prefix(s, REDACT_CHARS_MIN), out);
	redact_forget(s);
}

void redact_end(struct redact_stream *s, struct buf *out)
{
	redact_scan(s, true);
	redact_emit(s, s->base + s->text.len, out);
	redact_forget(s);
}

void redact_read_held(const struct redact_stream *s, struct buf *out)
{
	if (redact_held(s) > 0)
		buf_put(out, s->text.data + (s->emitted - s->base), redact_held(s));
}

size_t redact_held(const struct redact_stream *s)
{
	return (size_t)(s->base + s->text.len - s->emitted);
}
