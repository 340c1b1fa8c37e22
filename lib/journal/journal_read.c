/* SPDX-License-Identifier: MIT */
/* journal_read.c - cells, notebook and script, in parts. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "journal/journal_internal.h"
#include "journal/notebook.h"
#include "json/make.h"
#include "json/parse.h"

static int read_at(const struct journal *journal, const char *name, uint64_t offset, size_t len,
		   struct buf *out, struct err *err)
{
	cleanup_fd int fd = openat(journal->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char *room = buf_reserve(out, len, err);
	size_t got = 0;

	if (room == NULL)
		return -1;
	if (fd < 0)
		return err_sys(err, "opening the journal");
	while (got < len) {
		ssize_t n = pread(fd, room + got, len - got, (off_t)(offset + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "reading the journal");
		if (n == 0)
			return err_set(err, ERR_SYSTEM, "the journal is shorter than it was");
		got += (size_t)n;
	}
	buf_commit(out, got);
	return 0;
}

/* ---- cells ---- */

json_t *journal_read_cell(const struct journal *journal, size_t index, struct err *err)
{
	const struct kept_cell *cell = &journal->cells[index];
	cleanup_buf struct buf record = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf code = BUF_INIT(BUF_UNBOUNDED);
	json_t *object;

	if (read_at(journal, JOURNAL_RECORDS_FILE, cell->record_offset, cell->record_len, &record,
		    err) < 0 ||
	    read_at(journal, JOURNAL_CODE_FILE, cell->code_offset, cell->script.code_len, &code,
		    err) < 0)
		return NULL;
	object = json_parse(buf_str(&record), record.len, err);
	if (object != NULL)
		json_put(object, "code", json_make_text(buf_str(&code), code.len));
	return object;
}

int journal_read_image(const struct journal *journal, size_t index, size_t image, struct buf *out,
		       const char **ret_mime, struct err *err)
{
	const struct kept_cell *cell = &journal->cells[index];

	if (image >= cell->image_count || cell->images[image].offset == 0)
		return err_set(err, ERR_NOT_FOUND, "the journal has no such figure");
	*ret_mime = cell->images[image].mime;
	return read_at(journal, JOURNAL_NOTEBOOK_FILE, cell->images[image].offset,
		       cell->images[image].len, out, err);
}

/* ---- notebook and script ---- */

uint64_t journal_notebook_stable(const struct journal *journal, struct buf *tail)
{
	notebook_tail(tail, journal->left_out);
	return journal->notebook_end;
}

uint64_t journal_notebook_size(const struct journal *journal)
{
	return journal->notebook_size;
}

int journal_read_notebook(const struct journal *journal, uint64_t offset, size_t len,
			  struct buf *out, struct err *err)
{
	uint64_t left = journal->notebook_size > offset ? journal->notebook_size - offset : 0;

	if (left == 0)
		return 0;
	return read_at(journal, JOURNAL_NOTEBOOK_FILE, offset, len < left ? len : (size_t)left, out,
		       err);
}

const char *journal_language(const struct journal *journal)
{
	const char *most = NULL;
	size_t cells = 0;

	for (size_t i = 0; i < JOURNAL_LANGUAGES_MAX; i++) {
		if (journal->tallies[i].cells <= cells)
			continue;
		most = journal->tallies[i].language;
		cells = journal->tallies[i].cells;
	}
	return most;
}

uint64_t journal_script_size(const struct journal *journal, const char *language)
{
	uint64_t size = 0;

	for (size_t i = 0; i < journal->count; i++)
		if (journal->cells[i].ran)
			size += script_size(&journal->cells[i].script, language);
	return size;
}

static int write_script(const struct journal *journal, const struct kept_cell *cell,
			const char *language, struct buf *out, struct err *err)
{
	cleanup_buf struct buf code = BUF_INIT(BUF_UNBOUNDED);

	if (read_at(journal, JOURNAL_CODE_FILE, cell->code_offset, cell->script.code_len, &code,
		    err) < 0)
		return -1;
	script_write(out, &cell->script, language, buf_str(&code));
	return 0;
}

int journal_read_script(const struct journal *journal, const char *language, uint64_t offset,
			size_t len, struct buf *out, struct err *err)
{
	cleanup_buf struct buf piece = BUF_INIT(BUF_UNBOUNDED);
	uint64_t at = 0;

	for (size_t i = 0; i < journal->count && len > 0; i++) {
		const struct kept_cell *cell = &journal->cells[i];
		size_t size = cell->ran ? script_size(&cell->script, language) : 0;
		size_t skip;
		size_t part;

		at += size;
		if (at <= offset)
			continue;
		buf_clear(&piece);
		if (write_script(journal, cell, language, &piece, err) < 0)
			return -1;
		skip = (size_t)(offset - (at - size));
		part = size_min(size - skip, len);
		if (buf_add(out, piece.data + skip, part, err) < 0)
			return -1;
		offset += part;
		len -= part;
	}
	return 0;
}
