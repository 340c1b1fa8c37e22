/* SPDX-License-Identifier: MIT */
#include "text/redact.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "text/base64.h"
#include "text/matcher.h"
#include "text/spelling.h"
#include "text/utf8.h"

/* What the bytes that a spelling means are taken for. */
enum alphabet { ALPHABET_TEXT, ALPHABET_BASE64, ALPHABET_HEX };

enum { NO_LETTER = -1, NOTHING = -2 };

enum {
	VIEWS = 7,
	IGNORED_MAX = 256, /* bytes that mean nothing between two letters of a value */
};

enum pattern { PATTERN_PLAIN, PATTERN_BACKSLASH, PATTERN_PERCENT, PATTERN_BASE64, PATTERN_HEX };

enum { PATTERNS = PATTERN_HEX + 1 };

/* The ways in which a text is looked at, by spelling. */
static const struct {
	enum spelling spelling;
	enum alphabet alphabet;
	enum pattern pattern;
} views[VIEWS] = {
	{ SPELLING_PLAIN, ALPHABET_TEXT, PATTERN_PLAIN },
	{ SPELLING_PLAIN, ALPHABET_BASE64, PATTERN_BASE64 },
	{ SPELLING_PLAIN, ALPHABET_HEX, PATTERN_HEX },
	{ SPELLING_BACKSLASH, ALPHABET_TEXT, PATTERN_BACKSLASH },
	{ SPELLING_BACKSLASH, ALPHABET_BASE64, PATTERN_BASE64 },
	{ SPELLING_PERCENT, ALPHABET_TEXT, PATTERN_PERCENT },
	{ SPELLING_PERCENT, ALPHABET_BASE64, PATTERN_BASE64 },
};

/* Those of a spelling begin here, and end where the next one's begin. */
static const size_t first_view[SPELLINGS + 1] = { 0, 3, 5, VIEWS };

struct redact {
	struct matcher *matchers[PATTERNS];
	char **names;
	size_t count;
	bool wakes[SPELLINGS][256]; /* a byte with which something may begin */
};

/* Part of the text that is a value. */
struct mark {
	uint64_t from;
	uint64_t to;
	uint64_t longest; /* length of what `tag` is of */
	uint32_t tag;
	bool said;
};

struct view {
	const struct matcher *matcher;
	uint32_t state;
	size_t letters;
	size_t mask;      /* of the ring */
	uint64_t *starts; /* of the last letters in the text: a ring */
	uint64_t ignored; /* bytes since the last letter */
};

/* Positions count from the start of the text. */
struct redact_stream {
	const struct redact *redact;
	struct buf text; /* from `base` on */
	uint64_t base;
	uint64_t said;            /* up to here it was given out */
	uint64_t read[SPELLINGS]; /* up to here it was looked at */
	struct view views[VIEWS];
	struct mark *marks; /* of what was not given out, in order and apart */
	size_t mark_first;
	size_t mark_count; /* from the start of the array */
	size_t mark_cap;
	bool found;
};

/* ---- values ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Who reads a value from a file often has a line's end behind it, and who uses it has not. */
static const char *trim(const char *value, size_t *ret_len)
{
	size_t len = strlen(value);

	while (len > 0 && is_blank(value[len - 1]))
		len--;
	for (; len > 0 && is_blank(value[0]); len--)
		value++;
	*ret_len = len;
	return value;
}

bool redact_takes(const char *value)
{
	size_t len;

	value = trim(value, &len);
	return len <= REDACT_BYTES_MAX && utf8_count(value, len) >= REDACT_CHARS_MIN;
}

struct redact *redact_new(void)
{
	struct redact *redact = xcalloc(1, sizeof(*redact));

	for (size_t i = 0; i < PATTERNS; i++)
		redact->matchers[i] = matcher_new();
	return redact;
}

void redact_free(struct redact *redact)
{
	if (redact == NULL)
		return;
	for (size_t i = 0; i < PATTERNS; i++)
		matcher_free(redact->matchers[i]);
	for (size_t i = 0; i < redact->count; i++)
		free(redact->names[i]);
	free(redact->names);
	free(redact);
}

/* Of all letters that `value` decides alone, when `before` bytes stand before it: RFC 4648. */
static void add_base64(struct redact *redact, const char *value, size_t len, size_t before)
{
	cleanup_buf struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf letters = BUF_INIT(BUF_UNBOUNDED);
	size_t from = (before * 8 + 5) / 6;
	size_t to = (before + len) * 8 / 6;

	buf_put(&bytes, "\0\0", before);
	buf_put(&bytes, value, len);
	base64_encode(&letters, bytes.data, bytes.len);
	matcher_add(redact->matchers[PATTERN_BASE64], letters.data + from, to - from,
		    (uint32_t)redact->count);
}

static void add_hex(struct redact *redact, const char *value, size_t len)
{
	cleanup_buf struct buf digits = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < len; i++)
		buf_putf(&digits, "%02x", (unsigned int)(unsigned char)value[i]);
	matcher_add(redact->matchers[PATTERN_HEX], digits.data, digits.len,
		    (uint32_t)redact->count);
}

static void add_spelled(struct redact *redact, enum pattern pattern, enum spelling spelling,
			const char *value, size_t len)
{
	cleanup_buf struct buf meant = BUF_INIT(BUF_UNBOUNDED);

	spelling_of(spelling, value, len, &meant);
	/* What is all escapes may mean next to nothing. */
	if (meant.len >= REDACT_CHARS_MIN)
		matcher_add(redact->matchers[pattern], meant.data, meant.len,
			    (uint32_t)redact->count);
}

/* Python's ascii() and old JavaScript write U+0080 to U+00FF as \xHH, which is then no UTF-8. */
static void add_latin(struct redact *redact, const char *value, size_t len)
{
	cleanup_buf struct buf latin = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < len; i++) {
		unsigned char lead = (unsigned char)value[i];
		char character = (char)((lead & 3) << 6 | (value[i + 1] & 0x3f));
		bool is_latin = (lead == 0xc2 || lead == 0xc3) && (value[i + 1] & 0xc0) == 0x80;

		buf_put(&latin, is_latin ? &character : value + i, 1);
		i += is_latin ? 1 : 0;
	}
	if (latin.len < len)
		add_spelled(redact, PATTERN_BACKSLASH, SPELLING_BACKSLASH, latin.data, latin.len);
}

void redact_add(struct redact *redact, const char *name, const char *value)
{
	size_t len;

	assert(redact_takes(value));
	value = trim(value, &len);
	add_spelled(redact, PATTERN_PLAIN, SPELLING_PLAIN, value, len);
	add_spelled(redact, PATTERN_BACKSLASH, SPELLING_BACKSLASH, value, len);
	add_latin(redact, value, len);
	add_spelled(redact, PATTERN_PERCENT, SPELLING_PERCENT, value, len);
	for (size_t before = 0; before < 3; before++)
		add_base64(redact, value, len, before);
	add_hex(redact, value, len);
	redact->names = xrealloc(redact->names, (redact->count + 1) * sizeof(*redact->names));
	redact->names[redact->count++] = xstrdup(name);
}

static int base64_letter(char c)
{
	if (c == '-')
		return '+';
	if (c == '_')
		return '/';
	if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	    c == '+' || c == '/')
		return c;
	return is_blank(c) ? NOTHING : NO_LETTER;
}

static int hex_letter(char c)
{
	if (c >= 'A' && c <= 'F')
		return c | 0x20;
	if ((c >= 'a' && c <= 'f') || (c >= '0' && c <= '9'))
		return c;
	return is_blank(c) || c == ':' || c == '-' ? NOTHING : NO_LETTER;
}

static int letter_of(enum alphabet alphabet, char c)
{
	if (alphabet == ALPHABET_BASE64)
		return base64_letter(c);
	if (alphabet == ALPHABET_HEX)
		return hex_letter(c);
	return (unsigned char)c;
}

static bool may_begin(const struct redact *redact, size_t view, const struct spelled *spelled)
{
	int letter =
		spelled->count > 0 ? letter_of(views[view].alphabet, spelled->bytes[0]) : NOTHING;

	return letter >= 0 &&
	       matcher_begins(redact->matchers[views[view].pattern], (unsigned char)letter);
}

void redact_finish(struct redact *redact)
{
	for (size_t i = 0; i < PATTERNS; i++)
		matcher_finish(redact->matchers[i]);
	for (size_t view = 0; view < VIEWS; view++) {
		bool *wakes = redact->wakes[views[view].spelling];

		for (size_t byte = 0; byte < 256; byte++) {
			struct spelled spelled;
			char c = (char)byte;

			if (!spelling_next(views[view].spelling, &c, 1, false, &spelled) ||
			    may_begin(redact, view, &spelled))
				wakes[byte] = true;
		}
	}
}

/* ---- looking ---- */

struct redact_stream *redact_stream_new(const struct redact *redact)
{
	struct redact_stream *s = xcalloc(1, sizeof(*s));

	s->redact = redact;
	buf_init(&s->text, BUF_UNBOUNDED);
	for (size_t i = 0; i < VIEWS; i++) {
		struct view *v = &s->views[i];

		v->matcher = redact->matchers[views[i].pattern];
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
static void add_mark(struct redact_stream *s, struct mark mark)
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

/* One letter that stands in the text from `from` to `to`. */
static void take_letter(struct redact_stream *s, struct view *v, unsigned char letter,
			uint64_t from, uint64_t to)
{
	uint32_t tag;
	size_t found;

	v->state = matcher_step(v->matcher, v->state, letter);
	if (v->state == MATCHER_START)
		return;
	v->ignored = 0;
	v->starts[v->letters++ & v->mask] = from;
	found = matcher_found(v->matcher, v->state, &tag);
	if (found > 0)
		add_mark(s, (struct mark){ .from = start_of(v, found),
					   .to = to,
					   .longest = found,
					   .tag = tag });
}

static void ignore(struct view *v, uint64_t len)
{
	v->ignored += len;
	if (v->ignored > IGNORED_MAX)
		v->state = MATCHER_START;
}

static void take_spelled(struct redact_stream *s, size_t view, const struct spelled *spelled,
			 uint64_t at)
{
	struct view *v = &s->views[view];

	if (spelled->count == 0)
		ignore(v, spelled->len);
	for (size_t i = 0; i < spelled->count; i++) {
		int letter = letter_of(views[view].alphabet, spelled->bytes[i]);

		if (letter == NOTHING)
			ignore(v, spelled->len);
		else if (letter == NO_LETTER)
			v->state = MATCHER_START;
		else
			take_letter(s, v, (unsigned char)letter, at, at + spelled->len);
	}
}

static bool rests(const struct redact_stream *s, enum spelling spelling)
{
	for (size_t i = first_view[spelling]; i < first_view[spelling + 1]; i++)
		if (s->views[i].state != MATCHER_START)
			return false;
	return true;
}

static void look(struct redact_stream *s, enum spelling spelling, bool last)
{
	const bool *wakes = s->redact->wakes[spelling];
	const char *text = s->text.data;
	size_t at = (size_t)(s->read[spelling] - s->base);
	struct spelled spelled;

	while (at < s->text.len) {
		if (rests(s, spelling))
			while (at < s->text.len && !wakes[(unsigned char)text[at]])
				at++;
		if (at == s->text.len ||
		    !spelling_next(spelling, text + at, s->text.len - at, last, &spelled))
			break;
		for (size_t i = first_view[spelling]; i < first_view[spelling + 1]; i++)
			take_spelled(s, i, &spelled, s->base + at);
		at += spelled.len;
	}
	s->read[spelling] = s->base + at;
}

/* ---- giving out ---- */

static void say_mark(struct redact_stream *s, uint64_t to, struct buf *out)
{
	struct mark *mark = &s->marks[s->mark_first];

	if (!mark->said)
		buf_putf(out, "[secret %s]", s->redact->names[mark->tag]);
	mark->said = true;
	if (mark->to > to) {
		mark->from = to;
		s->said = to;
		return;
	}
	s->said = mark->to;
	s->mark_first++;
}

static void say(struct redact_stream *s, uint64_t to, struct buf *out)
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
static void forget(struct redact_stream *s)
{
	uint64_t to = s->said;

	for (size_t i = 0; i < SPELLINGS; i++)
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
	for (size_t i = 0; i < SPELLINGS; i++)
		look(s, (enum spelling)i, false);
	sure = first_begun(s, 1);
	for (size_t i = 0; i < SPELLINGS; i++)
		sure = s->read[i] < sure ? s->read[i] : sure;
	say(s, sure, out);
	forget(s);
}

void redact_settle(struct redact_stream *s, struct buf *out)
{
	say(s, first_begun(s, REDACT_CHARS_MIN), out);
	forget(s);
}

void redact_end(struct redact_stream *s, struct buf *out)
{
	for (size_t i = 0; i < SPELLINGS; i++)
		look(s, (enum spelling)i, true);
	say(s, s->base + s->text.len, out);
	forget(s);
}

size_t redact_held(const struct redact_stream *s)
{
	return (size_t)(s->base + s->text.len - s->said);
}

/* ---- whole texts ---- */

bool redact_text(struct redact_stream *s, const char *text, size_t len, struct buf *out)
{
	size_t before = out->len;
	bool found;

	redact_feed(s, text, len, out);
	redact_end(s, out);
	found = s->found;
	s->found = false;
	for (size_t i = 0; i < VIEWS; i++)
		s->views[i].state = MATCHER_START;
	if (!found)
		out->len = before;
	return found;
}

void redact_string(const struct redact *redact, char **text)
{
	struct redact_stream *s;
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (redact == NULL || *text == NULL)
		return;
	s = redact_stream_new(redact);
	if (redact_text(s, *text, strlen(*text), &out)) {
		free(*text);
		*text = buf_steal(&out);
	}
	redact_stream_free(s);
}
