/* SPDX-License-Identifier: MIT */
/* runner_io.c - the terminal and the control channel of a runner. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "session/runner_internal.h"
#include "text/clean.h"
#include "text/redact.h"
#include "workspace/spool.h"

enum {
	READ_SLICE = 64 << 10, /* bytes taken in one callback, so that nobody starves */
	READ_CHUNK = 16 << 10,
	CONTROL_CHUNK = 64 << 10,
	OUTGOING_KEPT_MAX = 64 << 10, /* of room for what goes to a driver, once all is sent */
	READ_END_MAX = 1 << 20, /* after an end: more is a surviving child that keeps writing */
	PTY_READ_MUCH = 1024,   /* one read of a pty returns 4,095 bytes at most */
};

/* ---- writing to the driver ---- */

static size_t unsent(struct runner *r)
{
	return link_outgoing(r->link, &r->to_driver)->len;
}

static bool reads_too_little(struct runner *r)
{
	return unsent(r) > RUNNER_UNREAD_MAX;
}

/* The pipe to the driver; -1 when frames go both ways on the control socket. */
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

/* A pipe is watched only while it is full: an end that nobody reads would report errors for ever.
 */
static void watch_commands(struct runner *r, bool full)
{
	struct err err;

	if (!full)
		loop_io_stop(&r->commands_io);
	else if (!loop_io_active(&r->commands_io) &&
		 loop_io_start(r->c.loop, &r->commands_io, commands_of(r), EPOLLOUT, on_commands,
			       &err) < 0)
		log_warn("runner", "%s", err.msg); /* the cell ends at its deadline */
}

static void watch_driver(struct runner *r)
{
	bool full = unsent(r) > 0;
	bool by_pipe = commands_of(r) >= 0;

	if (by_pipe)
		watch_commands(r, full);
	if (loop_io_active(&r->control_io))
		loop_io_set_events(&r->control_io, (full && !by_pipe ? EPOLLOUT : 0U) |
							   (reads_too_little(r) ? 0U : EPOLLIN));
}

/*
 * Never blocks and never waits: what the driver does not take stays queued. One that leaves too
 * much unread is not listened to meanwhile: each of its messages may add to the queue.
 */
void runner_flush(struct runner *r)
{
	struct buf *out = link_outgoing(r->link, &r->to_driver);

	while (out->len > 0) {
		ssize_t n = send_some(r, out);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			buf_clear(out); /* dead: its end is told elsewhere */
		if (n < 0)
			break;
		buf_consume(out, (size_t)n);
	}
	/* A driver is 290 KB, and cells are not like that. */
	if (out->len == 0 && out->cap > OUTGOING_KEPT_MAX)
		buf_release(out);
	watch_driver(r);
}

void runner_send_interrupt(struct runner *r)
{
	int pipe = interpreter_descriptor(r->interpreter, "interrupt");

	frame_begin(&r->to_driver, "interrupt", r->cell->number, 0);
	runner_flush(r);
	/* Non-blocking: a full pipe holds enough lines that nobody has read. */
	if (pipe >= 0)
		(void)!dprintf(pipe, "%ju\n", (uintmax_t)r->cell->number);
}

static void send_ack(struct runner *r, uint64_t id)
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

static void note_output(struct runner *r)
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
 * `until_empty`: until the kernel says so, which first waits for what is still on its way through
 * the terminal. Without it a small read ends the slice at no such cost: measured, waiting pays when
 * much is on its way and costs when little is.
 */
static void read_pty(struct runner *r, size_t max, bool until_empty)
{
	char chunk[READ_CHUNK];
	size_t got = 0;

	if (r->interpreter == NULL || interpreter_pty(r->interpreter) < 0)
		return;
	while (got < max) {
		ssize_t n = read(interpreter_pty(r->interpreter), chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		transcript_feed(sink(r), chunk, (size_t)n);
		r->c.handlers->wrote(r, chunk, (size_t)n);
		got += (size_t)n;
		if (!until_empty && n < PTY_READ_MUCH)
			break;
	}
	if (got > 0)
		note_output(r);
}

void runner_drain(struct runner *r, size_t max)
{
	read_pty(r, max, true);
}

void runner_on_pty(struct loop_io *io, uint32_t events)
{
	struct runner *r = container_of(io, struct runner, pty_io);

	read_pty(r, READ_SLICE, false);
	if ((events & (EPOLLHUP | EPOLLERR)) != 0)
		loop_io_stop(&r->pty_io); /* no slave is open: nothing will come any more */
}

/* ---- frames ---- */

static void insert_figure_note(struct runner *r, const char *file)
{
	cleanup_buf struct buf note = BUF_INIT(BUF_UNBOUNDED);

	buf_puts(&note, "[figure");
	if (file != NULL) {
		cleanup_free char *path = xasprintf("output/%s", file);

		buf_puts(&note, ": ");
		clean_path_word(&note, path, strlen(path));
	} else {
		buf_puts(&note, ": it could not be kept in output/");
	}
	buf_puts(&note, "]");
	transcript_insert(r->transcript, note.data, note.len);
}

static const struct frame_part *image_part(const struct frame *frame)
{
	const struct frame_part *png = frame_part(frame, "image/png");

	return png != NULL ? png : frame_part(frame, "image/jpeg");
}

/* Code can speak as its driver does: what would take seconds to clean is cut first. */
static char *short_text(const struct frame *frame, const char *name, size_t max)
{
	const struct frame_part *part = frame_part(frame, name);

	return part != NULL ? xmemdup(part->data, size_min(part->len, max)) : NULL;
}

/* A secret in it goes before it is cut further. */
static char *safe_text(const struct runner *r, const struct frame *frame, const char *name,
		       size_t max)
{
	char *text = short_text(frame, name, max);

	redact_string(r->c.redact, &text);
	return text;
}

/* A driver saves a figure into output/ itself: any other path is the words of code. */
static char *figure_name(const struct frame *frame)
{
	char *name = short_text(frame, "file", CELL_WORDS_BYTES_MAX);

	if (name != NULL && (name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL))
		mem_cleanup(&name);
	return name;
}

static void take_image(struct runner *r, const struct frame *frame)
{
	const struct frame_part *image = image_part(frame);
	char *file = figure_name(frame);

	insert_figure_note(r, file);
	cell_add_image(r->cell, image->data, image->len, file);
}

/* Forms that a notebook would run or load when it is opened. */
static void note_forms(struct cell *cell, const struct frame *frame)
{
	static const struct {
		const char *mime;
		enum cell_form form;
	} forms[] = { { "text/html", CELL_HTML },
		      { "image/svg+xml", CELL_SVG },
		      { "application/javascript", CELL_JAVASCRIPT } };

	if (image_part(frame) != NULL)
		return; /* the picture says it */
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (frame_part(frame, forms[i].mime) != NULL)
			cell->left_out |= forms[i].form;
}

static void on_display_frame(struct runner *r, const struct frame *frame)
{
	const struct frame_part *text = frame_part(frame, "text/plain");

	note_forms(r->cell, frame);
	if (image_part(frame) != NULL)
		take_image(r, frame);
	else if (text != NULL)
		transcript_insert(r->transcript, text->data, text->len);
	send_ack(r, frame->id);
}

/* The code takes back what it has shown. */
static void on_clear_frame(struct runner *r, const struct frame *frame)
{
	transcript_clear(r->transcript);
	cell_drop_images(r->cell);
	send_ack(r, frame->id);
}

/* Text that a driver would have written to the terminal, and that is older than what comes there.
 */
static void on_output_frame(struct runner *r, const struct frame *frame)
{
	const struct frame_part *text = frame_part(frame, "text");

	if (text != NULL && text->len > 0) {
		transcript_feed(r->transcript, text->data, text->len);
		r->c.handlers->wrote(r, text->data, text->len);
		note_output(r);
	}
	if (frame_part(frame, "ack") != NULL)
		send_ack(r, frame->id);
}

static void take_text(struct runner *r, char **slot, const struct frame *frame, const char *part,
		      size_t max)
{
	char *text = safe_text(r, frame, part, max);

	if (text == NULL)
		return;
	free(*slot);
	*slot = text;
}

/* An image says it all: "<Figure size 640x480>" beside it would not. */
static void on_result_frame(struct runner *r, const struct frame *frame)
{
	note_forms(r->cell, frame);
	if (image_part(frame) != NULL)
		take_image(r, frame);
	else
		take_text(r, &r->cell->value, frame, "text/plain", CELL_TEXT_BYTES_MAX);
}

static enum cell_state state_of_done(struct cell *cell, const char *status)
{
	if (str_eq(status, "error"))
		return CELL_RAISED;
	if (str_eq(status, "interrupted"))
		return CELL_INTERRUPTED;
	cell->has_exit_code = str_eq(status, "exit");
	return CELL_DONE;
}

static void on_done_frame(struct runner *r, const struct frame *frame)
{
	cleanup_free char *status = frame_text(frame, "status");
	cleanup_free char *code = frame_text(frame, "code");
	cleanup_free char *children = frame_text(frame, "children");
	struct cell *cell = r->cell;
	enum cell_state state = state_of_done(cell, status != NULL ? status : "ok");

	take_text(r, &cell->error_name, frame, "ename", CELL_WORDS_BYTES_MAX);
	take_text(r, &cell->error_text, frame, "evalue", CELL_WORDS_BYTES_MAX);
	take_text(r, &cell->traceback, frame, "traceback", CELL_TEXT_BYTES_MAX);
	take_text(r, &cell->missing_module, frame, "missing", CELL_WORDS_BYTES_MAX);
	take_text(r, &cell->names, frame, "names", CELL_WORDS_BYTES_MAX);
	cell->exit_code = code != NULL ? (int)strtol(code, NULL, 10) : 0;
	cell->children = children != NULL ? (int)strtol(children, NULL, 10) : 0;
	runner_set_state(r, RUNNER_READY);
	runner_end_cell(r, state);
}

/* Of the cell that runs. */
static void on_cell_frame(struct runner *r, const struct frame *frame)
{
	if (str_eq(frame->type, "display"))
		on_display_frame(r, frame);
	else if (str_eq(frame->type, "clear"))
		on_clear_frame(r, frame);
	else if (str_eq(frame->type, "output"))
		on_output_frame(r, frame);
	else if (str_eq(frame->type, "result"))
		on_result_frame(r, frame);
	else if (str_eq(frame->type, "done"))
		on_done_frame(r, frame);
	else if (str_eq(frame->type, "install"))
		runner_on_install(r, frame);
	else
		runner_lose(
			r, "the code sent an unknown message on the interpreter's control channel");
}

/* Output written before the frame comes before it. */
static void on_frame(struct runner *r, const struct frame *frame)
{
	/* A value's text goes behind all output: `done`, which follows it, drains. */
	if (!str_eq(frame->type, "result") || image_part(frame) != NULL)
		runner_drain(r, RUNNER_DRAIN_MAX);
	if (r->state == RUNNER_STARTING) {
		if (str_eq(frame->type, "ready"))
			runner_on_ready(r, frame);
		else if (!str_eq(frame->type, "log"))
			runner_fail_start(r, "spoke before it was ready");
		return;
	}
	if (r->query != NULL && frame->id == r->query->id && str_eq(frame->type, "done")) {
		runner_end_query(r, frame, NULL);
		return;
	}
	if (str_eq(frame->type, "reads")) {
		runner_watch_reads(r, frame);
		return;
	}
	if (r->cell == NULL || frame->id != r->cell->number) {
		if (str_eq(frame->type, "display") || str_eq(frame->type, "clear") ||
		    frame_part(frame, "ack") != NULL)
			send_ack(r, frame->id); /* late, from a cell that is over */
		return;
	}
	on_cell_frame(r, frame);
}

static void on_broken(struct runner *r, const struct err *err)
{
	log_debug("runner", "control channel: %s", err->msg);
	if (r->state == RUNNER_STARTING)
		runner_fail_start(r, "broke the control channel");
	else
		runner_lose(r, "the code broke the interpreter's control channel");
}

static void handle_frames(struct runner *r)
{
	while (r->state != RUNNER_ENDING && r->state != RUNNER_IDLE) {
		const struct frame *frame;
		struct err err;
		int got = frame_reader_next(r->frames, &frame, &err);

		if (got == 0)
			return;
		if (got < 0) {
			on_broken(r, &err);
			return;
		}
		on_frame(r, frame);
	}
}

static void take_bytes(struct runner *r, const char *data, size_t len)
{
	struct err err;

	if (link_take(r->link, data, len, r->frames, &err) < 0)
		on_broken(r, &err);
	else
		handle_frames(r);
}

/* Reads without room for descriptors: those sent along are dropped by the kernel. */
void runner_read_control(struct runner *r, bool to_the_end)
{
	size_t got = 0;

	while (got < (to_the_end ? READ_END_MAX : READ_SLICE) && r->frames != NULL &&
	       r->state != RUNNER_ENDING) {
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
		take_bytes(r, chunk, (size_t)n);
		if (!to_the_end && (size_t)n < sizeof(chunk))
			return; /* should there be more, the loop calls again */
		if (!to_the_end && reads_too_little(r))
			return;
	}
}

void runner_on_control(struct loop_io *io, uint32_t events)
{
	struct runner *r = container_of(io, struct runner, control_io);

	if ((events & EPOLLOUT) != 0)
		runner_flush(r);
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
		runner_read_control(r, false);
}
