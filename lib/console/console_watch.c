/* SPDX-License-Identifier: MIT */
/*
 * console_watch.c - sends live output to commands that watch. While a command watches, the output
 * of each interpreter passes through a tap, which removes secrets and control sequences; without a
 * watcher there is none, and output costs nothing. A tap takes TAP_BYTES_MAX in each interval of
 * FLUSH_MS, so that a flood costs the server a bounded time: the rest is counted, and left out.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "config/settings.h"
#include "console/console_internal.h"
#include "json/make.h"
#include "redact/redact.h"
#include "runner/runner.h"
#include "session/session.h"
#include "session/table.h"
#include "text/sanitize.h"

enum {
	FLUSH_MS = 40,
	TAP_BYTES_MAX = 64 << 10,
};

struct watcher {
	struct list node;
	struct peer *peer;
	char *session_id; /* NULL: all sessions */
	bool behind;      /* lines were dropped */
};

struct tap {
	struct list node;
	const struct session *session;
	const struct language *language;
	struct redact_stream *redact; /* or NULL */
	struct sanitize_stream *clean;
	struct buf text;   /* due */
	size_t taken;      /* bytes in this interval */
	uint64_t left_out; /* bytes */
	bool returned;     /* the last byte was a carriage return */
};

/* ---- watchers ---- */

static void watcher_free(struct watcher *watcher)
{
	list_remove(&watcher->node);
	free(watcher->session_id);
	free(watcher);
}

static bool is_watching(const struct watcher *watcher, const struct session *session)
{
	return watcher->session_id == NULL || str_eq(watcher->session_id, session_id(session));
}

static bool is_watched(const struct console *console, const struct session *session)
{
	list_for_each (struct watcher, watcher, &console->watchers, node)
		if (is_watching(watcher, session))
			return true;
	return false;
}

static json_t *event_new(const struct session *session, const char *event)
{
	json_t *line = json_object();

	json_put_str(line, "event", event);
	json_put_str(line, "session_id", session_id(session));
	return line;
}

/* Sends a line to a watcher; if it was behind, first that something is missing. */
static void send_one(struct watcher *watcher, const struct session *session, const json_t *line)
{
	cleanup_json json_t *gap = watcher->behind ? event_new(session, "gap") : NULL;

	watcher->behind = (gap != NULL && !listener_send(watcher->peer, gap)) ||
			  !listener_send(watcher->peer, line);
}

static void send_all(const struct console *console, const struct session *session, json_t *line_own)
{
	list_for_each (struct watcher, watcher, &console->watchers, node)
		if (is_watching(watcher, session))
			send_one(watcher, session, line_own);
	json_decref(line_own);
}

/* ---- taps ---- */

static struct tap *tap_new(struct console *console, const struct session *session,
			   const struct language *language)
{
	const struct redact *redact = console->service->settings->redact;
	struct tap *tap = xcalloc(1, sizeof(*tap));

	list_init(&tap->node);
	tap->session = session;
	tap->language = language;
	tap->redact = redact != NULL ? redact_stream_new(redact) : NULL;
	tap->clean = sanitize_stream_new();
	buf_init(&tap->text, BUF_UNBOUNDED);
	list_append(&console->taps, &tap->node);
	return tap;
}

static void tap_free(struct tap *tap)
{
	list_remove(&tap->node);
	redact_stream_free(tap->redact);
	sanitize_stream_free(tap->clean);
	buf_release(&tap->text);
	free(tap);
}

/* Adds text without secrets. A carriage return stays, unless a line feed follows it. */
static void add_clean(struct tap *tap, const char *text, size_t len)
{
	while (len > 0) {
		const char *end = memchr(text, '\r', len);
		size_t part = end != NULL ? (size_t)(end - text) : len;

		if (tap->returned && text[0] != '\n')
			buf_put_char(&tap->text, '\r');
		tap->returned = end != NULL;
		sanitize_feed(tap->clean, text, part, &tap->text);
		part += end != NULL;
		text += part;
		len -= part;
	}
}

static void add_raw(struct tap *tap, const char *data, size_t len)
{
	cleanup_buf struct buf safe = BUF_INIT(BUF_UNBOUNDED);

	if (tap->redact == NULL) {
		add_clean(tap, data, len);
		return;
	}
	redact_feed(tap->redact, data, len, &safe);
	add_clean(tap, buf_str(&safe), safe.len);
}

/* The output rests: what only might begin a secret is shown. */
static void settle(struct tap *tap)
{
	cleanup_buf struct buf safe = BUF_INIT(BUF_UNBOUNDED);

	if (tap->redact == NULL)
		return;
	redact_settle(tap->redact, &safe);
	add_clean(tap, buf_str(&safe), safe.len);
}

static void flush(struct console *console, struct tap *tap)
{
	json_t *line;

	settle(tap);
	tap->taken = 0;
	if (tap->text.len == 0 && tap->left_out == 0)
		return;
	line = event_new(tap->session, "output");
	json_put_str(line, "language", tap->language->name);
	json_put(line, "text", json_make_text(buf_str(&tap->text), tap->text.len));
	if (tap->left_out > 0)
		json_put_int(line, "left_out_bytes", (json_int_t)tap->left_out);
	tap->left_out = 0;
	buf_clear(&tap->text);
	send_all(console, tap->session, line);
}

static void flush_session(struct console *console, const struct session *session)
{
	list_for_each (struct tap, tap, &console->taps, node)
		if (tap->session == session)
			flush(console, tap);
}

static void on_flush(struct loop_timer *timer)
{
	struct console *console = container_of(timer, struct console, flush);

	list_for_each (struct tap, tap, &console->taps, node)
		flush(console, tap);
}

/* After a gap the streams begin anew: what they held does not continue. */
static void leave_out(struct console *console, struct tap *tap, size_t len)
{
	if (tap->left_out == 0 && tap->redact != NULL) {
		redact_stream_free(tap->redact);
		tap->redact = redact_stream_new(console->service->settings->redact);
	}
	tap->left_out += len;
}

static struct tap *find_tap(struct console *console, const struct session *session,
			    const struct language *language)
{
	list_for_each (struct tap, tap, &console->taps, node)
		if (tap->session == session && tap->language == language)
			return tap;
	return tap_new(console, session, language);
}

/* ---- what happens in sessions ---- */

static void on_wrote(void *data, struct session *session, const struct language *language,
		     const char *bytes, size_t len)
{
	struct console *console = data;
	struct loop *loop = console->service->loop;
	struct tap *tap;
	size_t room;

	if (!is_watched(console, session))
		return;
	tap = find_tap(console, session, language);
	room = size_min(len, TAP_BYTES_MAX - tap->taken);
	if (tap->left_out > 0)
		room = 0;
	add_raw(tap, bytes, room);
	tap->taken += room;
	if (room < len)
		leave_out(console, tap, len - room);
	if (!loop_timer_active(&console->flush))
		loop_timer_start(loop, &console->flush, loop_now(loop) + FLUSH_MS, on_flush);
}

static void on_began(void *data, struct session *session, const struct cell *cell)
{
	struct console *console = data;
	cleanup_free char *code = xmemdup(cell->code, cell->code_len);
	json_t *line;

	if (!is_watched(console, session))
		return;
	flush_session(console, session);
	redact_string(console->service->settings->redact, &code);
	line = event_new(session, "began");
	json_put_int(line, "cell", (json_int_t)cell->number);
	json_put_str(line, "language", cell->language);
	json_put_str(line, "code", code);
	send_all(console, session, line);
}

static void on_over(void *data, const struct exec_result *result)
{
	struct console *console = data;
	const struct session *session = result->session;
	const struct cell *cell = result->cell;
	cleanup_free char *text = NULL;
	json_t *line;

	if (!is_watched(console, session))
		return;
	flush_session(console, session);
	text = xmemdup(buf_str(&cell->result), cell->result.len);
	redact_string(console->service->settings->redact, &text);
	line = event_new(session, "ended");
	json_put_int(line, "cell", (json_int_t)cell->number);
	json_put_str(line, "language", cell->language);
	json_put_str(line, "state", cell_state_name(cell->state));
	json_put_real(line, "seconds", (double)cell->elapsed_us / 1e6);
	json_put_str(line, "result", text);
	send_all(console, session, line);
}

/* Returns the wait for input of a cell, NULL for none. */
static const struct runner_wait *find_wait(const struct session *session)
{
	const struct runner *runner;

	for (size_t i = 0; (runner = session_runner(session, i)) != NULL; i++)
		if (runner_cell(runner) != NULL && runner_wait(runner) != NULL)
			return runner_wait(runner);
	return NULL;
}

/* Returns the line that reports the session's state. */
static json_t *state_line(const struct session *session)
{
	const struct runner_wait *wait = find_wait(session);
	json_t *line = event_new(session, "state");

	json_put_str(line, "state", session_state(session));
	if (wait != NULL)
		json_put_bool(line, "secret", wait->secret);
	return line;
}

static void on_state_changed(void *data, const struct session *session)
{
	struct console *console = data;

	if (!is_watched(console, session))
		return;
	flush_session(console, session);
	send_all(console, session, state_line(session));
}

static void on_ends(void *data, const struct session *session)
{
	struct console *console = data;

	flush_session(console, session);
	send_all(console, session, event_new(session, "session_ended"));
	list_for_each (struct tap, tap, &console->taps, node)
		if (tap->session == session)
			tap_free(tap);
	list_for_each (struct watcher, watcher, &console->watchers, node) {
		if (watcher->session_id == NULL || !is_watching(watcher, session))
			continue;
		listener_end(watcher->peer);
		watcher_free(watcher);
	}
}

/* Observes the sessions while there is a watcher. */
static void observe(struct console *console)
{
	bool watched = !list_empty(&console->watchers);

	console->observer.began = watched ? on_began : NULL;
	console->observer.wrote = watched ? on_wrote : NULL;
	console->observer.over = watched ? on_over : NULL;
	console->observer.state_changed = watched ? on_state_changed : NULL;
	console->observer.ends = watched ? on_ends : NULL;
	if (watched)
		return;
	loop_timer_stop(&console->flush);
	list_for_each (struct tap, tap, &console->taps, node)
		tap_free(tap);
}

/* ---- the command ---- */

/*
 * Sends a new watcher the output of a running cell that no answer has shown. A tap that is new
 * goes on behind it.
 */
static void send_recent(struct console *console, struct watcher *watcher, struct session *session,
			size_t index)
{
	const struct runner *runner = session_runner(session, index);
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf withheld = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	cleanup_json json_t *line = event_new(session, "output");
	struct tap *tap = find_tap(console, session, runner_language(runner));

	session_read_output(session, index, &shown, &withheld);
	flush_session(console, session);
	if (tap->redact != NULL && redact_held(tap->redact) == 0)
		add_raw(tap, buf_str(&withheld), withheld.len);
	sanitize_block(&clean, buf_str(&shown), shown.len);
	if (clean.len == 0 && runner_wait(runner) != NULL) /* an answer has shown the prompt */
		buf_putf(&clean, "%s ", runner_wait(runner)->prompt);
	json_put_str(line, "language", runner_language(runner)->name);
	json_put(line, "text", json_make_text(buf_str(&clean), clean.len));
	if (clean.len > 0)
		send_one(watcher, session, line);
}

static void send_recent_of(struct console *console, struct watcher *watcher,
			   struct session *session)
{
	for (size_t i = 0; session_runner(session, i) != NULL; i++)
		if (runner_cell(session_runner(session, i)) != NULL)
			send_recent(console, watcher, session, i);
}

static void add_watcher(struct console *console, struct peer *peer, struct session *session)
{
	struct watcher *watcher = xcalloc(1, sizeof(*watcher));
	cleanup_json json_t *state = NULL;

	list_init(&watcher->node);
	watcher->peer = peer;
	watcher->session_id = session != NULL ? xstrdup(session_id(session)) : NULL;
	if (session != NULL) {
		send_recent_of(console, watcher, session);
		state = state_line(session);
		send_one(watcher, session, state);
	}
	list_append(&console->watchers, &watcher->node);
	observe(console);
}

void console_watch(struct console *console, struct peer *peer, const json_t *request)
{
	bool all = json_is_true(json_object_get(request, "all"));
	struct err err;
	struct session *session = all ? NULL : console_find(console, request, &err);

	if (!all && session == NULL)
		listener_refuse(peer, &err);
	else if (listener_stream(peer, json_object()))
		add_watcher(console, peer, session);
}

void console_watch_gone(struct console *console, const struct peer *peer)
{
	list_for_each (struct watcher, watcher, &console->watchers, node)
		if (watcher->peer == peer)
			watcher_free(watcher);
	observe(console);
}

void console_watch_end(struct console *console)
{
	list_for_each (struct watcher, watcher, &console->watchers, node)
		watcher_free(watcher);
	observe(console);
}
