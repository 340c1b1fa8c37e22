/* SPDX-License-Identifier: MIT */
/*
 * Whatever a cell has in it, its notebook is JSON, and its script is as long as was said, with no
 * line outside of a comment. The input is cut into code, text, value, traceback and file name.
 */
#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "journal/notebook.h"
#include "journal/notebook_setup.h"
#include "journal/script.h"
#include "json/make.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PARTS = 5 };

static bool is_query(const struct journal_entry *entry)
{
	return str_eq(entry->language, JOURNAL_SQL);
}

/* The first two, what came before the cell, the cell twice, which a query's output follows, and a
 * note. */
static bool cells_are(const json_t *value, const struct journal_entry *entry)
{
	size_t count = 6 + (is_query(entry) ? (entry->text_len > 0 ? 2 : 1) : 0);

	return json_array_size(json_object_get(value, "cells")) == count;
}

static void check_notebook(const struct journal_entry *entry)
{
	cleanup_buf struct buf book = BUF_INIT(BUF_UNBOUNDED);
	json_t *about = json_object();
	json_t *notes = json_array();
	json_t *note = json_object();
	json_t *typed = json_array();
	json_t *value;

	json_put(about, "session_id", json_make_text(entry->value, strlen(entry->value)));
	json_put_str(note, "event", NOTE_LOST);
	json_put(note, "why", json_make_text(entry->text, entry->text_len));
	json_append(notes, note);
	json_append(typed, json_make_text(entry->text, entry->text_len));
	notebook_head(&book, about);
	notebook_setup_head(&book, about, notes, typed);
	notebook_separator(&book);
	notebook_setup_notes(&book, 7, notes, typed);
	notebook_cell(&book, entry, true);
	assert(is_query(entry) || memmem(book.data, book.len, "\"AAEC\"", 6) != NULL);
	notebook_separator(&book);
	notebook_cell(&book, entry, false);
	notebook_tail(&book, 1);
	assert(utf8_valid(book.data, book.len));
	value = json_loadb(book.data, book.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	assert(value != NULL && cells_are(value, entry));
	json_decref(value);
	json_decref(about);
	json_decref(notes);
	json_decref(typed);
}

/* Python ends a line at LF, CR and CR LF. */
static void check_comments(const struct buf *script)
{
	for (size_t i = 0; i + 1 < script->len; i++) {
		bool ends = script->data[i] == '\n' ||
			    (script->data[i] == '\r' && script->data[i + 1] != '\n');

		assert(!ends || script->data[i + 1] == '#' || i + 2 == script->len);
	}
}

static void check_script(const struct journal_entry *entry)
{
	struct script_cell cell = { .number = 7,
				    .language = entry->language,
				    .state = "raised",
				    .code_len = entry->code_len };
	cleanup_buf struct buf script = BUF_INIT(BUF_UNBOUNDED);

	script_measure(&cell, entry->code);
	script_write(&script, &cell, "bash", entry->code);
	assert(script.len == script_size(&cell, "bash"));
	buf_clear(&script);
	script_write(&script, &cell, "python", entry->code);
	assert(script.len == script_size(&cell, "python"));
	check_comments(&script);
	buf_clear(&script);
	cell.broken = true;
	script_write(&script, &cell, "bash", entry->code);
	assert(script.len == script_size(&cell, "bash"));
	check_comments(&script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct journal_image image = { .mime = "image/png",
						    .data = "\0\1\2",
						    .len = 3 };
	char *parts[PARTS];
	size_t each = size / PARTS;
	json_t *record = json_object();

	for (size_t i = 0; i < PARTS; i++)
		parts[i] = xmemdup(data + i * each, each);
	struct journal_entry entry = { .number = 7,
				       .language = "bash",
				       .state = "raised",
				       .ran = true,
				       .code = parts[0],
				       .code_len = each,
				       .text = parts[1],
				       .text_len = each,
				       .value = parts[2],
				       .traceback = parts[3],
				       .error_name = parts[4],
				       .images = &image,
				       .image_count = 1,
				       .record = record };

	check_notebook(&entry);
	entry.language = JOURNAL_SQL;
	check_notebook(&entry);
	entry.language = "bash";
	check_script(&entry);
	for (size_t i = 0; i < PARTS; i++)
		mem_cleanup(&parts[i]);
	json_decref(record);
	return 0;
}
