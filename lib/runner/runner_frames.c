/* SPDX-License-Identifier: MIT */
/*
 * runner_frames.c - acts on the frames of a driver.
 *
 * In a turn of the loop a runner takes in TURN_ROOM bytes of texts and of the terminal. The rest of
 * a frame, and later ones, wait for the next turn; the channel is not read meanwhile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "redact/redact.h"
#include "runner/intake.h"
#include "runner/runner_internal.h"
#include "text/sanitize.h"
#include "text/utf8.h"
#include "workspace/workspace.h"

enum {
	TURN_ROOM = 16 << 10, /* one step of redact_step() */
	FRAME_ROOM = 256,     /* cost of a frame, however small it is */
	END_ROOM = 128 << 10, /* of the pending frames when the interpreter ends */
};

/* Returns the number in "cell-3-figure-12.png", a name that drivers give, or 0. */
static unsigned long figure_number(const struct runner *r, const char *file)
{
	cleanup_free char *start = xasprintf("cell-%ju-figure-", (uintmax_t)r->cell->number);
	size_t len = strlen(start);

	return strncmp(file, start, len) == 0 ? strtoul(file + len, NULL, 10) : 0;
}

/*
 * Notes the place of a figure. The status line names its file, so that its number is enough where
 * that is in the name.
 */
static void insert_figure_note(struct runner *r, const char *file)
{
	cleanup_buf struct buf note = BUF_INIT(BUF_UNBOUNDED);
	unsigned long number = file != NULL ? figure_number(r, file) : 0;

	buf_puts(&note, "[figure");
	if (number > 0) {
		buf_putf(&note, " %lu", number);
	} else if (file != NULL) {
		cleanup_free char *path = xasprintf("output/%s", file);

		buf_puts(&note, ": ");
		sanitize_path_word(&note, path, strlen(path));
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

/*
 * Cuts a text before it is sanitized: code can speak as its driver, and a huge one would take
 * seconds.
 */
static char *short_text(const struct frame *frame, const char *name)
{
	const struct frame_part *part = frame_part(frame, name);

	return part != NULL ? xmemdup(part->data, size_min(part->len, CELL_WORDS_BYTES_MAX)) : NULL;
}

char *runner_safe_text(const struct runner *r, const struct frame *frame, const char *name)
{
	char *text = short_text(frame, name);

	redact_string(r->c.redact, &text);
	return text;
}

static bool is_saved(const struct runner *r, const char *name)
{
	cleanup_free char *path = xasprintf("output/%s", name);
	cleanup_fd int fd = -1;
	struct err err;
	off_t size;

	fd = workspace_open_read(r->c.workspace, path, &size, &err);
	return fd >= 0;
}

/*
 * Accepts only a name in output/, where a driver stores a figure first. Everything else is the
 * code's own text.
 */
static char *figure_name(const struct runner *r, const struct frame *frame)
{
	char *name = short_text(frame, "file");

	if (name != NULL &&
	    (name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL || !is_saved(r, name)))
		mem_cleanup(&name);
	return name;
}

static void take_image(struct runner *r, const struct frame *frame)
{
	const struct frame_part *image = image_part(frame);
	char *file = figure_name(r, frame);

	insert_figure_note(r, file);
	cell_add_image(r->cell, image->data, image->len, file);
}

/* Takes a sound. The driver's text names its file. */
static void take_sound(struct runner *r, const struct frame *frame)
{
	static const char *const kinds[] = { "audio/wav", "audio/mpeg", "audio/ogg", "audio/flac" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct frame_part *part = frame_part(frame, kinds[i]);

		if (part != NULL)
			cell_add_sound(r->cell, part->data, part->len);
	}
}

/* Notes forms of a value that a notebook would run or load when it is opened. */
static void note_forms(struct cell *cell, const struct frame *frame)
{
	static const struct {
		const char *mime;
		enum cell_form form;
	} forms[] = { { "text/html", CELL_HTML },
		      { "image/svg+xml", CELL_SVG },
		      { "application/javascript", CELL_JAVASCRIPT } };

	if (image_part(frame) != NULL)
		return; /* the image shows it */
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (frame_part(frame, forms[i].mime) != NULL)
			cell->left_out |= forms[i].form;
}

static void take_text(struct runner *r, char **slot, const struct frame *frame, const char *part)
{
	char *text = runner_safe_text(r, frame, part);

	if (text == NULL)
		return;
	free(*slot);
	*slot = text;
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

static void take_names(struct runner *r, const struct frame *frame)
{
	cleanup_free char *names = runner_safe_text(r, frame, "names");

	if (names == NULL)
		return;
	free(r->cell->names);
	r->cell->names = redact_escape_names(names);
}

static void end_cell(struct runner *r, const struct frame *frame)
{
	cleanup_free char *status = frame_text(frame, "status");
	cleanup_free char *code = frame_text(frame, "code");
	cleanup_free char *children = frame_text(frame, "children");
	struct cell *cell = r->cell;
	enum cell_state state = state_of_done(cell, status != NULL ? status : "ok");

	take_text(r, &cell->error_name, frame, "ename");
	take_text(r, &cell->error_text, frame, "evalue");
	take_text(r, &cell->missing_module, frame, "missing");
	take_text(r, &cell->cwd, frame, "cwd");
	cell->raised_by_code = frame_part(frame, "raised") != NULL;
	take_text(r, &cell->restored, frame, "restored");
	take_names(r, frame);
	cell->exit_code = code != NULL ? (int)strtol(code, NULL, 10) : 0;
	cell->children = children != NULL ? (int)strtol(children, NULL, 10) : 0;
	r->active = frame_part(frame, "active") != NULL;
	runner_set_state(r, RUNNER_READY);
	runner_end_cell(r, state);
}

/* ---- texts, by slices ---- */

static size_t take_room(struct runner_intake *in, size_t len)
{
	size_t taken = size_min(in->room, len);

	in->room -= taken;
	return taken;
}

/* Shows whole characters, as far as this turn has room. */
static void show_some(struct runner *r)
{
	struct runner_intake *in = &r->intake;
	size_t len = utf8_border(in->rest, in->len, size_min(in->len, in->room));

	if (len == 0)
		return;
	(void)take_room(in, len);
	transcript_feed(r->transcript, in->rest, len);
	if (in->as == INTAKE_OUTPUT) {
		r->c.handlers->wrote(r, in->rest, len);
		runner_note_output(r);
	}
	in->rest += len;
	in->len -= len;
}

/* Handles the rest of a frame once its text is taken in. */
static void end_frame(struct runner *r)
{
	struct runner_intake *in = &r->intake;
	const struct frame *frame = in->frame;

	in->frame = NULL;
	if (in->own_lines)
		transcript_end_open_line(r->transcript);
	if (in->text != NULL) {
		cell_set_text(r->cell, in->slot, intake_take(in->text));
		intake_free(in->text);
		in->text = NULL;
	}
	if (in->as == INTAKE_DONE)
		end_cell(r, frame);
	else if (in->as == INTAKE_DISPLAY || frame_part(frame, "ack") != NULL)
		runner_send_ack(r, frame->id);
}

static void take_some(struct runner *r)
{
	struct runner_intake *in = &r->intake;

	if (in->text == NULL)
		show_some(r);
	if (in->text != NULL ? intake_go_on(in->text, &in->room) : in->len == 0)
		end_frame(r);
}

/* `slot` gets the text of this part; with NULL the transcript gets it. */
static void take_frame(struct runner *r, const struct frame *frame, enum intake_as as,
		       const struct frame_part *part, char **slot)
{
	struct runner_intake *in = &r->intake;

	in->frame = frame;
	in->as = as;
	in->slot = slot;
	in->rest = part != NULL ? part->data : "";
	in->len = part != NULL ? part->len : 0;
	if (slot != NULL && part != NULL)
		in->text = intake_new(r->c.redact, in->rest, in->len);
	in->own_lines = as == INTAKE_DISPLAY && in->len > 0;
	if (in->own_lines)
		transcript_end_open_line(r->transcript);
	take_some(r);
}

/* ---- frames of the running cell ---- */

static void on_display_frame(struct runner *r, const struct frame *frame)
{
	const struct frame_part *text = frame_part(frame, "text/plain");

	note_forms(r->cell, frame);
	take_sound(r, frame);
	if (image_part(frame) != NULL) {
		take_image(r, frame);
		text = NULL;
	}
	take_frame(r, frame, INTAKE_DISPLAY, text, NULL);
}

/* The code clears output that it has shown. */
static void on_clear_frame(struct runner *r, const struct frame *frame)
{
	transcript_clear(r->transcript);
	cell_drop_images(r->cell);
	runner_send_ack(r, frame->id);
}

static void on_begun_frame(struct runner *r, const struct frame *frame)
{
	runner_begin_output(r);
	runner_send_ack(r, frame->id);
}

/*
 * Handles text that a driver sends instead of writing it to the terminal; it is older than what the
 * terminal brings.
 */
static void on_output_frame(struct runner *r, const struct frame *frame)
{
	r->cell->gathered = true;
	take_frame(r, frame, INTAKE_OUTPUT, frame_part(frame, "text"), NULL);
}

/* Takes the value as a table. A later value replaces an earlier one with its table. */
static void take_table(struct runner *r, const struct frame *frame)
{
	const struct frame_part *table = frame_part(frame, "table");
	bool taken = table != NULL && table->len <= CELL_TABLE_BYTES_MAX;

	if (taken || r->cell->table != NULL)
		cell_set_text(r->cell, &r->cell->table,
			      taken ? xmemdup(table->data, table->len) : xstrdup(""));
}

/* An image needs no text such as "<Figure size 640x480>" beside it. */
static void on_result_frame(struct runner *r, const struct frame *frame)
{
	note_forms(r->cell, frame);
	take_sound(r, frame);
	take_table(r, frame);
	if (image_part(frame) != NULL)
		take_image(r, frame);
	else
		take_frame(r, frame, INTAKE_RESULT, frame_part(frame, "text/plain"),
			   &r->cell->value);
}

static void report_left_out(struct runner *r, size_t bytes)
{
	cleanup_free char *text = xasprintf(
		"[%zu bytes are left out: they were not taken from the interpreter within %d s]",
		bytes, RUNNER_FRAME_MS / 1000);

	transcript_insert(r->transcript, text, strlen(text));
}

static void note_handler(struct runner *r, const struct frame *frame)
{
	cleanup_free char *handles = frame_text(frame, "handles");

	if (handles != NULL)
		r->handles_interrupts = str_eq(handles, "1");
}

/* Handles a frame of the running cell. */
static void on_cell_frame(struct runner *r, const struct frame *frame)
{
	note_handler(r, frame);
	if (frame->left_out > 0)
		report_left_out(r, frame->left_out);
	if (str_eq(frame->type, "display"))
		on_display_frame(r, frame);
	else if (str_eq(frame->type, "clear"))
		on_clear_frame(r, frame);
	else if (str_eq(frame->type, "begun"))
		on_begun_frame(r, frame);
	else if (str_eq(frame->type, "output"))
		on_output_frame(r, frame);
	else if (str_eq(frame->type, "result"))
		on_result_frame(r, frame);
	else if (str_eq(frame->type, "done"))
		take_frame(r, frame, INTAKE_DONE, frame_part(frame, "traceback"),
			   &r->cell->traceback);
	else if (str_eq(frame->type, "install"))
		runner_on_install(r, frame);
	else if (str_eq(frame->type, "interrupted"))
		r->interrupt_taken = true;
	else if (!str_eq(frame->type, "handles"))
		runner_abort(
			r, "the code sent an unknown message on the interpreter's control channel");
}

/* Output that was written before the frame must come before it. */
static void on_frame(struct runner *r, const struct frame *frame)
{
	/* A value's text follows all output; the `done` that comes after it drains the terminal. */
	if (!str_eq(frame->type, "result") || image_part(frame) != NULL)
		(void)take_room(&r->intake, runner_drain(r, RUNNER_DRAIN_MAX));
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
		    str_eq(frame->type, "begun") || frame_part(frame, "ack") != NULL)
			runner_send_ack(r, frame->id); /* late, from a cell that is over */
		return;
	}
	on_cell_frame(r, frame);
}

static bool alive(const struct runner *r)
{
	return r->state != RUNNER_ENDING && r->state != RUNNER_IDLE;
}

/* Handles pending frames, as far as this turn has room. Returns true when none is left. */
static bool handle_frames(struct runner *r)
{
	const struct frame *frame;
	struct err err;
	int got = 1;

	while (alive(r) && r->intake.room > 0) {
		if (r->intake.frame != NULL) {
			take_some(r);
			continue;
		}
		got = frame_reader_next(r->frames, &frame, &err);
		if (got == 0)
			return true;
		if (got < 0) {
			runner_break_channel(r, &err);
			return true;
		}
		(void)take_room(&r->intake, FRAME_ROOM);
		loop_timer_stop(&r->intake.late);
		on_frame(r, frame);
	}
	return !alive(r);
}

void runner_forget_frame(struct runner *r)
{
	frame_reader_drop(r->frames);
	runner_handle_frames(r);
}

/* Gives up a frame that takes too long, so that it holds no memory. Everything else continues. */
static void on_late(struct loop_timer *timer)
{
	runner_forget_frame(container_of(timer, struct runner, intake.late));
}

void runner_on_room(struct incoming *incoming)
{
	runner_watch_io(container_of(incoming, struct runner, incoming));
}

static void watch_frame(struct runner *r)
{
	size_t held = r->frames != NULL ? frame_reader_held(r->frames) : 0;

	if (r->intake.text != NULL)
		held += intake_held(r->intake.text);
	holdings_set_incoming(&r->incoming, r->c.holder, held);
	if (r->frames == NULL || runner_takes_in(r) || !frame_reader_pending(r->frames))
		loop_timer_stop(&r->intake.late);
	else if (!loop_timer_active(&r->intake.late))
		loop_timer_start(r->c.loop, &r->intake.late, loop_now(r->c.loop) + RUNNER_FRAME_MS,
				 on_late);
}

static void on_turn(struct loop_defer *turn)
{
	runner_handle_frames(container_of(turn, struct runner, intake.turn));
}

void runner_handle_frames(struct runner *r)
{
	r->intake.room = TURN_ROOM;
	if (!handle_frames(r))
		loop_defer_start(r->c.loop, &r->intake.turn, on_turn);
	watch_frame(r);
	runner_watch_io(r);
}

void runner_handle_last_frames(struct runner *r)
{
	runner_end_intake(r);
	r->intake.room = END_ROOM;
	(void)handle_frames(r);
	runner_end_intake(r);
}

bool runner_takes_in(const struct runner *r)
{
	return r->intake.frame != NULL || r->intake.turn.loop != NULL;
}

void runner_end_intake(struct runner *r)
{
	static const char cut_short[] = "[the rest is left out: it was on its way at the end]";
	struct runner_intake *in = &r->intake;

	in->room = END_ROOM;
	while (in->frame != NULL && in->room > 0)
		take_some(r);
	if (in->frame == NULL)
		return;
	transcript_insert(r->transcript, cut_short, strlen(cut_short));
	in->own_lines = false;
	intake_free(in->text);
	in->text = NULL;
	end_frame(r);
}

void runner_drop_intake(struct runner *r)
{
	struct runner_intake *in = &r->intake;

	holdings_set_incoming(&r->incoming, r->c.holder, 0);
	loop_timer_stop(&in->late);
	loop_defer_stop(&in->turn);
	intake_free(in->text);
	in->text = NULL;
	in->frame = NULL;
}
