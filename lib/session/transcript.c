/* SPDX-License-Identifier: MIT */
#include "session/transcript.h"

#include <stdlib.h>

#include "base/mem.h"
#include "text/clip.h"
#include "text/escape.h"
#include "text/panel.h"
#include "text/redact.h"
#include "text/screen.h"
#include "text/utf8.h"
#include "workspace/spool.h"

enum {
	END_LINE_BYTES = 2048, /* in which the last line is looked for */
	UNFINISHED_MAX = 64,   /* bytes of a control sequence that are waited for */
	QUERY_MAX = 4,         /* bytes of "ESC [ 6 n" */
	UTF8_REST_MAX = 3,     /* bytes of a character behind its first */
};

struct transcript {
	struct spool *spool;
	struct redact_stream *redact; /* or NULL */
	bool spooling;
	struct buf head;
	char *tail;          /* a ring, allocated with its first byte */
	uint64_t tail_total; /* bytes that ever went in */
	uint64_t chars;      /* characters among all bytes */
	char last[QUERY_MAX - 1];
	bool query_seen;
	uint64_t answered;      /* bytes whose queries have their answers */
	bool line_open;         /* the last line has something on it */
	struct escape line_end; /* a sequence that may not have ended yet */
	char *open;             /* the unfinished last line when something was taken, or NULL */
	bool taken;             /* something was shown and is not held any more */
	bool alternate;         /* it ended on the alternate screen */
	struct panel *panel;    /* what is on that; NULL when no program has it */
	char *panel_shown;      /* as an answer showed it last, or NULL */
};

struct transcript *transcript_new(struct spool *spool_own, const struct redact *redact)
{
	struct transcript *t = xcalloc(1, sizeof(*t));

	t->spool = spool_own;
	t->redact = redact != NULL ? redact_stream_new(redact) : NULL;
	buf_init(&t->head, TRANSCRIPT_HEAD_MAX);
	return t;
}

void transcript_free(struct transcript *t)
{
	if (t == NULL)
		return;
	buf_release(&t->head);
	free(t->tail);
	free(t->open);
	panel_free(t->panel);
	free(t->panel_shown);
	spool_free(t->spool);
	redact_stream_free(t->redact);
	free(t);
}

static void add_tail(struct transcript *t, const char *data, size_t len)
{
	if (t->tail == NULL)
		t->tail = xcalloc(1, TRANSCRIPT_TAIL_MAX);
	if (len > TRANSCRIPT_TAIL_MAX) { /* only the end of it will ever be seen */
		t->tail_total += len - TRANSCRIPT_TAIL_MAX;
		data += len - TRANSCRIPT_TAIL_MAX;
		len = TRANSCRIPT_TAIL_MAX;
	}
	while (len > 0) {
		size_t at = t->tail_total % TRANSCRIPT_TAIL_MAX;
		size_t piece = size_min(len, TRANSCRIPT_TAIL_MAX - at);

		memcpy(t->tail + at, data, piece);
		t->tail_total += piece;
		data += piece;
		len -= piece;
	}
}

static bool continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* The rolling tail may begin within a character: its rest is not shown. */
static void skip_broken_start(const char *pieces[2], size_t lens[2])
{
	size_t skipped = 0;

	for (size_t i = 0; i < 2; i++) {
		while (skipped < UTF8_REST_MAX && lens[i] > 0 && continues(*pieces[i])) {
			pieces[i]++;
			lens[i]--;
			skipped++;
		}
		if (lens[i] > 0)
			return;
	}
}

static size_t utf8_need(unsigned char lead)
{
	return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
}

/* Bytes of the head without a character that its end cuts. */
static size_t whole_head(const struct transcript *t)
{
	size_t len = t->head.len;
	size_t start = len;
	unsigned char lead;
	size_t need;

	while (start > 0 && len - start < UTF8_REST_MAX && continues(t->head.data[start - 1]))
		start--;
	if (start == 0)
		return len;
	lead = (unsigned char)t->head.data[--start];
	need = utf8_need(lead);
	return len - start < need ? start : len;
}

/* The tail in order, in at most two pieces. */
static size_t tail_pieces(const struct transcript *t, const char *pieces[2], size_t lens[2])
{
	size_t at = t->tail_total % TRANSCRIPT_TAIL_MAX;

	if (t->tail_total <= TRANSCRIPT_TAIL_MAX) {
		pieces[0] = t->tail;
		lens[0] = (size_t)t->tail_total;
		return t->tail_total > 0 ? 1 : 0;
	}
	pieces[0] = t->tail + at;
	lens[0] = TRANSCRIPT_TAIL_MAX - at;
	pieces[1] = t->tail;
	lens[1] = at;
	skip_broken_start(pieces, lens);
	return 2;
}

/* From here on every byte is spooled; what is held so far goes first. */
static void start_spooling(struct transcript *t)
{
	const char *pieces[2];
	size_t lens[2];
	size_t count = tail_pieces(t, pieces, lens);

	t->spooling = true;
	spool_write(t->spool, t->head.data, t->head.len);
	for (size_t i = 0; i < count; i++)
		spool_write(t->spool, pieces[i], lens[i]);
}

static void look_for_query(struct transcript *t, const char *data, size_t len)
{
	char joint[2 * (QUERY_MAX - 1)];
	size_t n = size_min(len, QUERY_MAX - 1);

	memcpy(joint, t->last, sizeof(t->last));
	memcpy(joint + sizeof(t->last), data, n);
	if (memchr(data, '\033', len) != NULL &&
	    (memmem(data, len, "\033[6n", 4) != NULL || memmem(data, len, "\033[c", 3) != NULL))
		t->query_seen = true;
	if (memmem(joint, sizeof(t->last) + n, "\033[6n", 4) != NULL ||
	    memmem(joint, sizeof(t->last) + n, "\033[c", 3) != NULL)
		t->query_seen = true;
	memmove(t->last, joint + n, sizeof(t->last));
	if (len >= sizeof(t->last))
		memcpy(t->last, data + len - sizeof(t->last), sizeof(t->last));
}

static void take_bytes(struct transcript *t, const char *data, size_t len)
{
	size_t to_head = size_min(len, TRANSCRIPT_HEAD_MAX - t->head.len);

	if (len == 0)
		return;
	t->chars += utf8_count(data, len);
	t->line_open = escape_line_open(&t->line_end, t->line_open, data, len);
	look_for_query(t, data, len);
	if (!t->spooling && t->tail_total + len - to_head > TRANSCRIPT_TAIL_MAX)
		start_spooling(t);
	if (t->spooling)
		spool_write(t->spool, data, len);
	buf_put(&t->head, data, to_head);
	if (len > to_head)
		add_tail(t, data + to_head, len - to_head);
}

void transcript_feed(struct transcript *t, const char *data, size_t len)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	if (t->redact == NULL) {
		take_bytes(t, data, len);
		return;
	}
	redact_feed(t->redact, data, len, &clean);
	take_bytes(t, buf_str(&clean), clean.len);
}

void transcript_settle(struct transcript *t)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	if (t->redact == NULL)
		return;
	redact_settle(t->redact, &clean);
	take_bytes(t, buf_str(&clean), clean.len);
}

void transcript_clear(struct transcript *t)
{
	transcript_settle(t);
	buf_clear(&t->head);
	t->tail_total = 0;
	t->answered = 0;
	t->chars = 0;
	t->line_open = false;
}

static void end_redaction(struct transcript *t)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	if (t->redact == NULL)
		return;
	redact_end(t->redact, &clean);
	take_bytes(t, buf_str(&clean), clean.len);
}

void transcript_end_open_line(struct transcript *t)
{
	if (transcript_has_open_line(t))
		transcript_feed(t, "\n", 1);
}

void transcript_insert(struct transcript *t, const char *text, size_t len)
{
	if (len == 0)
		return;
	transcript_end_open_line(t);
	transcript_feed(t, text, len);
	transcript_end_open_line(t);
}

bool transcript_empty(const struct transcript *t)
{
	return t->head.len == 0;
}

bool transcript_has_open_line(const struct transcript *t)
{
	return t->line_open || (t->redact != NULL && redact_held(t->redact) > 0);
}

/* One that goes on where what was taken ended. */
static struct screen *open_screen(const struct transcript *t)
{
	struct screen *screen = screen_new();

	screen_set_alternate(screen, t->alternate);
	return screen;
}

static void feed_tail(const struct transcript *t, struct screen *screen)
{
	const char *pieces[2];
	size_t lens[2];
	size_t count = tail_pieces(t, pieces, lens);

	for (size_t i = 0; i < count; i++)
		screen_feed(screen, pieces[i], lens[i]);
}

/* All of it fits in head and tail: one screen shows it exactly. */
static struct transcript_text render_whole(const struct transcript *t, size_t max_chars,
					   struct buf *out)
{
	struct screen *screen = open_screen(t);
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct transcript_text result = { .shown = 0 };

	screen_feed(screen, buf_str(&t->head), t->head.len);
	feed_tail(t, screen);
	screen_text(screen, &text);
	screen_free(screen);
	result.total = utf8_count(buf_str(&text), text.len);
	result.shown = clip_text(out, buf_str(&text), text.len, max_chars);
	return result;
}

/* Head and tail with the middle gone. */
static struct transcript_text render_ends(const struct transcript *t, size_t max_chars,
					  struct buf *out)
{
	struct screen *screen = open_screen(t);
	cleanup_buf struct buf head = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);
	struct transcript_text result = { .total = (size_t)t->chars };

	screen_feed(screen, buf_str(&t->head), whole_head(t));
	screen_text(screen, &head);
	screen_free(screen);
	screen = open_screen(t);
	feed_tail(t, screen);
	screen_text(screen, &tail);
	screen_free(screen);
	result.shown = clip_ends(out, &head, &tail, result.total, max_chars);
	return result;
}

static struct transcript_text render(const struct transcript *t, size_t max_chars, struct buf *out)
{
	if (transcript_empty(t))
		return (struct transcript_text){ .shown = 0 };
	return t->tail_total <= TRANSCRIPT_TAIL_MAX ? render_whole(t, max_chars, out)
						    : render_ends(t, max_chars, out);
}

/* What is not shown whole lies in the spool, `result` behind the output. */
static void settle_spool(struct transcript *t, const struct buf *result,
			 struct transcript_text *all)
{
	if (all->shown < all->total && !t->spooling)
		start_spooling(t);
	if (t->spooling && !t->taken && all->shown >= all->total) {
		spool_discard(t->spool);
		t->spooling = false;
	}
	if (t->spooling && result != NULL && result->len > 0) {
		if (t->line_open)
			spool_write(t->spool, "\n", 1);
		spool_write(t->spool, result->data, result->len);
	}
	all->spooled = t->spooling && spool_error(t->spool) == NULL;
}

/* ---- the screen of a full-screen program ---- */

static bool ends_on_alternate(const struct transcript *t)
{
	struct screen *screen = open_screen(t);
	bool alternate;

	screen_feed(screen, buf_str(&t->head), t->head.len);
	feed_tail(t, screen);
	alternate = screen_is_alternate(screen);
	screen_free(screen);
	return alternate;
}

/* Takes all that is held. */
static void follow_panel(struct transcript *t)
{
	cleanup_buf struct buf held = BUF_INIT(BUF_UNBOUNDED);

	transcript_read(t, &held);
	if ((t->alternate || memmem(buf_str(&held), held.len, "\033[?", 3) != NULL) &&
	    ends_on_alternate(t)) {
		if (t->panel == NULL)
			t->panel = panel_new();
		panel_feed(t->panel, buf_str(&held), held.len);
		return;
	}
	panel_free(t->panel);
	t->panel = NULL;
	free(t->panel_shown);
	t->panel_shown = NULL;
}

/* Appends the screen of a program that has one, unless it is as it was shown last. */
static void show_panel(struct transcript *t, size_t max_chars, struct buf *out,
		       struct transcript_text *all)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t shown;

	follow_panel(t);
	if (t->panel == NULL)
		return;
	buf_putf(&text,
		 "[the screen of a full-screen program; the cursor is in line %zu, column %zu]\n",
		 panel_line(t->panel), panel_column(t->panel));
	panel_text(t->panel, &text);
	if (t->panel_shown != NULL && str_eq(t->panel_shown, buf_str(&text)))
		return;
	if (out->len > 0 && out->data[out->len - 1] != '\n')
		buf_puts(out, "\n");
	shown = clip_text(out, text.data, text.len, max_chars - size_min(all->shown, max_chars));
	all->shown += shown;
	all->total += shown;
	free(t->panel_shown);
	t->panel_shown = buf_steal(&text);
}

struct transcript_text transcript_render(struct transcript *t, size_t max_chars,
					 const struct buf *result, struct buf *out,
					 struct buf *ret_result)
{
	size_t result_chars = result != NULL ? utf8_count(buf_str(result), result->len) : 0;
	size_t output_chars = max_chars - size_min(result_chars, max_chars / 2);
	struct transcript_text all;

	end_redaction(t);
	all = render(t, output_chars, out);
	show_panel(t, output_chars, out, &all);
	all.total += result_chars;
	if (result != NULL)
		all.shown +=
			clip_text(ret_result, buf_str(result), result->len, max_chars - all.shown);
	settle_spool(t, result, &all);
	return all;
}

/* Bytes at the end that only make sense with what follows: a cut character or control sequence. */
static size_t unfinished(const char *data, size_t len)
{
	struct escape escape = { 0 };
	size_t from = 0;
	size_t lead = len;

	for (size_t i = 0; i < len; i++) {
		if (escape_idle(&escape))
			from = i;
		(void)escape_feed(&escape, (unsigned char)data[i]);
	}
	if (!escape_idle(&escape))
		return len - from;
	while (lead > 0 && len - lead < UTF8_REST_MAX && continues(data[lead - 1]))
		lead--;
	if (lead == 0 || (unsigned char)data[lead - 1] < 0xc0)
		return 0;
	lead--;
	return len - lead < utf8_need((unsigned char)data[lead]) ? len - lead : 0;
}

/* The last bytes that are held, at most `max`. */
static size_t copy_end(const struct transcript *t, char *ret, size_t max)
{
	size_t tail = (size_t)(t->tail_total < max ? t->tail_total : max);
	size_t head = size_min(max - tail, t->head.len);

	if (head > 0)
		memcpy(ret, t->head.data + t->head.len - head, head);
	for (size_t i = 0; i < tail; i++)
		ret[head + i] = t->tail[(t->tail_total - tail + i) % TRANSCRIPT_TAIL_MAX];
	return head + tail;
}

/* Takes the last `len` bytes back. Of a full ring the oldest are then gone: they become nothing. */
static void drop_end(struct transcript *t, size_t len)
{
	size_t from_tail = (size_t)(t->tail_total < len ? t->tail_total : len);

	for (size_t i = 0; i < from_tail; i++)
		t->tail[--t->tail_total % TRANSCRIPT_TAIL_MAX] = '\0';
	t->head.len -= len - from_tail;
}

void transcript_read(const struct transcript *t, struct buf *out)
{
	const char *pieces[2];
	size_t lens[2];
	size_t count = tail_pieces(t, pieces, lens);

	buf_put(out, buf_str(&t->head), t->head.len);
	for (size_t i = 0; i < count; i++)
		buf_put(out, pieces[i], lens[i]);
}

void transcript_end_line(const struct transcript *t, struct buf *out)
{
	char end[END_LINE_BYTES];
	size_t len = copy_end(t, end, sizeof(end));
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct screen *screen = open_screen(t);
	const char *line;
	size_t to;

	screen_feed(screen, end, len);
	screen_text(screen, &text);
	screen_free(screen);
	to = text.len;
	while (to > 0 && (text.data[to - 1] == '\n' || text.data[to - 1] == ' '))
		to--;
	if (to == 0)
		return;
	line = memrchr(text.data, '\n', to);
	line = line != NULL ? line + 1 : text.data;
	buf_put(out, line, (size_t)(text.data + to - line));
}

/* What a prompt is still asked for after it was shown. */
static void keep_open_line(struct transcript *t)
{
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);

	if (transcript_empty(t))
		return;
	transcript_last_line(t, &line);
	free(t->open);
	t->open = buf_steal(&line);
}

struct transcript_text transcript_take(struct transcript *t, size_t max_chars, struct buf *out)
{
	struct transcript_text result;
	char end[UNFINISHED_MAX];
	size_t len;
	size_t rest;

	transcript_settle(t);
	len = copy_end(t, end, sizeof(end));
	rest = unfinished(end, len);
	if (t->head.len + t->tail_total > rest) {
		if (!t->spooling)
			start_spooling(t);
		t->taken = true;
	}
	drop_end(t, rest);
	keep_open_line(t);
	t->chars -= utf8_count(end + len - rest, rest);
	result = render(t, max_chars, out);
	show_panel(t, max_chars, out, &result);
	settle_spool(t, NULL, &result);
	t->alternate = t->panel != NULL;
	buf_clear(&t->head);
	t->tail_total = 0;
	t->answered = 0;
	t->chars = utf8_count(end + len - rest, rest);
	buf_put(&t->head, end + len - rest, rest);
	return result;
}

void transcript_last_line(const struct transcript *t, struct buf *out)
{
	struct screen *screen = open_screen(t);

	if (transcript_empty(t) && t->open != NULL)
		buf_puts(out, t->open);

	if (t->tail_total == 0)
		screen_feed(screen, buf_str(&t->head), t->head.len);
	feed_tail(t, screen);
	screen_last_line(screen, out);
	screen_free(screen);
}

/* Feeds bytes that begin at `from` of the output; answers to what was answered are dropped. */
static void feed_unanswered(const struct transcript *t, struct screen *screen, uint64_t from,
			    const char *data, size_t len)
{
	size_t old = t->answered > from ? size_min(len, (size_t)(t->answered - from)) : 0;
	cleanup_buf struct buf dropped = BUF_INIT(BUF_UNBOUNDED);

	screen_feed(screen, data, old);
	if (old > 0)
		screen_take_answers(screen, &dropped);
	screen_feed(screen, data + old, len - old);
}

void transcript_take_answers(struct transcript *t, struct buf *out)
{
	const uint64_t total = t->head.len + t->tail_total;
	const char *pieces[2] = { NULL, NULL };
	size_t lens[2] = { 0, 0 };
	size_t count;
	struct screen *screen;

	if (!t->query_seen)
		return;
	t->query_seen = false;
	screen = open_screen(t);
	count = tail_pieces(t, pieces, lens);
	if (count == 0)
		feed_unanswered(t, screen, 0, buf_str(&t->head), t->head.len);
	for (size_t i = 0, left = lens[0] + lens[1]; i < count; left -= lens[i++])
		feed_unanswered(t, screen, total - left, pieces[i], lens[i]);
	screen_take_answers(screen, out);
	screen_free(screen);
	t->answered = total;
}

const char *transcript_spool_path(const struct transcript *t)
{
	return t->spooling ? spool_path(t->spool) : NULL;
}

uint64_t transcript_spool_dropped(const struct transcript *t)
{
	return t->spooling ? spool_dropped(t->spool) : 0;
}
