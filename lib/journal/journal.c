/* SPDX-License-Identifier: MIT */
#include "journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "journal/journal_internal.h"
#include "journal/notebook.h"
#include "journal/redacted.h"
#include "json/make.h"
#include "json/write.h"
#include "text/clean.h"
#include "text/redact.h"

enum { CODE_SHARE = 8 /* one part in so many is for code alone */ };

/* One cell on its way to the disk. */
struct piece {
	struct buf notebook;
	struct buf record;
	struct notebook_span *spans;
};

static void piece_release(struct piece *piece)
{
	buf_release(&piece->notebook);
	buf_release(&piece->record);
	free(piece->spans);
}
#define cleanup_piece __attribute__((cleanup(piece_release)))

/* With the sentence on what was left out. */
static size_t longest_tail(void)
{
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);

	notebook_tail(&tail, UINT64_MAX);
	return tail.len;
}

struct journal *journal_new(int dir_fd, const char *session_id, uint64_t max_bytes,
			    const struct redact *redact)
{
	struct journal *journal = xcalloc(1, sizeof(*journal));

	journal->dir_fd = dir_fd;
	journal->session_id = xstrdup(session_id);
	redact_string(redact, &journal->session_id);
	journal->max = max_bytes;
	journal->notebook = (struct journal_file){ .name = JOURNAL_NOTEBOOK_FILE, .fd = -1 };
	journal->code = (struct journal_file){ .name = JOURNAL_CODE_FILE, .fd = -1 };
	journal->records = (struct journal_file){ .name = JOURNAL_RECORDS_FILE, .fd = -1 };
	journal->redact = redact;
	journal->tail_max = longest_tail();
	return journal;
}

void journal_free(struct journal *journal)
{
	if (journal == NULL)
		return;
	for (size_t i = 0; i < journal->count; i++)
		free(journal->cells[i].images);
	fd_close(&journal->notebook.fd);
	fd_close(&journal->code.fd);
	fd_close(&journal->records.fd);
	free(journal->cells);
	free(journal->session_id);
	free(journal);
}

void journal_set_max(struct journal *journal, uint64_t max_bytes)
{
	journal->max = max_bytes;
}

/* ---- files ---- */

static int open_file(const struct journal *journal, struct journal_file *file, struct err *err)
{
	cleanup_fd int fd = openat(journal->dir_fd, file->name,
				   O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, "opening the journal");
	file->len = (uint64_t)st.st_size;
	file->fd = fd_steal(&fd);
	return 0;
}

static int write_at(const struct journal *journal, struct journal_file *file, uint64_t offset,
		    const struct buf *data, struct err *err)
{
	size_t done = 0;

	if (file->fd < 0 && open_file(journal, file, err) < 0)
		return -1;
	while (done < data->len) {
		ssize_t n = pwrite(file->fd, data->data + done, data->len - done,
				   (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_sys(err, "writing the journal");
		done += (size_t)n;
		if (file->len < offset + done)
			file->len = offset + done;
	}
	/* What an earlier tail or a failed write left behind it; rare, and truncating is dear. */
	if (file->len > offset + done && ftruncate(file->fd, (off_t)(offset + done)) < 0)
		return err_sys(err, "writing the journal");
	file->len = offset + done;
	return 0;
}

/* ---- adding ---- */

static json_t *shown_text(const struct journal_entry *entry, const char *text, size_t max_chars)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	notebook_text(&shown, entry, text, max_chars);
	return json_make_text(buf_str(&shown), shown.len);
}

static json_t *describe_figures(const struct journal_entry *entry)
{
	json_t *figures = json_array();

	for (size_t i = 0; i < entry->image_count; i++) {
		json_t *figure = json_object();

		json_put_str(figure, "mimeType", entry->images[i].mime);
		json_put_int(figure, "size_bytes", (json_int_t)entry->images[i].len);
		if (entry->images[i].file != NULL) {
			cleanup_free char *path = xasprintf("output/%s", entry->images[i].file);
			cleanup_free char *shown = clean_path_string(path);

			json_put_str(figure, "path", shown);
		}
		json_append(figures, figure);
	}
	return figures;
}

static json_t *make_record(const struct journal_entry *entry, bool outputs)
{
	json_t *record = json_copy(entry->record);

	json_put_str(record, "language", entry->language);
	if (entry->left_out != NULL)
		json_put_str(record, "left_out", entry->left_out);
	if (entry->note != NULL)
		json_put_str(record, "note", entry->note);
	if (!outputs) {
		json_put_bool(record, "outputs_left_out", true);
		return record;
	}
	json_put(record, "text",
		 json_make_text(entry->text != NULL ? entry->text : "", entry->text_len));
	if (entry->value != NULL)
		json_put(record, "value",
			 shown_text(entry, entry->value, NOTEBOOK_VALUE_CHARS_MAX));
	if (entry->traceback != NULL)
		json_put(record, "traceback",
			 shown_text(entry, entry->traceback, NOTEBOOK_TRACEBACK_CHARS_MAX));
	if (entry->image_count > 0)
		json_put(record, "figures", describe_figures(entry));
	return record;
}

static void make_piece(const struct journal *journal, const struct journal_entry *entry,
		       bool outputs, struct piece *piece)
{
	cleanup_json json_t *record = make_record(entry, outputs);
	cleanup_free char *text = json_write_text(record);
	size_t before;

	buf_clear(&piece->notebook);
	buf_clear(&piece->record);
	buf_puts(&piece->record, text);
	buf_puts(&piece->record, "\n");
	memset(piece->spans, 0, entry->image_count * sizeof(*piece->spans));
	if (!entry->ran)
		return;
	if (journal->notebook_size == 0)
		notebook_head(&piece->notebook, journal->session_id);
	else
		notebook_separator(&piece->notebook);
	before = piece->notebook.len;
	notebook_cell(&piece->notebook, entry, outputs, piece->spans);
	for (size_t i = 0; i < entry->image_count; i++)
		piece->spans[i].offset += piece->spans[i].offset > 0 ? before : 0;
}

static bool fits(const struct journal *journal, const struct journal_entry *entry,
		 const struct piece *piece, uint64_t max)
{
	uint64_t more = piece->notebook.len + piece->record.len + entry->code_len;
	uint64_t now = journal->notebook_end + journal->code_size + journal->records_size;

	return now + more + journal->tail_max <= max;
}

/* Chooses what is taken of the cell; false: nothing. */
static bool prepare(const struct journal *journal, const struct journal_entry *entry,
		    struct piece *piece, bool *ret_outputs)
{
	make_piece(journal, entry, true, piece);
	*ret_outputs = true;
	if (fits(journal, entry, piece, journal->max - journal->max / CODE_SHARE))
		return true;
	make_piece(journal, entry, false, piece);
	*ret_outputs = false;
	return fits(journal, entry, piece, journal->max);
}

static int write_tail(struct journal *journal, struct buf *piece, uint64_t offset, struct err *err)
{
	size_t len = piece->len;

	notebook_tail(piece, journal->left_out);
	if (write_at(journal, &journal->notebook, offset, piece, err) < 0)
		return -1;
	journal->notebook_end = offset + len;
	journal->notebook_size = offset + piece->len;
	return 0;
}

/* Half a cell went over the tail: what was there before becomes a notebook again. */
static void mend_notebook(struct journal *journal)
{
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);
	struct err ignored;

	if (journal->notebook_size > 0)
		(void)!write_tail(journal, &tail, journal->notebook_end, &ignored);
}

static int write_piece(struct journal *journal, const struct journal_entry *entry,
		       struct piece *piece, struct err *err)
{
	/* Borrowed: not released, not written to. */
	const struct buf code = { .data = (char *)(uintptr_t)entry->code, .len = entry->code_len };

	if (write_at(journal, &journal->code, journal->code_size, &code, err) < 0 ||
	    write_at(journal, &journal->records, journal->records_size, &piece->record, err) < 0)
		return -1;
	if (!entry->ran)
		return 0;
	if (write_tail(journal, &piece->notebook, journal->notebook_end, err) < 0) {
		mend_notebook(journal);
		return -1;
	}
	return 0;
}

static struct kept_cell *new_cell(struct journal *journal)
{
	if (journal->count == journal->cap) {
		journal->cap = journal->cap == 0 ? 16 : journal->cap * 2;
		journal->cells = xrealloc(journal->cells, journal->cap * sizeof(*journal->cells));
	}
	return &journal->cells[journal->count++];
}

static void count_language(struct journal *journal, const char *language)
{
	size_t i = 0;

	while (i < JOURNAL_LANGUAGES_MAX - 1 && journal->tallies[i].language != NULL &&
	       !str_eq(journal->tallies[i].language, language))
		i++;
	journal->tallies[i].language = language;
	journal->tallies[i].cells++;
}

static void remember(struct journal *journal, const struct journal_entry *entry,
		     const struct piece *piece, uint64_t notebook_offset)
{
	struct kept_cell *cell = new_cell(journal);

	*cell = (struct kept_cell){ .ran = entry->ran,
				    .code_offset = journal->code_size,
				    .record_offset = journal->records_size,
				    .record_len = piece->record.len,
				    .image_count = entry->image_count };
	cell->script = (struct script_cell){ .number = entry->number,
					     .language = entry->language,
					     .state = entry->state,
					     .code_len = entry->code_len };
	cell->script.lines = script_lines(entry->code, entry->code_len, &cell->script.open);
	cell->images = xcalloc(entry->image_count, sizeof(*cell->images));
	for (size_t i = 0; i < entry->image_count; i++) {
		const struct notebook_span *span = &piece->spans[i];

		cell->images[i].mime = entry->images[i].mime;
		cell->images[i].len = span->len;
		cell->images[i].offset = span->offset > 0 ? notebook_offset + span->offset : 0;
	}
	journal->code_size += entry->code_len;
	journal->records_size += piece->record.len;
	if (entry->ran && !str_eq(entry->language, JOURNAL_SQL))
		count_language(journal, entry->language);
}

/* The notebook says at its end how many are missing. */
static int leave_out(struct journal *journal, struct err *err)
{
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);

	journal->left_out++;
	if (journal->notebook_size == 0)
		return 0;
	return write_tail(journal, &tail, journal->notebook_end, err);
}

static int add_entry(struct journal *journal, const struct journal_entry *entry,
		     enum journal_taken *ret_taken, struct err *err)
{
	cleanup_piece struct piece piece;
	uint64_t notebook_offset = journal->notebook_end;
	bool outputs;

	buf_init(&piece.notebook, BUF_UNBOUNDED);
	buf_init(&piece.record, BUF_UNBOUNDED);
	piece.spans = xcalloc(entry->image_count, sizeof(*piece.spans));
	if (!prepare(journal, entry, &piece, &outputs)) {
		*ret_taken = JOURNAL_NOT;
		return leave_out(journal, err);
	}
	if (write_piece(journal, entry, &piece, err) < 0)
		return -1;
	remember(journal, entry, &piece, notebook_offset);
	journal->bare += outputs ? 0 : 1;
	*ret_taken = outputs ? JOURNAL_WHOLE : JOURNAL_WITHOUT_OUTPUTS;
	return 0;
}

int journal_add(struct journal *journal, const struct journal_entry *entry,
		enum journal_taken *ret_taken, struct err *err)
{
	cleanup_redacted struct redacted_entry redacted;

	redacted_entry_init(&redacted, entry, journal->redact);
	return add_entry(journal, &redacted.entry, ret_taken, err);
}

/* ---- looking ---- */

size_t journal_count(const struct journal *journal)
{
	return journal->count;
}

size_t journal_bare_count(const struct journal *journal)
{
	return journal->bare;
}

uint64_t journal_left_out(const struct journal *journal)
{
	return journal->left_out;
}

uint64_t journal_bytes(const struct journal *journal)
{
	return journal->notebook_size + journal->code_size + journal->records_size;
}

bool journal_at(const struct journal *journal, size_t index, struct journal_line *ret_line)
{
	const struct kept_cell *cell;

	if (index >= journal->count)
		return false;
	cell = &journal->cells[index];
	ret_line->number = cell->script.number;
	ret_line->language = cell->script.language;
	ret_line->state = cell->script.state;
	ret_line->ran = cell->ran;
	ret_line->image_count = cell->image_count;
	return true;
}

/* Cells come nearly in order of their numbers: from the end, where readers look. */
int journal_find(const struct journal *journal, uint64_t number, size_t *ret_index, struct err *err)
{
	for (size_t i = journal->count; i > 0; i--) {
		if (journal->cells[i - 1].script.number != number)
			continue;
		*ret_index = i - 1;
		return 0;
	}
	return err_set(err, ERR_NOT_FOUND, "cell %" PRIu64 " is not in the journal", number);
}
