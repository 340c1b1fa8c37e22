/* SPDX-License-Identifier: MIT */
/*
 * runner_io.c - reads the terminal and the control channel of a runner, a slice at a time, and
 * writes to the driver. It never blocks. A driver that leaves its input unread is not read from
 * either, so that its messages cannot grow the queue.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "runner/runner_internal.h"
#include "workspace/spool.h"

enum {
	CONTROL_SLICE =
		64 << 10,     /* bytes read in one callback, so that every session gets its turn */
	PTY_SLICE = 16 << 10, /* bytes processed in one callback */
	READ_CHUNK = 16 << 10,
	CONTROL_CHUNK = 64 << 10,
	OUTGOING_KEPT_MAX = 64 << 10, /* capacity kept for output once all is sent */
	READ_END_MAX = 256 << 10,     /* after an end; a child that keeps writing has more */
	LATE_TEXT_MAX = 64 << 10,     /* characters of output that no cell has */
	PTY_READ_MUCH = 1024,         /* one read of a pty returns 4,095 bytes at most */
};

/* ---- writing to the driver ---- */

static size_t unsent(struct runner *r)
{
	return channel_outgoing(r->link, &r->to_driver)->len;
}

static bool reads_too_little(struct runner *r)
{
	return unsent(r) > RUNNER_UNREAD_MAX;
}

/* Returns the pipe to the driver; -1 if frames go both ways on the control socket. */
static int commands_of(const struct runner *r)
{
	return interpreter_descriptor(r->interpreter, "commands");
}

static ssize_t send_some(const struct runner *r, const struct buf *out)
{
	int pipe = commands_of(r);

	if (pipe >= 0)
		return write(pipe, out->data, out->len);
	return send(interpreter_control(r->interpreter), out->data, out->len,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void on_commands(struct loop_io *io, uint32_t events)
{
	(void)events;
	runner_flush(container_of(io, struct runner, commands_io));
}

/* Watches a pipe only while it is full: one without a reader would report errors without end. */
static void watch_commands(struct runner *r, bool full)
{
	struct err err;

	if (!full)
		loop_io_stop(&r->commands_io);
	else if (!loop_io_active(&r->commands_io) &&
		 loop_io_start(r->c.loop, &r->commands_io, commands_of(r), EPOLLOUT, on_commands,
			       &err) < 0)
		log_warn("runner", "%s", err.msg); /* the cell will end at its deadline */
}

static bool may_listen(struct runner *r)
{
	return !reads_too_little(r) && !runner_takes_in(r) && holdings_may_grow(&r->incoming);
}

/* A text of the current frame must be taken in before the terminal's output. */
void runner_watch_io(struct runner *r)
{
	bool full = r->link != NULL && unsent(r) > 0;
	bool by_pipe = r->interpreter != NULL && commands_of(r) >= 0;

	if (by_pipe)
		watch_commands(r, full);
	if (loop_io_active(&r->control_io))
		loop_io_set_events(&r->control_io, (full && !by_pipe ? EPOLLOUT : 0U) |
							   (may_listen(r) ? EPOLLIN : 0U));
	if (loop_io_active(&r->pty_io))
		loop_io_set_events(&r->pty_io, r->intake.frame != NULL ? 0U : EPOLLIN);
}

/*
 * Frames that the driver does not accept stay queued. A driver that leaves too much unread is not
 * read from meanwhile, because each of its messages may add to the queue.
 */
void runner_flush(struct runner *r)
{
	struct buf *out = channel_outgoing(r->link, &r->to_driver);

	while (out->len > 0) {
		ssize_t n = send_some(r, out);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			buf_clear(out); /* it is dead, which is reported otherwise */
		if (n < 0)
			break;
		buf_consume(out, (size_t)n);
	}
	/* a driver's source has 290 KB, cells have far less */
	if (out->len == 0 && out->cap > OUTGOING_KEPT_MAX)
		buf_release(out);
	runner_watch_io(r);
}

void runner_send_interrupt(struct runner *r)
{
	int pipe = interpreter_descriptor(r->interpreter, "interrupt");

	frame_begin(&r->to_driver, "interrupt", r->cell->number, 0);
	runner_flush(r);
	/* Non-blocking: a full pipe has enough lines already. */
	if (pipe >= 0)
		(void)!dprintf(pipe, "%ju\n", (uintmax_t)r->cell->number);
}

void runner_send_ack(struct runner *r, uint64_t id)
{
	frame_begin(&r->to_driver, "ack", id, 0);
	runner_flush(r);
}

/* ---- the pty ---- */

static struct transcript *sink(struct runner *r)
{
	if (r->transcript != NULL)
		return r->transcript;
	if (r->background == NULL)
		r->background = transcript_new(
			spool_new(r->c.workspace, 0, r->c.language->name, r->c.spool_max),
			r->c.redact);
	return r->background;
}

/* Output beyond the held bytes stays the cell's: its file would be lost. */
void runner_begin_output(struct runner *r)
{
	cleanup_buf struct buf older = BUF_INIT(BUF_UNBOUNDED);

	if (r->looked || transcript_spool_path(r->transcript) != NULL)
		return;
	transcript_settle(r->transcript);
	transcript_read(r->transcript, &older, NULL);
	if (older.len == 0)
		return;
	transcript_free(r->transcript);
	r->transcript = NULL;
	transcript_feed(sink(r), older.data, older.len);
	runner_open_transcript(r);
}

void runner_note_output(struct runner *r)
{
	cleanup_buf struct buf answers = BUF_INIT(BUF_UNBOUNDED);

	runner_watch_output(r);
	transcript_take_answers(sink(r), &answers);
	if (answers.len == 0)
		return;
	r->fed = true;
	(void)!write(interpreter_pty(r->interpreter), answers.data, answers.len);
}

/*
 * With `until_empty`, reads until the kernel reports that the pty is empty; that first waits for
 * bytes in flight. Without, a small read ends the slice at no such cost. As measured, waiting pays
 * when much is in flight and costs when little is.
 */
static size_t read_pty(struct runner *r, size_t max, bool until_empty)
{
	char chunk[READ_CHUNK];
	size_t got = 0;

	if (r->interpreter == NULL || interpreter_pty(r->interpreter) < 0 ||
	    r->intake.frame != NULL)
		return 0;
	while (got < max) {
		ssize_t n = read(interpreter_pty(r->interpreter), chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		transcript_feed(sink(r), chunk, (size_t)n);
		cursor_keys_feed(&r->cursor_keys, chunk, (size_t)n);
		runner_read_dump(r, chunk, (size_t)n);
		r->c.handlers->wrote(r, chunk, (size_t)n);
		got += (size_t)n;
		if (!until_empty && n < PTY_READ_MUCH)
			break;
	}
	if (got > 0)
		runner_note_output(r);
	return got;
}

size_t runner_drain(struct runner *r, size_t max)
{
	return read_pty(r, max, true);
}

void runner_report_late(struct runner *r)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (r->c.handlers->late == NULL || r->interpreter == NULL)
		return;
	runner_drain(r, RUNNER_DRAIN_MAX);
	if (r->background == NULL || transcript_empty(r->background))
		return;
	(void)transcript_render(r->background, LATE_TEXT_MAX, NULL, &text, NULL);
	r->c.handlers->late(r, buf_str(&text), text.len);
}

void runner_on_pty(struct loop_io *io, uint32_t events)
{
	struct runner *r = container_of(io, struct runner, pty_io);

	(void)read_pty(r, PTY_SLICE, false);
	if ((events & (EPOLLHUP | EPOLLERR)) != 0)
		loop_io_stop(&r->pty_io); /* no slave is open: nothing more will come */
}

/* ---- the control channel ---- */

void runner_break_channel(struct runner *r, const struct err *err)
{
	log_debug("runner", "control channel: %s", err->msg);
	if (r->state == RUNNER_STARTING)
		runner_fail_start(r, "broke the control channel");
	else
		runner_abort(r, "the code broke the interpreter's control channel");
}

static void take_bytes(struct runner *r, const char *data, size_t len, bool to_the_end)
{
	struct err err;

	if (channel_take(r->link, data, len, r->frames, &err) < 0)
		runner_break_channel(r, &err);
	else if (to_the_end)
		runner_handle_last_frames(r);
	else
		runner_handle_frames(r);
}

/* Reads without room for descriptors: the kernel drops any that are sent along. */
void runner_read_control(struct runner *r, bool to_the_end)
{
	size_t got = 0;

	if (to_the_end)
		runner_handle_last_frames(r);
	while (got < (to_the_end ? READ_END_MAX : CONTROL_SLICE) && r->frames != NULL &&
	       r->state != RUNNER_ENDING && (to_the_end || may_listen(r))) {
		char chunk[CONTROL_CHUNK];
		ssize_t n = read(interpreter_control(r->interpreter), chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			runner_on_control_closed(r);
			return;
		}
		got += (size_t)n;
		take_bytes(r, chunk, (size_t)n, to_the_end);
		if (!to_the_end && (size_t)n < sizeof(chunk))
			return; /* if there is more, the loop calls again */
	}
}

void runner_on_control(struct loop_io *io, uint32_t events)
{
	struct runner *r = container_of(io, struct runner, control_io);

	if ((events & EPOLLOUT) != 0)
		runner_flush(r);
	/* EPOLLHUP is always reported, so the channel must be read to its end. */
	if ((events & EPOLLHUP) != 0 && !holdings_may_grow(&r->incoming))
		runner_forget_frame(r);
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
		runner_read_control(r, false);
}
