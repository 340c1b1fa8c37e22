/* SPDX-License-Identifier: MIT */
/*
 * journal_draw.c - renders the notebook from the events. It consists of pieces: a head, a piece for
 * each cell that ran or runs, a tail. The length of an ended cell's piece is stored once it was
 * rendered, so that a range renders only its own pieces. The files get the pieces of ended cells,
 * those of the report beside those of the notebook, so that events are read once.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/fd.h"
#include "base/mem.h"
#include "journal/journal_internal.h"
#include "journal/journal_read.h"
#include "journal/notebook.h"
#include "journal/notebook_setup.h"
#include "journal/report.h"
#include "journal/table.h"
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
				       .title = json_string_value(
					       json_object_get(asked->fields, "title")),
				       .record = record };
}

static void draw_open(const struct journal *journal, const struct kept_cell *cell,
		      const struct event *asked, const struct buf *shown,
		      const struct journal_sink *sink)
{
	cleanup_event struct event none = EVENT_INIT;
	cleanup_json json_t *record = journal_record_of(journal, cell, &none);
	struct journal_entry entry = entry_of(cell, asked, record);

	entry.text = buf_str(shown);
	entry.text_len = shown->len;
	entry.note = note_of(cell);
	entry.whole = json_string_value(json_object_get(cell->left, "whole_output"));
	sink->put(sink->data, &entry, entry.note != NULL);
}

/*
 * Appends the text of an ended cell. `spool` has its long output if that was read in steps, as only
 * the drawing of the files does.
 */
static void read_text(const struct journal *journal, const struct journal_spool *spool,
		      const struct event *end, struct buf *out)
{
	if (spool != NULL && spool->screen != NULL)
		journal_put_text(end, spool, out);
	else
		journal_read_text(journal, end, out);
}

static void draw_ended(const struct journal *journal, const struct kept_cell *cell,
		       const struct event *asked, const struct event *end,
		       const struct figures *figures, const struct journal_sink *sink)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_json json_t *record = journal_record_of(journal, cell, end);
	/* The file may be damaged, or of another version. */
	cleanup_json json_t *table = table_make(json_object_get(end->fields, "table"), NULL);
	struct journal_entry entry = entry_of(cell, asked, record);

	read_text(journal, sink->spool, end, &text);
	entry.text = text_of(end, "text") != NULL ? buf_str(&text) : NULL;
	entry.text_len = text.len;
	entry.value = text_of(end, "value");
	entry.traceback = text_of(end, "traceback");
	entry.settled = true;
	entry.error_name = text_of(end, "error_name");
	entry.error_text = text_of(end, "error_text");
	entry.note = text_of(end, "note");
	entry.left_out = text_of(end, "left_out");
	entry.whole = text_of(end, "whole_output");
	entry.table = table;
	entry.images = figures->images;
	entry.image_count = figures->count;
	entry.figures_left_out =
		(size_t)json_integer_value(json_object_get(end->fields, "figures_left_out"));
	sink->put(sink->data, &entry, entry.text != NULL);
}

int journal_draw_entry(const struct journal *journal, const struct kept_cell *cell,
		       const struct journal_sink *sink, struct err *err)
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
		draw_open(journal, cell, &asked, &shown, sink);
	else
		draw_ended(journal, cell, &asked, &end, &figures, sink);
	return 0;
}

json_t *journal_read_notes(const struct journal *journal, const struct kept_cell *cell,
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

json_t *journal_read_installed(const struct journal *journal, struct err *err)
{
	json_t *installed = json_array();

	for (size_t i = 0; i < journal->count; i++) {
		const struct kept_cell *cell = &journal->cells[i];
		cleanup_json json_t *notes = NULL;
		size_t n;
		json_t *note;

		if (!str_eq(cell->script.state, JOURNAL_KILLED))
			continue;
		notes = journal_read_notes(journal, cell, err);
		if (notes == NULL) {
			json_decref(installed);
			return NULL;
		}
		json_array_foreach (notes, n, note)
			if (json_object_get(note, NOTE_BY) != NULL)
				json_append(installed, json_incref(note));
	}
	return installed;
}

/*
 * Appends what comes before a cell: the head or a separator, what happened between the cells, and
 * what was typed to a cell that will run.
 */
static int draw_lead(const struct journal *journal, const struct kept_cell *cell, bool first,
		     struct buf *out, struct err *err)
{
	cleanup_json json_t *notes = journal_read_notes(journal, cell, err);
	cleanup_json json_t *typed = notebook_runs(cell->script.state)
					     ? journal_read_input(journal, cell)
					     : json_array();

	if (notes == NULL)
		return -1;
	if (first) {
		notebook_head(out, journal->about);
		notebook_setup_head(out, journal->about, notes, typed);
	}
	notebook_separator(out);
	if (!first)
		notebook_setup_notes(out, cell->script.number, notes, typed);
	return 0;
}

static void draw_tail(const struct journal *journal, struct buf *out)
{
	journal_draw_late(journal, out);
	notebook_tail(out, journal->left_out);
}

static void put_cell(void *data, const struct journal_entry *entry, bool outputs)
{
	notebook_cell(data, entry, outputs);
}

/* Appends the piece of a cell to the notebook, and stores the length of one that is final. */
static int draw_piece(struct journal *journal, struct kept_cell *cell, bool first, struct buf *out,
		      struct err *err)
{
	const struct journal_sink sink = { .put = put_cell, .data = out };
	size_t before = out->len;

	if (draw_lead(journal, cell, first, out, err) < 0 ||
	    journal_draw_entry(journal, cell, &sink, err) < 0)
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

/* ---- the files ---- */

static int open_file(const struct journal *journal, struct journal_drawing *drawing,
		     const char *name, struct err *err)
{
	if (drawing->fd < 0)
		drawing->fd = openat(journal->dir_fd, name,
				     O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return drawing->fd < 0 ? err_sys(err, "opening '%s'", name) : 0;
}

static bool is_written(const struct journal_drawing *drawing)
{
	return drawing->written == drawing->piece.len;
}

/* Writes the next part of the piece that was rendered. */
static int write_part(struct journal_drawing *drawing, struct err *err)
{
	const char *part = drawing->piece.data + drawing->written;
	size_t len = size_min(drawing->piece.len - drawing->written, PART_MAX);

	if (fd_write_at(drawing->fd, part, len, drawing->size) < 0)
		return err_sys(err, "writing what was drawn");
	drawing->size += len;
	drawing->crc = crc_32c(drawing->crc, part, len);
	drawing->written += len;
	return 0;
}

static void forget_piece(struct journal_drawing *drawing)
{
	buf_release(&drawing->piece);
	drawing->written = 0;
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

/* Both pieces of a cell: that of the notebook, and that of the report. */
static void put_both(void *data, const struct journal_entry *entry, bool outputs)
{
	struct journal *journal = data;

	notebook_cell(&journal->notebook.piece, entry, outputs);
	report_cell(&journal->report.piece, entry, outputs);
}

/* Renders the pieces of an ended cell. Returns -1 and sets *err. */
static int render(struct journal *journal, struct kept_cell *cell, struct err *err)
{
	const struct journal_sink sink = { .put = put_both,
					   .data = journal,
					   .spool = &journal->spool };
	cleanup_json json_t *notes = NULL;
	bool first = journal->notebook.size == 0;

	if (!cell->ran)
		return 0;
	notes = journal_read_notes(journal, cell, err);
	if (notes != NULL)
		report_notes(&journal->report.piece, notes);
	if (notes == NULL || draw_lead(journal, cell, first, &journal->notebook.piece, err) < 0 ||
	    journal_draw_entry(journal, cell, &sink, err) < 0) {
		forget_piece(&journal->notebook);
		forget_piece(&journal->report);
		return -1;
	}
	cell->drawn_len = journal->notebook.piece.len;
	cell->drawn_first = first;
	return 0;
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
	if (journal->notebook.piece.len == 0) {
		if (reads_on(journal, cell))
			return 0;
		if (render(journal, cell, err) < 0)
			return -1;
		if (journal->notebook.piece.len > PART_MAX)
			return 0;
	}
	if (!is_written(&journal->notebook) && write_part(&journal->notebook, err) < 0)
		return -1;
	if (!is_written(&journal->notebook))
		return 0;
	if (!is_written(&journal->report) && write_part(&journal->report, err) < 0)
		return -1;
	if (!is_written(&journal->report))
		return 0;
	forget_piece(&journal->notebook);
	forget_piece(&journal->report);
	journal_spool_close(&journal->spool);
	journal->drawn_cells++;
	return 0;
}

int journal_draw_cell(struct journal *journal, bool *ret_more, struct err *err)
{
	if (open_file(journal, &journal->notebook, JOURNAL_NOTEBOOK_FILE, err) < 0 ||
	    open_file(journal, &journal->report, JOURNAL_REPORT_FILE, err) < 0)
		return -1;
	return write_next(journal, ret_more, err);
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
	*ret_stable = journal->notebook.size;
	first = journal->notebook.size == 0;
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
