/* SPDX-License-Identifier: MIT */
#include "redact/redact.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/util.h"
#include "redact/redact_internal.h"
#include "text/escape.h"

enum {
	IGNORED_MAX = 256,   /* bytes that mean nothing between two letters of a value */
	CUT_ESCAPE_MAX = 32, /* bytes of an escape that was cut in two */
	CUT_BLANKS_MAX = 256,
	CUT_DOTS_MAX = 3, /* a value's own where it was cut */
	SHARED_MAX = 40,  /* letters that many values begin with */
};

/* ---- looking ---- */

struct redact_stream *redact_stream_new(const struct redact *redact)
{
	struct redact_stream *s = xcalloc(1, sizeof(*s));

	s->redact = redact;
	buf_init(&s->text, BUF_UNBOUNDED);
	for (size_t i = 0; i < VIEWS; i++) {
		struct view *v = &s->views[i];

		v->matcher = redact->matchers[redact_looks[i].pattern];
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

/* Where the last `len` letters begin. */
static uint64_t start_of(const struct view *v, size_t len)
{
	return v->starts[(v->letters - len) & v->mask];
}

/* The first mark that ends behind `at`. */
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

/* Puts `mark` in the place of those from `at` to `end`. */
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

/* Joins it with those that it overlaps. */
void redact_mark(struct redact_stream *s, struct mark mark)
{
	size_t at;
	size_t end;

	s->found = true;
	if (mark.to <= s->said)
		return;
	mark.from = mark.from < s->said ? s->said : mark.from;
	at = mark_after(s, mark.from);
	for (end = at; end < s->mark_count && s->marks[end].from < mark.to; end++) {
		const struct mark *other = &s->marks[end];

		mark.from = other->from < mark.from ? other->from : mark.from;
		mark.to = other->to > mark.to ? other->to : mark.to;
		mark.said = mark.said || other->said;
		if (other->longest > mark.longest) {
			mark.longest = other->longest;
			mark.tag = other->tag;
		}
	}
	put_mark(s, at, end, mark);
}

/* ---- values that were cut ---- */

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

/* Behind the first half of an escape, a quote and blanks: whatever may stand before the dots. */
static const char *skip_to_dots(const char *p, const char *end)
{
	p = skip_half_escape(p, end);
	if (p < end && is_one_of(*p, "'\"`"))
		p++;
	end = end - p > CUT_BLANKS_MAX ? p + CUT_BLANKS_MAX : end;
	while (p < end && redact_is_blank(*p))
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
 * Whether the text was cut at `at`, by us or by who shows long texts as we do. The last letters may
 * be the value's or what stands where it was cut: dots, or half an escape.
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

/* What so ends says only what kind of value it would be: postgresql://, -----BEGIN PRIVATE
 * KEY-----. */
static bool is_everybodys(const struct redact_stream *s, uint64_t at)
{
	static const char *const ends[] = { "://", "-----" };
	size_t len = (size_t)(at - s->base);
	size_t least = len > CUT_BLANKS_MAX ? len - CUT_BLANKS_MAX : 0;

	while (len > least && redact_is_blank(s->text.data[len - 1]))
		len--;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t end = strlen(ends[i]);

		if (len >= end && memcmp(s->text.data + len - end, ends[i], end) == 0)
			return true;
	}
	return false;
}

/* The letters of `v` end at `at`: a value of which the first ones are there is one, if cut there.
 */
static void take_truncated(struct redact_stream *s, const struct view *v, uint64_t at)
{
	size_t depth = matcher_depth(v->matcher, v->state);

	if (s->whole && depth >= REDACT_BEGUN_MIN && (is_cut(s, v->end) || is_cut(s, at)) &&
	    !(depth <= SHARED_MAX && is_everybodys(s, v->end)))
		redact_mark(s, (struct mark){ .from = start_of(v, depth),
					      .to = v->end,
					      .longest = depth,
					      .tag = matcher_begun(v->matcher, v->state) });
}

/* ---- letters ---- */

static bool has_begun(const struct redact_stream *s, const struct view *v)
{
	return s->whole && matcher_depth(v->matcher, v->state) >= REDACT_BEGUN_MIN;
}

/* One letter that stands in the text from `from` to `to`. */
static void take_letter(struct redact_stream *s, struct view *v, unsigned char letter,
			uint64_t from, uint64_t to)
{
	uint32_t state = matcher_step(v->matcher, v->state, letter);
	uint32_t tag;
	size_t found;

	if (has_begun(s, v) &&
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

static void break_off(struct redact_stream *s, struct view *v, uint64_t at)
{
	if (has_begun(s, v))
		take_truncated(s, v, at);
	v->state = MATCHER_START;
}

static void ignore(struct view *v, uint64_t len)
{
	v->ignored += len;
	if (v->ignored > IGNORED_MAX)
		v->state = MATCHER_START;
}

/* A letter, or what redact_letter() says instead. */
static void take(struct redact_stream *s, struct view *v, int letter, uint64_t from, uint64_t to)
{
	if (letter == REDACT_NOTHING)
		ignore(v, to - from);
	else if (letter == REDACT_NO_LETTER)
		break_off(s, v, from);
	else
		take_letter(s, v, (unsigned char)letter, from, to);
}

static void take_spelled(struct redact_stream *s, size_t view, const struct spelled *spelled,
			 uint64_t at)
{
	struct view *v = &s->views[view];

	if (spelled->count == 0)
		ignore(v, spelled->len);
	for (size_t i = 0; i < spelled->count; i++)
		take(s, v, redact_letter(redact_looks[view].alphabet, spelled->bytes[i]), at,
		     at + spelled->len);
}

static bool rests(const struct redact_stream *s, enum encoding spelling)
{
	for (size_t i = redact_first_look[spelling]; i < redact_first_look[spelling + 1]; i++)
		if (s->views[i].state != MATCHER_START)
			return false;
	return true;
}

/* Takes what stands at `at`; 0 when more must come to know it, else its bytes. */
static size_t look_once(struct redact_stream *s, enum encoding spelling, size_t at, bool last)
{
	const struct redact *redact = s->redact;
	const size_t first = redact_first_look[spelling];
	const size_t end = redact_first_look[spelling + 1];
	const unsigned char byte = (unsigned char)s->text.data[at];
	const uint64_t from = s->base + at;
	struct spelled spelled;

	if (redact->alone[first][byte] != REDACT_ASK) {
		for (size_t i = first; i < end; i++)
			take(s, &s->views[i], redact->alone[i][byte], from, from + 1);
		return 1;
	}
	if (!encoding_next(spelling, s->text.data + at, s->text.len - at, last, &spelled))
		return 0;
	for (size_t i = first; i < end; i++)
		take_spelled(s, i, &spelled, from);
	return spelled.len;
}

/* Up to `until`, or as far as what began before it goes. */
static void look(struct redact_stream *s, enum encoding spelling, uint64_t until, bool last)
{
	const bool *wakes = s->redact->wakes[spelling];
	const char *text = s->text.data;
	const size_t end = (size_t)(until - s->base);
	size_t at = (size_t)(s->read[spelling] - s->base);
	size_t len = 1;

	while (at < end && len > 0) {
		if (rests(s, spelling))
			while (at < end && !wakes[(unsigned char)text[at]])
				at++;
		len = at < end ? look_once(s, spelling, at, last) : 0;
		at += len;
	}
	s->read[spelling] = s->base + at;
}

void redact_look_at(struct redact_stream *s, uint64_t at, bool last)
{
	const uint64_t end = s->base + s->text.len;

	for (size_t i = 0; i < s->redact->spellings; i++)
		look(s, (enum encoding)i,
		     end - at > REDACT_LOOK_SLICE ? at + REDACT_LOOK_SLICE : end, last);
	if (end - at > REDACT_LOOK_SLICE)
		return;
	for (size_t i = 0; last && s->cut && i < VIEWS; i++)
		take_truncated(s, &s->views[i], end);
}

/* In slices: what a spelling finds in one goes among the few marks of others there. */
void redact_look(struct redact_stream *s, bool last)
{
	for (uint64_t at = s->base; at < s->base + s->text.len; at += REDACT_LOOK_SLICE)
		redact_look_at(s, at, last);
}

/* ---- giving out ---- */

static void say_mark(struct redact_stream *s, uint64_t to, struct buf *out)
{
	struct mark *mark = &s->marks[s->mark_first];

	if (!mark->said)
		buf_putf(out, REDACT_MARK "%s]", s->redact->names[mark->tag]);
	mark->said = true;
	if (mark->to > to) {
		mark->from = to;
		s->said = to;
		return;
	}
	s->said = mark->to;
	s->mark_first++;
}

void redact_say(struct redact_stream *s, uint64_t to, struct buf *out)
{
	while (s->said < to) {
		bool marked = s->mark_first < s->mark_count && s->marks[s->mark_first].from < to;
		uint64_t from = marked ? s->marks[s->mark_first].from : to;

		buf_put(out, s->text.data + (s->said - s->base), (size_t)(from - s->said));
		s->said = from;
		if (marked)
			say_mark(s, to, out);
	}
	if (s->mark_first == 0)
		return;
	s->mark_count -= s->mark_first;
	memmove(s->marks, s->marks + s->mark_first, s->mark_count * sizeof(*s->marks));
	s->mark_first = 0;
}

/* Bytes that nobody needs any more go. */
void redact_forget(struct redact_stream *s)
{
	uint64_t to = s->said;

	for (size_t i = 0; i < s->redact->spellings; i++)
		to = s->read[i] < to ? s->read[i] : to;
	buf_consume(&s->text, (size_t)(to - s->base));
	s->base = to;
}

/* Where the first begins of which `min` letters are there. */
static uint64_t first_begun(const struct redact_stream *s, size_t min)
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
	redact_look(s, false);
	sure = first_begun(s, 1);
	for (size_t i = 0; i < s->redact->spellings; i++)
		sure = s->read[i] < sure ? s->read[i] : sure;
	redact_say(s, sure, out);
	redact_forget(s);
}

void redact_settle(struct redact_stream *s, struct buf *out)
{
	redact_say(s, first_begun(s, REDACT_CHARS_MIN), out);
	redact_forget(s);
}

void redact_end(struct redact_stream *s, struct buf *out)
{
	redact_look(s, true);
	redact_say(s, s->base + s->text.len, out);
	redact_forget(s);
}

size_t redact_held(const struct redact_stream *s)
{
	return (size_t)(s->base + s->text.len - s->said);
}
