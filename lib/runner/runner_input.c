/* SPDX-License-Identifier: MIT */
/*
 * runner_input.c - types into a cell's terminal, as fast as it is read.
 *
 * The kernel keeps 4,095 bytes of input and silently drops the rest. The next piece is therefore
 * written only when the last one was read.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "runner/runner_internal.h"

enum {
	PIECE_MAX = 3500,
	PAUSE_MAX_MS = 50,
	LINES_MAX = 100, /* lines typed one at a time */
	ECHO_MAX = 500,  /* bytes; of longer input only the length is shown */
	LITERAL_NEXT = 0x16,
};

/* A piece of input. */
struct typed {
	struct list node;
	enum runner_typing kind;
	bool echo; /* it may be shown, as it is no secret */
	char *text;
	size_t len;
	size_t lines;
	size_t done; /* bytes of `text` that went into `piece` */
	bool echoed;
	struct buf piece; /* bytes that the terminal has not accepted */
};

static void typed_free(struct typed *typed)
{
	list_remove(&typed->node);
	if (typed->text != NULL)
		explicit_bzero(typed->text, typed->len);
	if (typed->piece.data != NULL)
		explicit_bzero(typed->piece.data, typed->piece.cap);
	buf_release(&typed->piece);
	free(typed->text);
	free(typed);
}

void runner_type_clear(struct runner *r)
{
	loop_timer_stop(&r->typing);
	list_for_each (struct typed, typed, &r->typed, node)
		typed_free(typed);
	if (r->fed && r->interpreter != NULL && interpreter_slave(r->interpreter) >= 0)
		(void)tcflush(interpreter_slave(r->interpreter), TCIFLUSH);
	r->fed = false;
}

/* ---- pieces ---- */

static bool is_control(char c)
{
	unsigned char byte = (unsigned char)c;

	return (byte < 0x20 && byte != '\n' && byte != '\t' && byte != '\r') || byte == 0x7f;
}

/* Returns whether the line discipline edits lines itself: EXTPROC was reset (stty sane). */
static bool kernel_edits(const struct termios *now)
{
	return (now->c_lflag & ICANON) != 0 && (now->c_lflag & EXTPROC) == 0;
}

/* Appends one byte as this terminal expects it; Enter as its key sends it. */
static void put_byte(struct buf *out, const struct termios *now, enum runner_typing kind, char byte)
{
	if (kind == TYPE_LINE && byte == '\n' && (now->c_iflag & ICRNL) == 0)
		byte = '\r';
	if (kernel_edits(now) && is_control(byte) && now->c_cc[VLNEXT] == LITERAL_NEXT)
		buf_put(out, (const char[]){ LITERAL_NEXT }, 1);
	buf_put(out, &byte, 1);
}

/* Makes the next piece, once the last one is written. */
static void fill_piece(struct typed *typed, const struct termios *now)
{
	struct buf *out = &typed->piece;
	size_t at = typed->done;
	/*
	 * One line at a time, as the line discipline does without EXTPROC: some readers ignore the
	 * second line of one read. Much input is meant for other readers.
	 */
	bool by_line = (now->c_lflag & ICANON) != 0 && typed->lines <= LINES_MAX;

	if (out->len > 0)
		return;
	while (at < typed->len && out->len < PIECE_MAX) {
		put_byte(out, now, typed->kind, typed->text[at++]);
		if (by_line && typed->text[at - 1] == '\n')
			break;
	}
	/* VEOF ends a part of a long line: the reader gets the parts as one line. */
	if (at < typed->len && kernel_edits(now) && typed->text[at - 1] != '\n')
		buf_put(out, (const char[]){ (char)now->c_cc[VEOF] }, 1);
	typed->done = at;
}

/* With EXTPROC the kernel does not echo, and line editors echo themselves. */
static bool wants_echo(const struct typed *typed, const struct termios *now)
{
	const tcflag_t all = ICANON | ECHO | EXTPROC;

	return typed->echo && typed->kind == TYPE_LINE && (now->c_lflag & all) == all;
}

static void echo(struct runner *r, struct typed *typed)
{
	char number[48];

	if (typed->echoed || r->transcript == NULL)
		return;
	typed->echoed = true;
	if (typed->len <= ECHO_MAX) {
		transcript_feed(r->transcript, typed->text, typed->len);
		return;
	}
	(void)snprintf(number, sizeof(number), "[%zu bytes typed]\n", typed->len);
	transcript_feed(r->transcript, number, strlen(number));
}

/* Writes a piece. Returns false when the terminal accepts nothing now. */
static bool type_text(struct runner *r, struct typed *typed, const struct termios *now)
{
	ssize_t n;

	fill_piece(typed, now);
	n = write(interpreter_pty(r->interpreter), typed->piece.data, typed->piece.len);
	if (n <= 0)
		return false;
	if (wants_echo(typed, now))
		echo(r, typed);
	buf_consume(&typed->piece, (size_t)n);
	if (typed->done == typed->len && typed->piece.len == 0)
		typed_free(typed);
	return true;
}

/*
 * Returns the signal that a terminal makes of the key, or 0. With EXTPROC the kernel leaves that to
 * the master's side.
 */
static int key_signal(char byte)
{
	switch (byte) {
	case 0x03:
		return SIGINT;
	case 0x1a: /* The kernel stops only the jobs of a shell by it, no interpreter. */
		return SIGTSTP;
	case 0x1c:
		return SIGQUIT;
	default:
		return 0;
	}
}

/*
 * Types a key: a signal if the terminal makes one of it, else the byte for a program in raw mode.
 */
static bool type_key(struct runner *r, struct typed *typed, const struct termios *now)
{
	char byte = typed->text[0];
	bool enter = byte == '\n' && (now->c_iflag & ICRNL) == 0;
	int signo = key_signal(byte);

	if (signo != 0 && (now->c_lflag & ISIG) != 0)
		interpreter_signal_foreground(r->interpreter, signo);
	else if (write(interpreter_pty(r->interpreter), enter ? "\r" : typed->text, typed->len) < 0)
		return false;
	typed_free(typed);
	return true;
}

/* ---- pacing ---- */

static void on_typing(struct loop_timer *timer);

static void pump(struct runner *r)
{
	int slave = interpreter_slave(r->interpreter);

	r->fed = true;
	while (!list_empty(&r->typed)) {
		struct typed *typed = list_entry(r->typed.next, struct typed, node);
		struct termios now;
		bool went;

		if (tcgetattr(slave, &now) < 0)
			return;
		if (interpreter_unread_input(r->interpreter))
			break;
		went = typed->kind == TYPE_KEY ? type_key(r, typed, &now)
					       : type_text(r, typed, &now);
		if (!went)
			break;
		r->typing_pause_ms = 1;
		runner_watch_typed(r);
	}
	if (list_empty(&r->typed))
		return;
	loop_timer_start(r->c.loop, &r->typing, loop_now(r->c.loop) + r->typing_pause_ms,
			 on_typing);
	r->typing_pause_ms =
		r->typing_pause_ms < PAUSE_MAX_MS / 2 ? 2 * r->typing_pause_ms : PAUSE_MAX_MS;
}

static void on_typing(struct loop_timer *timer)
{
	pump(container_of(timer, struct runner, typing));
}

static size_t typed_bytes(const struct runner *r)
{
	size_t bytes = 0;

	list_for_each (struct typed, typed, &r->typed, node)
		bytes += typed->len;
	return bytes;
}

int runner_type(struct runner *r, enum runner_typing kind, const char *text, size_t len,
		struct err *err)
{
	struct typed *typed;

	if (r->cell == NULL)
		return err_set(err, ERR_NOT_FOUND, "no %s cell runs, so the input was not used",
			       r->c.language->name);
	if (typed_bytes(r) + len > RUNNER_TYPED_MAX)
		return err_set(err, ERR_LIMIT,
			       "the cell has not read %zu bytes that were typed before",
			       typed_bytes(r));
	typed = xcalloc(1, sizeof(*typed));
	list_init(&typed->node);
	buf_init(&typed->piece, BUF_UNBOUNDED);
	typed->kind = kind;
	typed->echo = r->wait.kind == WAIT_SURE && !r->wait.secret;
	typed->len = len + (kind == TYPE_LINE && (len == 0 || text[len - 1] != '\n'));
	typed->text = xcalloc(1, typed->len + 1);
	memcpy(typed->text, text, len);
	if (kind == TYPE_KEY)
		cursor_keys_convert(&r->cursor_keys, typed->text, len);
	if (typed->len > len)
		typed->text[len] = '\n';
	for (size_t i = 0; i < typed->len; i++)
		typed->lines += typed->text[i] == '\n';
	list_append(&r->typed, &typed->node);
	if (r->c.handlers->typed != NULL)
		r->c.handlers->typed(r, typed->text, typed->len,
				     r->wait.kind != WAIT_NONE && r->wait.secret);
	r->typing_pause_ms = 1;
	runner_watch_typed(r);
	pump(r);
	return 0;
}
