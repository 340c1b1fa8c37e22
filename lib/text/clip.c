/* SPDX-License-Identifier: MIT */
#include "text/clip.h"

#include <string.h>

#include "text/utf8.h"

/* A line border is near when cutting there costs at most a quarter of the part. */
static size_t head_end(const char *s, size_t end)
{
	for (size_t at = end; at > end - end / 4; at--) {
		if (s[at - 1] == '\n')
			return at;
	}
	return end;
}

static size_t tail_start(const char *s, size_t len, size_t start)
{
	const char *newline;

	if (start > 0 && s[start - 1] == '\n')
		return start;
	newline = memchr(s + start, '\n', (len - start) / 4);
	return newline != NULL ? (size_t)(newline - s) + 1 : start;
}

size_t clip_text(struct buf *out, const char *s, size_t len, size_t max_chars)
{
	size_t total = utf8_count(s, len);
	size_t tail_chars = max_chars / 3;
	size_t head;
	size_t tail;
	size_t shown;

	if (total <= max_chars) {
		buf_put(out, s, len);
		return total;
	}
	head = head_end(s, utf8_offset(s, len, max_chars - tail_chars));
	tail = tail_start(s, len, utf8_offset(s, len, total - tail_chars));
	shown = utf8_count(s, head) + utf8_count(s + tail, len - tail);
	buf_put(out, s, head);
	if (head > 0 && s[head - 1] != '\n')
		buf_puts(out, "\n");
	buf_putf(out, "[... %zu characters left out ...]\n", total - shown);
	buf_put(out, s + tail, len - tail);
	return shown;
}
