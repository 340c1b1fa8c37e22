/* SPDX-License-Identifier: MIT */
/*
 * truncate.c - cuts text where a reader does not see the cut within a character. Borders of
 * grapheme clusters are searched in a window around the cut, because libunistring works from a
 * start; a flag's letters and Indic conjuncts need a look further back.
 */
#include "text/truncate.h"

#include <stdbool.h>
#include <string.h>
#include <unictype.h>
#include <unigbrk.h>
#include <unistr.h>

#include "base/util.h"
#include "text/utf8.h"

enum { FLAG_LETTER_LEN = 4, JOINER = 0x200d };

/* Returns whether it is one of the two letters of a flag, U+1F1E6 to U+1F1FF. */
static bool is_flag_letter(const char *s)
{
	return memcmp(s, "\xf0\x9f\x87", FLAG_LETTER_LEN - 1) == 0 && (unsigned char)s[3] >= 0xa6;
}

/*
 * Returns whether a flag's second letter may begin at `from`. The letters are counted from the
 * first of a row.
 */
static bool splits_flag(const char *s, size_t from)
{
	size_t letters = 0;

	while (from >= FLAG_LETTER_LEN && is_flag_letter(s + from - FLAG_LETTER_LEN)) {
		from -= FLAG_LETTER_LEN;
		letters++;
	}
	return letters % 2 != 0;
}

/* Returns the start of the window. */
static size_t look_from(const char *s, size_t at)
{
	size_t from = at - size_min(at, TRUNCATE_GRAPHEME_MAX);
	const char *newline = memrchr(s + from, '\n', at - from);

	if (newline != NULL)
		return (size_t)(newline - s) + 1;
	while (from < at && utf8_continues(s[from]))
		from++;
	if (at - from > FLAG_LETTER_LEN && is_flag_letter(s + from) && splits_flag(s, from))
		from += FLAG_LETTER_LEN;
	return from;
}

/*
 * Returns whether a virama joins the letter at `at` to the one before (GB9c of Unicode 15.1, which
 * libunistring may be too old for; and Sinhala's, with U+200D).
 */
static bool is_conjunct(const uint8_t *s, size_t at, size_t len)
{
	const uint8_t *before = s + at;
	bool joined = false;
	ucs4_t c;

	(void)u8_mbtouc(&c, s + at, len - at);
	if (!uc_is_general_category(c, UC_OTHER_LETTER))
		return false;
	while ((before = u8_prev(&c, before, s)) != NULL &&
	       (c == JOINER || uc_combining_class(c) != UC_CCC_NR))
		joined = joined || uc_combining_class(c) == UC_CCC_VR;
	return joined && before != NULL && uc_is_general_category(c, UC_OTHER_LETTER);
}

/*
 * Returns the border of a grapheme cluster next to `at`, before or behind it. `at` begins a
 * character.
 */
static size_t border(const char *s, size_t len, size_t at, bool behind)
{
	char breaks[2 * TRUNCATE_GRAPHEME_MAX];
	size_t from = look_from(s, at);
	size_t n = size_min(len, at + TRUNCATE_GRAPHEME_MAX) - from;
	size_t i = at - from;

	if (at == len || i == 0)
		return at;
	u8_grapheme_breaks((const uint8_t *)s + from, n, breaks);
	while (i > 0 && i < n && (!breaks[i] || is_conjunct((const uint8_t *)s + from, i, n)))
		i += behind ? 1 : (size_t)-1;
	if (i > 0 && i < n)
		return from + i;
	/* The end of the window is a border only where the text ends. */
	if (behind)
		return from + n == len ? len : at;
	return from == 0 || s[from - 1] == '\n' ? from : at;
}

size_t truncate_before(const char *s, size_t len, size_t at)
{
	return border(s, len, at, false);
}

/*
 * Returns the end of the head. The end of a line counts if cutting there costs at most half of the
 * part.
 */
static size_t head_end(const char *s, size_t len, size_t end)
{
	for (size_t at = end; at > end - end / 2; at--)
		if (s[at - 1] == '\n')
			return at;
	return border(s, len, end, false);
}

static size_t tail_start(const char *s, size_t len, size_t start)
{
	const char *newline;

	if (start > 0 && s[start - 1] == '\n')
		return start;
	newline = memchr(s + start, '\n', (len - start) / 2);
	return newline != NULL ? (size_t)(newline - s) + 1 : border(s, len, start, true);
}

/* Appends head, notice and tail; `total` is the length of the whole text. */
static size_t put_ends(struct buf *out, const char *head, size_t head_len, const char *tail,
		       size_t tail_len, size_t total)
{
	size_t shown = utf8_count(head, head_len) + utf8_count(tail, tail_len);

	buf_put(out, head, head_len);
	if (head_len > 0 && head[head_len - 1] != '\n')
		buf_puts(out, "\n");
	buf_putf(out, "[... %zu characters left out ...]\n", total > shown ? total - shown : 0);
	buf_put(out, tail, tail_len);
	return shown;
}

size_t truncate_ends(struct buf *out, const struct buf *head, const struct buf *tail, size_t total,
		     size_t max_chars)
{
	const char *begin = buf_str(head);
	const char *end = buf_str(tail);
	size_t tail_max = max_chars / 3;
	size_t tail_chars = utf8_count(end, tail->len);
	size_t to = utf8_offset(begin, head->len, max_chars - tail_max);
	size_t from =
		tail_chars > tail_max ? utf8_offset(end, tail->len, tail_chars - tail_max) : 0;

	to = head_end(begin, head->len, to);
	from = tail_start(end, tail->len, from);
	return put_ends(out, begin, to, end + from, tail->len - from, total);
}

size_t truncate_text(struct buf *out, const char *s, size_t len, size_t max_chars)
{
	size_t total = utf8_count(s, len);
	size_t tail_chars = max_chars / 3;
	size_t head;
	size_t tail;

	if (total <= max_chars) {
		buf_put(out, s, len);
		return total;
	}
	head = head_end(s, len, utf8_offset(s, len, max_chars - tail_chars));
	tail = tail_start(s, len, utf8_offset(s, len, total - tail_chars));
	return put_ends(out, s, head, s + tail, len - tail, total);
}
