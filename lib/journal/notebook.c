/* SPDX-License-Identifier: MIT */
/*
 * notebook.c - writes the pieces of a notebook as JSON text. A cell's closing brace is left open
 * and its outputs are appended as text, so that large figures are never held as JSON values.
 */
#include "journal/notebook.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "journal/notebook_setup.h"
#include "json/make.h"
#include "json/write.h"
#include "text/base64.h"
#include "text/sanitize.h"
#include "text/truncate.h"

void notebook_head(struct buf *out, const json_t *about)
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
	json_put(ours, "session_id", json_incref(json_object_get(about, "session_id")));
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

static json_t *new_cell(const char *type, json_t *id_own, json_t *metadata_own, json_t *source_own)
{
	json_t *cell = json_object();

	json_put_str(cell, "cell_type", type);
	json_put(cell, "id", id_own);
	json_put(cell, "metadata", metadata_own);
	json_put(cell, "source", source_own);
	return cell;
}

/* Appends a note as a last cell. */
static void put_remark(struct buf *out, const char *id, json_t *text_own)
{
	notebook_separator(out);
	put_object(out, new_cell("markdown", json_make_str(id), json_object(), text_own));
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

	buf_putf(&block, "Output of background processes that no cell has (%s):\n\n    ",
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

/* Returns the exit code that a bash cell ended with, or 0. */
static json_int_t exit_code_of(const struct journal_entry *entry)
{
	return str_eq(entry->language, "bash")
		       ? json_integer_value(json_object_get(entry->record, "exit_code"))
		       : 0;
}

static json_t *source_of(const struct journal_entry *entry, const char *magic)
{
	cleanup_buf struct buf source = BUF_INIT(BUF_UNBOUNDED);
	json_int_t exit_code = exit_code_of(entry);

	buf_puts(&source, magic);
	if (exit_code != 0)
		buf_putf(&source, " %" JSON_INTEGER_FORMAT, exit_code);
	buf_puts(&source, magic[0] != '\0' ? "\n" : "");
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

/* The name stays true when a result takes it later: ours steps aside then. */
static void put_whole(struct buf *out, bool *first, const struct journal_entry *entry)
{
	cleanup_free char *note =
		entry->whole == NULL
			? NULL
			: xasprintf("all of this output, up to its limit, is in %s beside "
				    "this notebook, or in a numbered folder where a result has "
				    "that name",
				    entry->whole);

	if (note != NULL)
		put_note(out, first, "stdout", note);
}

static void put_outputs(struct buf *out, const struct journal_entry *entry, bool *first)
{
	if (entry->text_len > 0)
		put_stream(out, first, "stdout", entry->text, entry->text_len);
	put_images(out, first, entry);
	if (entry->value != NULL)
		put_value(out, first, entry);
	if (entry->left_out != NULL) {
		cleanup_free char *note =
			xasprintf("shown as text, without its form as %s", entry->left_out);

		put_note(out, first, "stdout", note);
	}
	if (entry->traceback != NULL || entry->error_name != NULL)
		put_error(out, first, entry);
	if (entry->note != NULL)
		put_note(out, first, "stderr", entry->note);
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

bool notebook_runs(const char *state)
{
	cleanup_json json_t *tags = tags_of(state);

	return tags == NULL ||
	       !str_eq(json_string_value(json_array_get(tags, 0)), "skip-execution");
}

/* Returns the metadata of a cell; the tags are for cells that run. */
static json_t *metadata_of(const struct journal_entry *entry, bool runs)
{
	json_t *metadata = json_object();

	json_put(metadata, "ptycell", json_incref(entry->record));
	if (runs)
		json_put(metadata, "tags", tags_of(entry->state));
	return metadata;
}

static void put_outputs_or_note(struct buf *out, const struct journal_entry *entry, bool outputs)
{
	bool first = true;

	if (outputs)
		put_outputs(out, entry, &first);
	else
		put_note(out, &first, "stdout",
			 "the outputs were left out: the journal is nearly full "
			 "(PTYCELL_JOURNAL_MAX), or the disk is");
	put_whole(out, &first, entry);
}

static void put_code_cell(struct buf *out, const struct journal_entry *entry, bool outputs,
			  const char *magic)
{
	json_t *cell = new_cell("code", json_make_fmt("cell-%" PRIu64, entry->number),
				metadata_of(entry, true), source_of(entry, magic));
	cleanup_free char *text = NULL;

	json_put_int(cell, "execution_count", (json_int_t)entry->number);
	text = json_write_text(cell);
	json_decref(cell);
	buf_put(out, text, strlen(text) - 1); /* the brace is left open */
	buf_puts(out, ",\"outputs\":[");
	put_outputs_or_note(out, entry, outputs);
	buf_puts(out, "]}");
}

/* Appends a text with `prefix` before each line but the first. */
static void put_lines(struct buf *out, const char *text, size_t len, const char *prefix)
{
	for (size_t i = 0; i < len; i++) {
		bool ends = text[i] == '\n' || text[i] == '\r';

		buf_put_char(out, ends ? '\n' : text[i]);
		if (ends && i + 1 < len)
			buf_puts(out, prefix);
	}
}

/* Returns what a cell that cannot run had as output, as indented lines, which Markdown shows. */
static json_t *output_of(const struct journal_entry *entry, bool outputs)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	if (!outputs)
		buf_puts(&text, "[the outputs were left out: the journal is nearly full "
				"(PTYCELL_JOURNAL_MAX), or the disk is]");
	buf_put(&text, entry->text, outputs ? entry->text_len : 0);
	if (entry->note != NULL)
		buf_putf(&text, "%s[%s]", text.len > 0 ? "\n" : "", entry->note);
	if (text.len == 0)
		return NULL;
	buf_puts(&shown, "    ");
	put_lines(&shown, text.data, text.len, "    ");
	return json_make_text(buf_str(&shown), shown.len);
}

/*
 * Appends a cell that nothing in Jupyter runs: a raw cell, and its output as text behind it. The
 * raw cell is a comment, because nbconvert copies it into a script.
 */
static void put_raw_cell(struct buf *out, const struct journal_entry *entry, bool outputs)
{
	cleanup_buf struct buf source = BUF_INIT(BUF_UNBOUNDED);
	json_t *output = output_of(entry, outputs);
	bool sql = str_eq(entry->language, JOURNAL_SQL);

	buf_putf(&source, "# [not run again: it needs ptycell%s]\n# ",
		 sql ? "'s exec_sql" : " and its language");
	put_lines(&source, entry->code, entry->code_len, "# ");
	put_object(out, new_cell("raw", json_make_fmt("cell-%" PRIu64, entry->number),
				 metadata_of(entry, false),
				 json_make_text(buf_str(&source), source.len)));
	if (output == NULL)
		return;
	notebook_separator(out);
	put_object(out, new_cell("markdown", json_make_fmt("output-%" PRIu64, entry->number),
				 json_object(), output));
}

/* Appends the title as a heading. It is text: Markdown in it has no effect. */
static void put_title(struct buf *out, const struct journal_entry *entry)
{
	cleanup_buf struct buf source = BUF_INIT(BUF_UNBOUNDED);

	buf_puts(&source, "### ");
	for (const char *c = entry->title; *c != '\0'; c++)
		buf_putf(&source, ispunct((unsigned char)*c) ? "\\%c" : "%c", *c);
	put_object(out, new_cell("markdown", json_make_fmt("title-%" PRIu64, entry->number),
				 json_object(), json_make_text(buf_str(&source), source.len)));
	notebook_separator(out);
}

void notebook_cell(struct buf *out, const struct journal_entry *entry, bool outputs)
{
	const char *magic = notebook_setup_magic(entry->language);

	if (entry->title != NULL)
		put_title(out, entry);
	if (magic != NULL)
		put_code_cell(out, entry, outputs, magic);
	else
		put_raw_cell(out, entry, outputs);
}
