/* SPDX-License-Identifier: MIT */
/*
 * journal_draw.c - renders the notebook from the events. It consists of pieces: a head, a piece for
 * each cell that ran or runs, a tail. The length of an ended cell's piece is stored once it was
 * rendered, so that a range renders only its own pieces.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/fd.h"
#include "base/mem.h"
#include "journal/journal_internal.h"
#include "journal/journal_read.h"
#include "journal/notebook.h"
#include "journal/replay.h"
#include "json/make.h"

enum { PART_MAX = 256 << 10 }; /* bytes of a piece that one step writes */

/* ---- one piece ---- */

/* The figures of a cell, while its piece is rendered. */
struct figures {
	size_t count;
	struct event *events;
	struct journal_image *images;
};

static void figures_release(struct figures *figures)
{
	for (size_t i = 0; i < figures->count; i++)
		events_release(&figures->events[i]);
	free(figures->events);
	free(figures->images);
}
#define cleanup_figures __attribute__((cleanup(figures_release)))

static int read_figures(const struct journal *journal, const struct kept_cell *cell,
			struct figures *figures, struct err *err)
{
	figures->events = xcalloc(cell->image_count, sizeof(*figures->events));
	figures->images = xcalloc(cell->image_count, sizeof(*figures->images));
	for (size_t i = 0; i < cell->image_count; i++) {
		struct event *event = &figures->events[figures->count++];

		buf_init(&event->bytes, BUF_UNBOUNDED);
		if (events_read(journal->events, &cell->images[i], event, err) < 0)
			return -1;
		figures->images[i] = (struct journal_image){ .mime = journal_image_mime(event),
							     .data = event->data,
							     .len = event->data_len };
	}
	return 0;
}

static const char *text_of(const struct event *end, const char *key)
{
	return json_string_value(json_object_get(end->fields, key));
}

/* Returns a note about a cell without an end. Static. */
static const char *note_of(const struct kept_cell *cell)
{
	if (!cell->over)
		return cell->script.state;
	return str_eq(cell->script.state, JOURNAL_KILLED) ? "ptycell was killed while this cell ran"
							  : NULL;
}

/* Returns the parts of an entry that are known from the request. */
static struct journal_entry entry_of(const struct kept_cell *cell, const struct event *asked,
				     json_t *record)
{
	return (struct journal_entry){ .number = cell->script.number,
				       .language = cell->script.language,
				       .state = cell->script.state,
				       .code = asked->data,
				       .code_len = asked->data_len,
				       .record = record };
}

static void draw_open(const struct journal *journal, const struct kept_cell *cell,
		      const struct event *asked, const struct buf *shown, struct buf *out)
{
	cleanup_event struct event none = EVENT_INIT;
	cleanup_json json_t *record = journal_record_of(journal, cell, &none);
	struct journal_entry entry = entry_of(cell, asked, record);

	entry.text = buf_str(shown);
	entry.text_len = shown->len;
	entry.note = note_of(cell);
	notebook_cell(out, &entry, entry.note != NULL);
}

/* Appends the text of an ended cell. The spool of the next cell of the file was read in steps. */
static void read_text(const struct journal *journal, const struct kept_cell *cell,
		      const struct event *end, struct buf *out)
{
	if (journal->spool.screen != NULL && cell == &journal->cells[journal->drawn_cells])
		journal_put_text(end, &journal->spool, out);
	else
		journal_read_text(journal, end, out);
}

static void draw_ended(const struct journal *journal, const struct kept_cell *cell,
		       const struct event *asked, const struct event *end,
		       const struct figures *figures, struct buf *out)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_json json_t *record = journal_record_of(journal, cell, end);
	struct journal_entry entry = entry_of(cell, asked, record);

	read_text(journal, cell, end, &text);
	entry.text = text_of(end, "text") != NULL ? buf_str(&text) : NULL;
	entry.text_len = text.len;
	entry.value = text_of(end, "value");
	entry.traceback = text_of(end, "traceback");
	entry.settled = true;
	entry.error_name = text_of(end, "error_name");
	entry.error_text = text_of(end, "error_text");
	entry.note = text_of(end, "note");
	entry.left_out = text_of(end, "left_out");
	entry.images = figures->images;
	entry.image_count = figures->count;
	entry.figures_left_out =
		(size_t)json_integer_value(json_object_get(end->fields, "figures_left_out"));
	notebook_cell(out, &entry, entry.text != NULL);
}

static int draw_cell(const struct journal *journal, const struct kept_cell *cell, struct buf *out,
		     struct err *err)
{
	cleanup_event struct event asked = EVENT_INIT;
	cleanup_event struct event end = EVENT_INIT;
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	cleanup_figures struct figures figures = { .count = 0 };

	if (events_read(journal->events, &cell->asked, &asked, err) < 0 ||
	    journal_read_end(journal, cell, &end, err) < 0 ||
	    journal_read_shown(journal, cell, &shown, err) < 0 ||
	    read_figures(journal, cell, &figures, err) < 0)
		return -1;
	if (cell->ended.len == 0)
		draw_open(journal, cell, &asked, &shown, out);
	else
		draw_ended(journal, cell, &asked, &end, &figures, out);
	return 0;
}

/* Reads the events that belong before a cell. Returns a new reference, or NULL and sets *err. */
static json_t *read_notes(const struct journal *journal, const struct kept_cell *cell,
			  struct err *err)
{
	json_t *notes = json_array();

	for (size_t i = 0; i < cell->note_count; i++) {
		cleanup_event struct event event = EVENT_INIT;

		if (events_read(journal->events, &cell->notes[i], &event, err) < 0) {
			json_decref(notes);
			return NULL;
		}
		json_append(notes, json_incref(event.fields));
	}
	return notes;
}

/*
 * Appends what comes before a cell: the head or a separator, what happened between the cells, and
 * what was typed to a cell that will run.
 */
static int draw_lead(const struct journal *journal, const struct kept_cell *cell, bool first,
		     struct buf *out, struct err *err)
{
	cleanup_json json_t *notes = read_notes(journal, cell, err);
	cleanup_json json_t *typed = notebook_runs(cell->script.state)
					     ? journal_read_input(journal, cell)
					     : json_array();

	if (notes == NULL)
		return -1;
	if (first) {
		notebook_head(out, journal->about);
		replay_head(out, journal->about, notes, typed);
	}
	notebook_separator(out);
	if (!first)
		replay_notes(out, cell->script.number, notes, typed);
	return 0;
}

static void draw_tail(const struct journal *journal, struct buf *out)
{
	journal_draw_late(journal, out);
	notebook_tail(out, journal->left_out);
}

/* Appends the piece of a cell, and stores the length of one that is final. */
static int draw_piece(struct journal *journal, struct kept_cell *cell, bool first, struct buf *out,
		      struct err *err)
{
	size_t before = out->len;

	if (draw_lead(journal, cell, first, out, err) < 0 || draw_cell(journal, cell, out, err) < 0)
		return -1;
	if (cell->over) {
		cell->drawn_len = out->len - before;
		cell->drawn_first = first;
	}
	return 0;
}

/* Returns the length of the piece, or 0 if it is not known. */
static size_t known_len(const struct kept_cell *cell, bool first)
{
	return cell->drawn_first == first ? cell->drawn_len : 0;
}

/* ---- ranges of the notebook ---- */

/* The range of the notebook that a reader wants: `skip` bytes to skip, then `left` bytes. */
struct range {
	uint64_t skip;
	size_t left;
};

static int take(struct range *range, const struct buf *piece, struct buf *out, struct err *err)
{
	size_t skip = range->skip < piece->len ? (size_t)range->skip : piece->len;
	size_t part = size_min(piece->len - skip, range->left);

	range->skip -= skip;
	range->left -= part;
	return buf_add(out, buf_str(piece) + skip, part, err);
}

static int read_piece(struct journal *journal, struct kept_cell *cell, bool first,
		      struct range *range, struct buf *out, struct err *err)
{
	cleanup_buf struct buf piece = BUF_INIT(BUF_UNBOUNDED);
	size_t len = known_len(cell, first);

	if (len > 0 && len <= range->skip) {
		range->skip -= len;
		return 0;
	}
	if (draw_piece(journal, cell, first, &piece, err) < 0)
		return -1;
	return take(range, &piece, out, err);
}

int journal_read_notebook(struct journal *journal, uint64_t offset, size_t len, struct buf *out,
			  struct err *err)
{
	struct range range = { .skip = offset, .left = len };
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);
	bool first = true;

	for (size_t i = 0; i < journal->count && range.left > 0; i++) {
		if (!journal->cells[i].ran)
			continue;
		if (read_piece(journal, &journal->cells[i], first, &range, out, err) < 0)
			return -1;
		first = false;
	}
	if (first)
		return 0;
	draw_tail(journal, &tail);
	return take(&range, &tail, out, err);
}

int journal_notebook_size(struct journal *journal, uint64_t *ret, struct err *err)
{
	cleanup_buf struct buf piece = BUF_INIT(BUF_UNBOUNDED);
	bool first = true;

	*ret = 0;
	for (size_t i = 0; i < journal->count; i++) {
		struct kept_cell *cell = &journal->cells[i];

		if (!cell->ran)
			continue;
		buf_clear(&piece);
		if (known_len(cell, first) == 0 &&
		    draw_piece(journal, cell, first, &piece, err) < 0)
			return -1;
		*ret += piece.len > 0 ? piece.len : cell->drawn_len;
		first = false;
	}
	if (first)
		return 0;
	buf_clear(&piece);
	draw_tail(journal, &piece);
	*ret += piece.len;
	return 0;
}

/* ---- the file ---- */

static int open_file(struct journal *journal, struct err *err)
{
	if (journal->notebook_fd < 0)
		journal->notebook_fd = openat(journal->dir_fd, JOURNAL_NOTEBOOK_FILE,
					      O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return journal->notebook_fd < 0 ? err_sys(err, "opening the drawn notebook") : 0;
}

/* Writes the next part of the piece that was rendered. */
static int write_part(struct journal *journal, struct err *err)
{
	const char *part = journal->piece.data + journal->piece_written;
	size_t len = size_min(journal->piece.len - journal->piece_written, PART_MAX);
	size_t done = 0;

	while (done < len) {
		ssize_t n = pwrite(journal->notebook_fd, part + done, len - done,
				   (off_t)(journal->drawn_size + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_sys(err, "writing the drawn notebook");
		done += (size_t)n;
	}
	journal->drawn_size += len;
	journal->drawn_crc = crc_32c(journal->drawn_crc, part, len);
	journal->piece_written += len;
	return 0;
}

/*
 * Reads a part of a cell's long output. Returns false when all is read, or the cell has no long
 * output.
 */
static bool reads_on(struct journal *journal, const struct kept_cell *cell)
{
	cleanup_event struct event end = EVENT_INIT;
	struct err ignored;

	if (!cell->ran || !cell->spooled)
		return false;
	if (journal->spool.screen == NULL && (journal_read_end(journal, cell, &end, &ignored) < 0 ||
					      !journal_spool_open(journal, &end, &journal->spool)))
		return false;
	return journal_spool_step(&journal->spool);
}

/* Renders a piece. Returns -1 and sets *err. */
static int render(struct journal *journal, struct kept_cell *cell, struct err *err)
{
	if (!cell->ran ||
	    draw_piece(journal, cell, journal->drawn_size == 0, &journal->piece, err) == 0)
		return 0;
	buf_clear(&journal->piece);
	return -1;
}

/* Does a step for the next ended cell that has no running cell before it. */
static int write_next(struct journal *journal, bool *ret_more, struct err *err)
{
	struct kept_cell *cell;

	*ret_more =
		journal->drawn_cells < journal->count && journal->cells[journal->drawn_cells].over;
	if (!*ret_more)
		return 0;
	cell = &journal->cells[journal->drawn_cells];
	if (journal->piece.len == 0) {
		if (reads_on(journal, cell))
			return 0;
		if (render(journal, cell, err) < 0)
			return -1;
		if (journal->piece.len > PART_MAX)
			return 0;
	}
	if (journal->piece.len > 0 && write_part(journal, err) < 0)
		return -1;
	if (journal->piece_written < journal->piece.len)
		return 0;
	buf_release(&journal->piece);
	journal->piece_written = 0;
	journal_spool_close(&journal->spool);
	journal->drawn_cells++;
	return 0;
}

int journal_draw_cell(struct journal *journal, bool *ret_more, struct err *err)
{
	return open_file(journal, err) < 0 ? -1 : write_next(journal, ret_more, err);
}

int journal_draw_notebook(struct journal *journal, uint64_t *ret_stable, struct buf *tail,
			  struct err *err)
{
	size_t later = 0;
	bool more = true;
	bool first;

	while (more)
		if (journal_draw_cell(journal, &more, err) < 0)
			return -1;
	*ret_stable = journal->drawn_size;
	first = journal->drawn_size == 0;
	for (size_t i = journal->drawn_cells; i < journal->count; i++) {
		if (!journal->cells[i].ran)
			continue;
		if (tail->len > JOURNAL_TAIL_MAX) {
			later++;
			continue;
		}
		if (draw_piece(journal, &journal->cells[i], first, tail, err) < 0)
			return -1;
		first = false;
	}
	if (later > 0)
		notebook_later(tail, later, journal->cells[journal->drawn_cells].script.number);
	if (!first)
		draw_tail(journal, tail);
	return 0;
}
