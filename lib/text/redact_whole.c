/* SPDX-License-Identifier: MIT */
/* Texts that are there as a whole. */
#include <stdlib.h>

#include "base/mem.h"
#include "text/redact_internal.h"

/* Of a text for one letter of a value: \\\\uHHHH; and for what means nothing between two. */
enum { REACH_PER_LETTER = 8, REACH_MORE = 512 };

static bool redact_whole(struct redact_stream *s, const char *text, size_t len, bool cut,
			 struct buf *out)
{
	size_t before = out->len;
	bool found;

	s->whole = true;
	s->cut = cut;
	redact_feed(s, text, len, out);
	redact_end(s, out);
	found = s->found;
	s->found = s->whole = s->cut = false;
	for (size_t i = 0; i < VIEWS; i++)
		s->views[i].state = MATCHER_START;
	if (!found)
		out->len = before;
	return found;
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
	return REACH_PER_LETTER * matcher_longest(redact->matchers[PATTERN_PLAIN]) + REACH_MORE;
}
