/* SPDX-License-Identifier: MIT */
/*
 * notebook.c - writes the pieces of a notebook as JSON text. A cell's closing brace is left open
 * and its outputs are appended as text, so that large figures are never held as JSON values.
 */
#include "journal/notebook.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/make.h"
#include "json/write.h"
#include "text/base64.h"
#include "text/sanitize.h"
#include "text/truncate.h"

static const struct {
	const char *language;
	const char *magic;
} magics[] = {
	{ "python", "" },
	{ "bash", "%%bash\n" },
	{ "javascript", "%%script node\n" },
	{ "r", "%%R\n" },
	{ JOURNAL_SQL, "%%script cat\n" },
};

void notebook_head(struct buf *out, const char *session_id)
{
	json_t *metadata = json_object();
	json_t *kernel = json_object();
	json_t *language = json_object();
	json_t *ours = json_object();
	cleanup_free char *text = NULL;

	json_put_str(kernel, "display_name", "Python 3");
	json_put_str(kernel, "language", "python");
	json_put_str(kernel, "name", "python3");
	json_put_str(language, "name", "python");
	json_put_str(language, "file_extension", ".py");
	json_put_str(language, "mimetype", "text/x-python");
	json_put_str(language, "nbconvert_exporter", "python");
	json_put_str(language, "pygments_lexer", "ipython3");
	json_put_str(ours, "session_id", session_id);
	json_put(metadata, "kernelspec", kernel);
	json_put(metadata, "language_info", language);
	json_put(metadata, "ptycell", ours);
	text = json_write_text(metadata);
	json_decref(metadata);
	buf_putf(out, "{\"nbformat\":4,\"nbformat_minor\":5,\"metadata\":%s,\"cells\":[\n", text);
}

void notebook_separator(struct buf *out)
{
	buf_puts(out, ",\n");
}

static void put_object(struct buf *out, json_t *object_own)
{
	cleanup_free char *text = json_write_text(object_own);

	buf_puts(out, text);
	json_decref(object_own);
}

/* Appends a note as a last cell. */
static void put_remark(struct buf *out, const char *id, json_t *text_own)
{
	json_t *cell = json_object();

	notebook_separator(out);
	json_put_str(cell, "cell_type", "markdown");
	json_put_str(cell, "id", id);
	json_put(cell, "metadata", json_object());
	json_put(cell, "source", text_own);
	put_object(out, cell);
}

void notebook_later(struct buf *out, size_t count, uint64_t running)
{
	put_remark(out, "later",
		   json_make_fmt("%zu more cells are not in this copy: they come when cell %" PRIu64
				 " has ended.",
				 count, running));
}

/* Each line is indented, so that no text can leave the block of code. */
void notebook_late(struct buf *out, size_t number, const char *language, const char *text,
		   size_t len)
{
	cleanup_buf struct buf block = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *id = xasprintf("late-%zu", number);

	buf_putf(&block, "Output of background processes after the last cell (%s):\n\n    ",
		 language != NULL ? language : "");
	for (size_t i = 0; i < len; i++) {
		buf_put_char(&block, text[i]);
		if (text[i] == '\n' && i + 1 < len)
			buf_puts(&block, "    ");
	}
	put_remark(out, id, json_make_text(buf_str(&block), block.len));
}

void notebook_tail(struct buf *out, uint64_t left_out)
{
	if (left_out > 0)
		put_remark(out, "left-out",
			   json_make_fmt("The journal is full: %" PRIu64
					 " cells after this point are not in it "
					 "(`PTYCELL_JOURNAL_MAX`).",
					 left_out));
	buf_puts(out, "\n]}\n");
}

/* ---- a cell ---- */

static json_t *source_of(const struct journal_entry *entry)
{
	cleanup_buf struct buf source = BUF_INIT(BUF_UNBOUNDED);
	const char *magic = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
		if (str_eq(magics[i].language, entry->language))
			magic = magics[i].magic;
	if (magic != NULL)
		buf_puts(&source, magic);
	else
		buf_putf(&source, "%%%%script %s\n", entry->language);
	buf_put(&source, entry->code, entry->code_len);
	return json_make_text(buf_str(&source), source.len);
}

static void begin_output(struct buf *out, bool *first)
{
	buf_puts(out, *first ? "" : ",");
	*first = false;
}

static void put_stream(struct buf *out, bool *first, const char *name, const char *text, size_t len)
{
	json_t *output = json_object();

	begin_output(out, first);
	json_put_str(output, "output_type", "stream");
	json_put_str(output, "name", name);
	json_put(output, "text", json_make_text(text, len));
	put_object(out, output);
}

static void put_note(struct buf *out, bool *first, const char *stream, const char *note)
{
	cleanup_free char *line = xasprintf("[%s]\n", note);

	put_stream(out, first, stream, line, strlen(line));
}

void notebook_text(struct buf *out, const struct journal_entry *entry, const char *text,
		   size_t max_chars)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	size_t len = strlen(text);

	if (!entry->settled) {
		sanitize_block(&clean, text, len);
		text = buf_str(&clean);
		len = clean.len;
	}
	(void)truncate_text(out, text, len, max_chars);
}

static void put_value(struct buf *out, bool *first, const struct journal_entry *entry)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	json_t *output = json_object();
	json_t *data = json_object();

	notebook_text(&shown, entry, entry->value, NOTEBOOK_VALUE_CHARS_MAX);
	begin_output(out, first);
	json_put(data, "text/plain", json_make_text(buf_str(&shown), shown.len));
	json_put_str(output, "output_type", "execute_result");
	json_put_int(output, "execution_count", (json_int_t)entry->number);
	json_put(output, "data", data);
	json_put(output, "metadata", json_object());
	put_object(out, output);
}

static json_t *lines_of(const char *text, size_t len)
{
	json_t *lines = json_array();
	const char *end = text + len;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline != NULL ? newline : end;

		json_append(lines, json_make_text(text, (size_t)(stop - text)));
		text = stop + 1;
	}
	return lines;
}

static json_t *clean_quoted(const char *text)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	text = text != NULL ? text : "";
	sanitize_line(&clean, text, strlen(text), 1000);
	return json_make_text(buf_str(&clean), clean.len);
}

static void put_error(struct buf *out, bool *first, const struct journal_entry *entry)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	const char *traceback = entry->traceback != NULL ? entry->traceback : "";
	json_t *output = json_object();

	notebook_text(&shown, entry, traceback, NOTEBOOK_TRACEBACK_CHARS_MAX);
	begin_output(out, first);
	json_put_str(output, "output_type", "error");
	json_put(output, "ename",
		 clean_quoted(entry->error_name != NULL ? entry->error_name : "Error"));
	json_put(output, "evalue", clean_quoted(entry->error_text));
	json_put(output, "traceback", lines_of(buf_str(&shown), shown.len));
	put_object(out, output);
}

static void put_image(struct buf *out, bool *first, const struct journal_image *image)
{
	begin_output(out, first);
	buf_putf(out, "{\"output_type\":\"display_data\",\"data\":{\"%s\":\"", image->mime);
	base64_encode(out, image->data, image->len);
	buf_puts(out, "\"},\"metadata\":{}}");
}

static void put_images(struct buf *out, bool *first, const struct journal_entry *entry)
{
	size_t room = NOTEBOOK_IMAGES_MAX;
	size_t left_out = entry->figures_left_out;

	for (size_t i = 0; i < entry->image_count; i++) {
		size_t len = base64_encoded_len(entry->images[i].len);

		if (len > room) {
			left_out++;
			continue;
		}
		room -= len;
		put_image(out, first, &entry->images[i]);
	}
	if (left_out > 0) {
		cleanup_free char *note = xasprintf("figures too large or too many for the "
						    "notebook: %zu; they lie beside it as files",
						    left_out);

		put_note(out, first, "stdout", note);
	}
}

static void put_outputs(struct buf *out, const struct journal_entry *entry)
{
	bool first = true;

	if (entry->text_len > 0)
		put_stream(out, &first, "stdout", entry->text, entry->text_len);
	put_images(out, &first, entry);
	if (entry->value != NULL)
		put_value(out, &first, entry);
	if (entry->left_out != NULL) {
		cleanup_free char *note =
			xasprintf("shown as text, without its form as %s", entry->left_out);

		put_note(out, &first, "stdout", note);
	}
	if (entry->traceback != NULL || entry->error_name != NULL)
		put_error(out, &first, entry);
	if (entry->note != NULL)
		put_note(out, &first, "stderr", entry->note);
}

/*
 * Returns the tags that make nbconvert --execute handle the cell as ptycell did. NULL: it runs the
 * cell and stops if it fails.
 */
static json_t *tags_of(const char *state)
{
	static const struct {
		const char *state;
		const char *tag;
	} tags[] = { { "raised", "raises-exception" },     { "interrupted", "skip-execution" },
		     { "timed_out", "skip-execution" },    { "died", "skip-execution" },
		     { JOURNAL_KILLED, "skip-execution" }, { JOURNAL_RUNNING, "skip-execution" } };

	for (size_t i = 0; i < ARRAY_SIZE(tags); i++)
		if (str_eq(tags[i].state, state))
			return json_pack("[s]", tags[i].tag);
	return NULL;
}

void notebook_cell(struct buf *out, const struct journal_entry *entry, bool outputs)
{
	json_t *metadata = json_object();
	json_t *cell = json_object();
	cleanup_free char *text = NULL;

	json_put(metadata, "ptycell", json_incref(entry->record));
	json_put(metadata, "tags", tags_of(entry->state));
	json_put_str(cell, "cell_type", "code");
	json_put(cell, "id", json_make_fmt("cell-%" PRIu64, entry->number));
	json_put_int(cell, "execution_count", (json_int_t)entry->number);
	json_put(cell, "metadata", metadata);
	json_put(cell, "source", source_of(entry));
	text = json_write_text(cell);
	json_decref(cell);
	buf_put(out, text, strlen(text) - 1); /* the brace is left open */
	buf_puts(out, ",\"outputs\":[");
	if (outputs) {
		put_outputs(out, entry);
	} else {
		bool first = true;

		put_note(out, &first, "stdout",
			 "the outputs were left out: the journal is nearly full "
			 "(PTYCELL_JOURNAL_MAX), or the disk is");
	}
	buf_puts(out, "]}");
}
