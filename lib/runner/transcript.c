/* SPDX-License-Identifier: MIT */
/*
 * transcript.c - holds a cell's output as a head and a rolling tail of raw bytes. A progress bar
 * rewrites its line thousands of times. When both are full, the terminal model therefore folds them
 * into fewer bytes that show the same; only if that does not help, the middle goes.
 */
#include "runner/transcript.h"

#include <stdlib.h>

#include "base/mem.h"
#include "redact/redact.h"
#include "runner/ring.h"
#include "text/escape.h"
#include "text/panel.h"
#include "text/screen.h"
#include "text/truncate.h"
#include "text/utf8.h"
#include "workspace/spool.h"

enum {
	END_LINE_BYTES = 2048, /* in which the last line is searched */
	UNFINISHED_MAX = 64,   /* bytes of an unfinished control sequence */
	QUERY_MAX = 4,         /* bytes of "ESC [ 6 n" */
};

struct transcript {
	struct spool *spool;
	struct redact_stream *redact; /* or NULL */
	bool spooling;
	size_t spooled; /* bytes of output in the spool, without the result */
	struct buf head;
	struct ring tail;
	uint64_t chars; /* characters of all bytes, without those that were rewritten */
	bool full;      /* bytes between head and tail are gone, or may go */
	char last[QUERY_MAX - 1];
	bool query_seen;
	uint64_t answered;      /* bytes whose queries have been answered */
	bool line_open;         /* the last line has text */
	struct escape line_end; /* a sequence that may be unfinished */
	char *open;             /* the unfinished last line of the last take, or NULL */
	bool taken;             /* something was shown and is no longer held */
	bool alternate;         /* it ended on the alternate screen */
	struct panel *panel;    /* its content; NULL when no program uses it */
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
	ring_release(&t->tail);
	free(t->open);
	panel_free(t->panel);
	free(t->panel_shown);
	spool_free(t->spool);
	redact_stream_free(t->redact);
	free(t);
}

/* Returns the length of the head without a character that its end cuts. */
static size_t whole_head(const struct transcript *t)
{
	size_t len = t->head.len;
	size_t start = len;
	unsigned char lead;
	size_t need;

	while (start > 0 && len - start < UTF8_REST_MAX && utf8_continues(t->head.data[start - 1]))
		start--;
	if (start == 0)
		return len;
	lead = (unsigned char)t->head.data[--start];
	need = utf8_length(lead);
	return len - start < need ? start : len;
}

/* Makes a screen that continues where the last take ended. */
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
	size_t count = ring_pieces(&t->tail, pieces, lens);

	for (size_t i = 0; i < count; i++)
		screen_feed(screen, pieces[i], lens[i]);
}

/* Copies the last bytes that are held, at most `max`. */
static size_t copy_end(const struct transcript *t, char *ret, size_t max)
{
	size_t tail = (size_t)(t->tail.total < max ? t->tail.total : max);
	size_t head = size_min(max - tail, t->head.len);

	if (head > 0)
		memcpy(ret, t->head.data + t->head.len - head, head);
	if (tail > 0)
		ring_copy_end(&t->tail, ret + head, tail);
	return head + tail;
}

/* Removes the last `len` bytes. */
static void drop_end(struct transcript *t, size_t len)
{
	size_t from_tail = (size_t)(t->tail.total < len ? t->tail.total : len);

	ring_drop_end(&t->tail, from_tail);
	t->head.len -= len - from_tail;
}

/* Spools what is held, and every byte from here on. */
static void start_spooling(struct transcript *t)
{
	const char *pieces[2];
	size_t lens[2];
	size_t count = ring_pieces(&t->tail, pieces, lens);

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

/* Returns whether some bytes may overwrite text: then there are more bytes than text. */
static bool rewrites(const struct buf *held)
{
	const char *at = held->data;
	const char *end = at + held->len;

	if (memchr(at, '\033', held->len) != NULL || memchr(at, '\b', held->len) != NULL)
		return true;
	while ((at = memchr(at, '\r', (size_t)(end - at))) != NULL)
		if (++at < end && *at != '\n')
			return true;
	return false;
}

/* Appends fewer bytes that show the same as all that is held. Returns false if it cannot. */
static bool fold(const struct transcript *t, struct buf *out)
{
	cleanup_buf struct buf held = BUF_INIT(BUF_UNBOUNDED);
	struct screen *screen;
	size_t rest;
	bool folded;

	transcript_read(t, &held, NULL);
	if (t->query_seen || !rewrites(&held))
		return false;
	rest = escape_unfinished(held.data + held.len - UNFINISHED_MAX, UNFINISHED_MAX);
	screen = open_screen(t);
	screen_feed(screen, held.data, held.len - rest);
	folded = screen_retell(screen, out);
	screen_free(screen);
	buf_put(out, held.data + held.len - rest, rest);
	return folded && out->len <= TRANSCRIPT_HEAD_MAX + TRANSCRIPT_TAIL_MAX;
}

static void hold_piece(struct transcript *t, const char *data, size_t len)
{
	size_t to_head = size_min(len, TRANSCRIPT_HEAD_MAX - t->head.len);

	buf_put(&t->head, data, to_head);
	if (len > to_head)
		ring_add(&t->tail, data + to_head, len - to_head);
}

/* Head and tail are full: replaces them by what lines showed before they were overwritten. */
static void make_room(struct transcript *t)
{
	cleanup_buf struct buf folded = BUF_INIT(BUF_UNBOUNDED);

	t->full = true;
	if (!fold(t, &folded))
		return;
	t->full = folded.len > TRANSCRIPT_HEAD_MAX;
	buf_clear(&t->head);
	t->tail.total = 0;
	hold_piece(t, folded.data, folded.len);
	t->chars = utf8_count(folded.data, folded.len);
	t->answered = folded.len;
}

static void hold(struct transcript *t, const char *data, size_t len)
{
	while (len > 0) {
		size_t room = (size_t)TRANSCRIPT_HEAD_MAX + TRANSCRIPT_TAIL_MAX - t->head.len;
		size_t piece = len;

		if (!t->full)
			piece = size_min(len, room - (size_t)t->tail.total);
		t->chars += utf8_count(data, piece);
		hold_piece(t, data, piece);
		data += piece;
		len -= piece;
		if (len > 0)
			make_room(t);
	}
}

static void take_bytes(struct transcript *t, const char *data, size_t len)
{
	if (len == 0)
		return;
	t->line_open = escape_line_open(&t->line_end, t->line_open, data, len);
	look_for_query(t, data, len);
	if (!t->spooling &&
	    t->head.len + t->tail.total + len > TRANSCRIPT_HEAD_MAX + TRANSCRIPT_TAIL_MAX)
		start_spooling(t);
	if (t->spooling)
		spool_write(t->spool, data, len);
	hold(t, data, len);
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
	t->tail.total = 0;
	t->full = false;
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

/* Renders everything on one screen, which is exact. */
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
	result.shown = truncate_text(out, buf_str(&text), text.len, max_chars);
	return result;
}

/* Renders head and tail, without the middle. */
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
	result.shown = truncate_ends(out, &head, &tail, result.total, max_chars);
	return result;
}

static struct transcript_text render(const struct transcript *t, size_t max_chars, struct buf *out)
{
	if (transcript_empty(t))
		return (struct transcript_text){ .shown = 0 };
	return t->tail.total <= TRANSCRIPT_TAIL_MAX ? render_whole(t, max_chars, out)
						    : render_ends(t, max_chars, out);
}

/* Completes the spool, or discards it if everything is shown. */
static void settle_spool(struct transcript *t, const struct buf *result,
			 struct transcript_text *all)
{
	if (all->shown < all->total && !t->spooling)
		start_spooling(t);
	if (t->spooling && !t->taken && all->shown >= all->total) {
		spool_discard(t->spool);
		t->spooling = false;
	}
	t->spooled = t->spooling ? spool_size(t->spool) : 0;
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

/* Updates the panel; frees it when no program uses the alternate screen. */
static void follow_panel(struct transcript *t)
{
	cleanup_buf struct buf held = BUF_INIT(BUF_UNBOUNDED);

	transcript_read(t, &held, NULL);
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

/* Appends the screen of a program that has one, unless it was shown unchanged. */
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
	shown = truncate_text(out, text.data, text.len,
			      max_chars - size_min(all->shown, max_chars));
	all->shown += shown;
	all->total += shown;
	free(t->panel_shown);
	t->panel_shown = buf_steal(&text);
}

struct transcript_text transcript_render(struct transcript *t, size_t max_chars,
					 const struct transcript_result *result, struct buf *out,
					 struct buf *ret_result)
{
	size_t result_chars =
		result != NULL ? utf8_count(buf_str(&result->text), result->text.len) : 0;
	size_t output_chars = max_chars - size_min(result_chars, max_chars / 2);
	struct transcript_text all;

	end_redaction(t);
	all = render(t, output_chars, out);
	show_panel(t, output_chars, out, &all);
	if (result != NULL)
		transcript_result_show(result, max_chars, ret_result, &all);
	settle_spool(t, result != NULL ? &result->whole : NULL, &all);
	return all;
}

void transcript_read(const struct transcript *t, struct buf *out, struct buf *withheld)
{
	const char *pieces[2];
	size_t lens[2];
	size_t count = ring_pieces(&t->tail, pieces, lens);

	buf_put(out, buf_str(&t->head), t->head.len);
	for (size_t i = 0; i < count; i++)
		buf_put(out, pieces[i], lens[i]);
	if (withheld != NULL && t->redact != NULL)
		redact_read_held(t->redact, withheld);
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

/* Keeps the prompt, which may be requested after it was shown. */
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
	rest = escape_unfinished(end, len);
	if (t->head.len + t->tail.total > rest) {
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
	t->tail.total = 0;
	t->full = false;
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

	if (t->tail.total == 0)
		screen_feed(screen, buf_str(&t->head), t->head.len);
	feed_tail(t, screen);
	screen_last_line(screen, out);
	screen_free(screen);
}

/* Feeds the output from `from`; answers to earlier queries are dropped. */
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
	const uint64_t total = t->head.len + t->tail.total;
	const char *pieces[2] = { NULL, NULL };
	size_t lens[2] = { 0, 0 };
	size_t count;
	struct screen *screen;

	if (!t->query_seen)
		return;
	t->query_seen = false;
	screen = open_screen(t);
	count = ring_pieces(&t->tail, pieces, lens);
	if (count == 0)
		feed_unanswered(t, screen, 0, buf_str(&t->head), t->head.len);
	for (size_t i = 0, left = lens[0] + lens[1]; i < count; left -= lens[i++])
		feed_unanswered(t, screen, total - left, pieces[i], lens[i]);
	screen_take_answers(screen, out);
	screen_free(screen);
	t->answered = total;
}

size_t transcript_spooled(const struct transcript *t)
{
	return t->spooled;
}

const char *transcript_spool_path(const struct transcript *t)
{
	return t->spooling ? spool_path(t->spool) : NULL;
}

uint64_t transcript_spool_dropped(const struct transcript *t)
{
	return t->spooling ? spool_dropped(t->spool) : 0;
}
