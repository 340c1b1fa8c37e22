/* SPDX-License-Identifier: MIT */
/*
 * report.c - writes the pieces of a page. A text that is no literal of this file passes html.h or
 * base64.
 */
#include "journal/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "journal/html.h"
#include "journal/html_page.h"
#include "journal/notebook.h"
#include "journal/notebook_setup.h"
#include "journal/report_table.h"
#include "json/get.h"
#include "text/base64.h"

enum {
	LINE_MAX_CHARS = 1000, /* of a path, a version, a reason */
	PREVIEW_CHARS = 80,    /* of the code or the error beside what unfolds it */
};

static void put_line(struct buf *out, const char *text, size_t max_chars)
{
	html_line(out, text, strlen(text), max_chars);
}

/* ---- head ---- */

static void put_term(struct buf *out, const char *term, const char *text)
{
	if (text == NULL)
		return;
	buf_putf(out, "<dt>%s</dt><dd>", term);
	put_line(out, text, LINE_MAX_CHARS);
	buf_puts(out, "</dd>\n");
}

static void put_times(struct buf *out, const struct report_about *about)
{
	if (about->begun == NULL)
		return;
	buf_puts(out, "<dt>Time</dt><dd>");
	html_page_time(out, about->begun);
	if (about->ended != NULL) {
		buf_puts(out, " to ");
		html_page_time(out, about->ended);
	}
	buf_puts(out, " (UTC)</dd>\n");
}

static void put_languages(struct buf *out, json_t *languages)
{
	const char *lead = "";
	const char *name;
	json_t *facts;

	buf_puts(out, "<dt>Languages</dt><dd>");
	json_object_foreach (languages, name, facts) {
		const char *version = json_text_at(facts, "version");
		json_int_t cells = json_integer_value(json_object_get(facts, "cells"));

		buf_puts(out, lead);
		put_line(out, name, PREVIEW_CHARS);
		buf_puts(out, version[0] != '\0' ? " " : "");
		put_line(out, version, PREVIEW_CHARS);
		buf_putf(out, " (%" JSON_INTEGER_FORMAT " cell%s)", cells, cells == 1 ? "" : "s");
		lead = ", ";
	}
	buf_puts(out, "</dd>\n");
}

static void put_facts(struct buf *out, const struct report_about *about)
{
	buf_puts(out, "<dl>\n");
	if (about->title != NULL)
		put_term(out, "Session", about->session_id);
	put_times(out, about);
	buf_putf(out, "<dt>Cells</dt><dd>%zu", about->cells);
	if (about->failed > 0)
		buf_putf(out, ", %zu failed", about->failed);
	buf_puts(out, "</dd>\n");
	put_languages(out, about->languages);
	put_term(out, "Results", about->kept);
	put_term(out, "Recorded by ptycell", about->server);
	buf_puts(out, "</dl>\n");
}

void report_head(struct buf *out, const struct report_about *about)
{
	const char *id = about->session_id != NULL ? about->session_id : "";
	cleanup_free char *session = xasprintf("Session %s", id);
	const char *title = about->title != NULL ? about->title : session;

	html_page_begin(out, title, "data:");
	buf_puts(out, "<header>\n<h1>");
	put_line(out, title, LINE_MAX_CHARS);
	buf_puts(out, "</h1>\n");
	put_facts(out, about);
	buf_puts(out, "</header>\n<main>\n");
}

/* ---- between cells ---- */

static void put_packages(struct buf *out, const json_t *packages)
{
	size_t n;
	const json_t *package;

	json_array_foreach (packages, n, package) {
		const char *name = json_string_value(json_array_get(package, 0));
		const char *version = json_string_value(json_array_get(package, 1));

		buf_puts(out, n > 0 ? ", " : "");
		put_line(out, name != NULL ? name : "", LINE_MAX_CHARS);
		buf_puts(out, version != NULL ? " " : "");
		put_line(out, version != NULL ? version : "", LINE_MAX_CHARS);
	}
}

static void put_installed(struct buf *out, const json_t *note)
{
	const json_t *packages = json_object_get(note, "packages");
	bool any = json_array_size(packages) > 0;

	buf_puts(out, any ? "Installed for " : "All packages were uninstalled for ");
	put_line(out, json_text_at(note, "language"), LINE_MAX_CHARS);
	if (!any)
		return;
	buf_puts(out, ": ");
	put_packages(out, packages);
}

static void put_event(struct buf *out, const json_t *note)
{
	const char *event = json_text_at(note, "event");

	buf_puts(out, "<p class=\"event\">");
	if (str_eq(event, NOTE_INPUT)) {
		buf_puts(out, "File: ");
		put_line(out, json_text_at(note, "path"), LINE_MAX_CHARS);
		buf_putf(out, ", %" JSON_INTEGER_FORMAT " bytes",
			 json_integer_value(json_object_get(note, "size_bytes")));
	} else if (str_eq(event, NOTE_INSTALLED)) {
		put_installed(out, note);
	} else if (str_eq(event, NOTE_RESUMED)) {
		buf_puts(out,
			 "The session was resumed, without the variables of its earlier life.");
	} else if (str_eq(event, NOTE_VALUES)) {
		buf_puts(out, "Saved variables of Python were restored.");
	} else if (str_eq(event, NOTE_RERUN)) {
		buf_puts(out, "The recorded cells ran again.");
	} else {
		buf_puts(out, "All variables of ");
		put_line(out, json_text_at(note, "language"), LINE_MAX_CHARS);
		buf_puts(out, " were lost: ");
		put_line(out, json_text_at(note, "why"), LINE_MAX_CHARS);
	}
	buf_puts(out, "</p>\n");
}

void report_notes(struct buf *out, const json_t *notes)
{
	size_t n;
	const json_t *note;

	json_array_foreach (notes, n, note)
		if (!str_eq(json_text_at(note, "event"), NOTE_STARTED))
			put_event(out, note);
}

/* ---- a cell ---- */

bool report_failed(const char *state)
{
	return !str_eq(state, "done") && !str_eq(state, "interrupted") &&
	       !str_eq(state, JOURNAL_RUNNING) && !str_eq(state, JOURNAL_QUEUED);
}

static void put_word(struct buf *out, const char *kind, const char *word)
{
	buf_putf(out, "<span class=\"word%s\">", kind);
	put_line(out, word, PREVIEW_CHARS);
	buf_puts(out, "</span>\n");
}

static void put_title(struct buf *out, const struct journal_entry *entry)
{
	json_int_t exit_code = json_integer_value(json_object_get(entry->record, "exit_code"));
	const json_t *seconds = json_object_get(entry->record, "seconds");
	const char *ended = json_text_at(entry->record, "ended");

	buf_putf(out, "<h2>Cell %" PRIu64 "%s", entry->number, entry->title != NULL ? ": " : "");
	put_line(out, entry->title != NULL ? entry->title : "", LINE_MAX_CHARS);
	buf_put_char(out, '\n');
	put_word(out, "", entry->language);
	if (!str_eq(entry->state, "done"))
		put_word(out, report_failed(entry->state) ? " bad" : "", entry->state);
	if (exit_code != 0) {
		cleanup_free char *word = xasprintf("exit %" JSON_INTEGER_FORMAT, exit_code);

		put_word(out, " warn", word);
	}
	if (json_is_number(seconds)) {
		buf_puts(out, "<span class=\"when\">");
		html_page_time(out, ended);
		buf_putf(out, " &middot; %.2f s</span>\n", json_number_value(seconds));
	}
	buf_puts(out, "</h2>\n");
}

static void put_pre(struct buf *out, const char *kind, const char *label, const char *text,
		    size_t len)
{
	/* A parser drops the first line end. */
	buf_putf(out, "<pre class=\"%s\" tabindex=\"0\" role=\"group\" aria-label=\"%s\">\n", kind,
		 label);
	html_block(out, text, len);
	buf_puts(out, "</pre>\n");
}

static void put_code(struct buf *out, const struct journal_entry *entry)
{
	size_t blank = 0;
	size_t first;

	while (blank < entry->code_len && memchr(" \t\r\n", entry->code[blank], 4) != NULL)
		blank++;
	for (first = blank; first < entry->code_len && entry->code[first] != '\n';)
		first++;
	buf_puts(out, "<details>\n<summary>Code <code>");
	html_line(out, entry->code + blank, first - blank, PREVIEW_CHARS);
	buf_puts(out, "</code></summary>\n<pre tabindex=\"0\" role=\"group\" "
		      "aria-label=\"Code\">\n");
	html_code(out, entry->code, entry->code_len);
	buf_puts(out, "</pre>\n</details>\n");
}

static void put_note(struct buf *out, const char *note)
{
	buf_puts(out, "<p class=\"note\">");
	html_block(out, note, strlen(note));
	buf_puts(out, "</p>\n");
}

static void put_text(struct buf *out, const struct journal_entry *entry)
{
	if (entry->text_len > 0)
		put_pre(out, "text", "Output", entry->text, entry->text_len);
}

/* Appends the rows of a query, and what its answer says under them. */
static void put_rows(struct buf *out, const json_t *table)
{
	const json_t *below = json_object_get(table, "below");

	report_table_put(out, table);
	if (json_string_length(below) > 0)
		put_pre(out, "text", "Output", json_string_value(below), json_string_length(below));
}

static void put_image(struct buf *out, const struct journal_entry *entry, size_t n)
{
	const struct journal_image *image = &entry->images[n];

	buf_putf(out, "<figure><img alt=\"Figure %zu of cell %" PRIu64 "\" src=\"data:%s;base64,",
		 n + 1, entry->number, image->mime);
	base64_encode(out, image->data, image->len);
	buf_puts(out, "\"></figure>\n");
}

static void put_images(struct buf *out, const struct journal_entry *entry)
{
	size_t room = REPORT_IMAGES_MAX;
	size_t left_out = entry->figures_left_out;

	for (size_t i = 0; i < entry->image_count; i++) {
		size_t len = base64_encoded_len(entry->images[i].len);

		if (len > room) {
			left_out++;
			continue;
		}
		room -= len;
		put_image(out, entry, i);
	}
	if (left_out > 0) {
		cleanup_free char *note = xasprintf("Figures too large or too many for the report: "
						    "%zu; they are files among the results.",
						    left_out);

		put_note(out, note);
	}
}

static void put_shortened(struct buf *out, const struct journal_entry *entry, const char *kind,
			  const char *label, const char *text, size_t max_chars)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	notebook_text(&shown, entry, text, max_chars);
	put_pre(out, kind, label, buf_str(&shown), shown.len);
}

static void put_value(struct buf *out, const struct journal_entry *entry)
{
	if (entry->value != NULL && entry->table != NULL)
		report_table_put(out, entry->table);
	else if (entry->value != NULL)
		put_shortened(out, entry, "value", "Value", entry->value, NOTEBOOK_VALUE_CHARS_MAX);
}

static void put_outputs(struct buf *out, const struct journal_entry *entry)
{
	if (str_eq(entry->language, JOURNAL_SQL) && entry->table != NULL)
		put_rows(out, entry->table);
	else
		put_text(out, entry);
	put_images(out, entry);
	put_value(out, entry);
	if (entry->left_out != NULL) {
		cleanup_free char *note =
			xasprintf("Shown as text, without its form as %s.", entry->left_out);

		put_note(out, note);
	}
	if (entry->traceback != NULL && entry->traceback[0] != '\0')
		put_shortened(out, entry, "error", "Error", entry->traceback,
			      NOTEBOOK_TRACEBACK_CHARS_MAX);
}

static void put_body(struct buf *out, const struct journal_entry *entry, bool outputs)
{
	put_code(out, entry);
	if (outputs)
		put_outputs(out, entry);
	else
		put_note(out, "The outputs were left out: the journal is nearly full "
			      "(PTYCELL_JOURNAL_MAX), or the disk is.");
	if (entry->note != NULL)
		put_note(out, entry->note);
	if (entry->whole != NULL) {
		cleanup_free char *where =
			xasprintf("All of this output, up to its limit, is in %s among the "
				  "results, or in a numbered folder where a result has that name.",
				  entry->whole);

		put_note(out, where);
	}
}

/* Appends in one line why a cell failed. */
static void put_reason(struct buf *out, const struct journal_entry *entry)
{
	if (entry->error_name == NULL) {
		put_line(out, entry->note != NULL ? entry->note : entry->state, PREVIEW_CHARS);
		return;
	}
	put_line(out, entry->error_name, PREVIEW_CHARS);
	if (entry->error_text != NULL && entry->error_text[0] != '\0') {
		buf_puts(out, ": ");
		put_line(out, entry->error_text, PREVIEW_CHARS);
	}
}

void report_cell(struct buf *out, const struct journal_entry *entry, bool outputs)
{
	bool failed = report_failed(entry->state);

	buf_putf(out, "<article class=\"cell%s\" id=\"cell-%" PRIu64 "\">\n",
		 failed ? " failed" : "", entry->number);
	put_title(out, entry);
	if (failed) {
		buf_puts(out, "<details class=\"fold\">\n<summary>");
		put_reason(out, entry);
		buf_puts(out, "</summary>\n");
	}
	put_body(out, entry, outputs);
	buf_puts(out, failed ? "</details>\n</article>\n" : "</article>\n");
}

/* ---- end ---- */

void report_late(struct buf *out, const char *language, const char *text, size_t len)
{
	buf_puts(out, "<article class=\"cell\">\n<h2>Output of background processes that no cell "
		      "has\n");
	put_word(out, "", language != NULL ? language : "");
	buf_puts(out, "</h2>\n");
	put_pre(out, "text", "Output", text, len);
	buf_puts(out, "</article>\n");
}

void report_later(struct buf *out, size_t count, uint64_t number)
{
	cleanup_free char *note = xasprintf("%zu more cell%s here when cell %" PRIu64 " has ended.",
					    count, count == 1 ? " follows" : "s follow", number);

	put_note(out, note);
}

void report_tail(struct buf *out, uint64_t left_out)
{
	if (left_out > 0)
		buf_putf(out,
			 "<p class=\"note\">The journal is full: %" PRIu64
			 " cells after this point are not in it (PTYCELL_JOURNAL_MAX).</p>\n",
			 left_out);
	buf_puts(out, "</main>\n");
	html_page_end(out);
}
