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
#include "journal/script.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PARTS = 5 };

static void check_notebook(const struct journal_entry *entry)
{
	cleanup_buf struct buf book = BUF_INIT(BUF_UNBOUNDED);
	json_t *value;

	notebook_head(&book, entry->value);
	notebook_cell(&book, entry, true);
	assert(memmem(book.data, book.len, "\"AAEC\"", 6) != NULL);
	notebook_separator(&book);
	notebook_cell(&book, entry, false);
	notebook_tail(&book, 1);
	assert(utf8_valid(book.data, book.len));
	value = json_loadb(book.data, book.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	assert(value != NULL && json_array_size(json_object_get(value, "cells")) == 3);
	json_decref(value);
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

	cell.lines = script_lines(entry->code, entry->code_len, &cell.open);
	script_write(&script, &cell, "bash", entry->code);
	assert(script.len == script_size(&cell, "bash"));
	buf_clear(&script);
	script_write(&script, &cell, "python", entry->code);
	assert(script.len == script_size(&cell, "python"));
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
	check_script(&entry);
	for (size_t i = 0; i < PARTS; i++)
		mem_cleanup(&parts[i]);
	json_decref(record);
	return 0;
}
