/* SPDX-License-Identifier: MIT */
/* journal_fixture.h - a journal in a scratch folder, cells for it, and what is read of it. */
#ifndef TEST_JOURNAL_FIXTURE_H
#define TEST_JOURNAL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "journal/journal.h"
#include "journal/journal_report.h"
#include "json/make.h"
#include "json/parse.h"
#include "scratch.h"

#define JOURNAL_FN __attribute__((unused)) static

static struct scratch scratch;
static struct journal *journal;
static struct err err;

JOURNAL_FN int set_up(void **state)
{
	(void)state;
	scratch_init(&scratch);
	journal = journal_new(scratch.fd, "sales", 1 << 20, 1 << 20, NULL);
	return 0;
}

JOURNAL_FN int tear_down(void **state)
{
	(void)state;
	journal_free(journal);
	scratch_release(&scratch);
	return 0;
}

/* A cell that printed `text`. */
JOURNAL_FN struct journal_entry entry_of(uint64_t number, const char *language, const char *code,
					 const char *text)
{
	return (struct journal_entry){ .number = number,
				       .language = language,
				       .state = "done",
				       .ran = true,
				       .code = code,
				       .code_len = strlen(code),
				       .text = text,
				       .text_len = strlen(text) };
}

JOURNAL_FN int ask(const struct journal_entry *entry)
{
	const struct journal_asked asked = { .number = entry->number,
					     .language = entry->language,
					     .code = entry->code,
					     .code_len = entry->code_len,
					     .timeout_ms = 1500 };

	return journal_ask(journal, &asked, &err);
}

JOURNAL_FN int end(const struct journal_entry *entry, enum journal_taken *ret_taken)
{
	if (ask(entry) < 0 || (entry->ran && journal_begin(journal, entry->number, &err) < 0))
		return -1;
	return journal_end(journal, entry, ret_taken, &err);
}

JOURNAL_FN enum journal_taken add(struct journal_entry entry)
{
	cleanup_json json_t *record = json_pack("{s:i}", "cell", (int)entry.number);
	enum journal_taken taken = JOURNAL_NOT;

	entry.record = record;
	if (end(&entry, &taken) < 0)
		fail_msg("%s", err.msg);
	return taken;
}

JOURNAL_FN uint64_t notebook_size(void)
{
	uint64_t size = 1;

	if (journal_notebook_size(journal, &size, &err) < 0)
		fail_msg("%s", err.msg);
	return size;
}

/* The notebook without the two cells before those of the session. */
JOURNAL_FN json_t *notebook(void)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	json_t *value;

	assert_int_equal(journal_read_notebook(journal, 0, SIZE_MAX / 4, &text, &err), 0);
	assert_int_equal(text.len, notebook_size());
	value = json_parse(buf_str(&text), text.len, &err);
	if (value == NULL)
		fail_msg("%s", err.msg);
	(void)json_array_remove(json_object_get(value, "cells"), 0);
	(void)json_array_remove(json_object_get(value, "cells"), 0);
	return value;
}

JOURNAL_FN json_t *cell_of(json_t *value, size_t index)
{
	return json_array_get(json_object_get(value, "cells"), index);
}

/* The cell's source, and the text of its first output (NULL: it has none). */
JOURNAL_FN void assert_cell(json_t *value, size_t index, const char *source, const char *text)
{
	const json_t *cell = cell_of(value, index);
	const json_t *output = json_array_get(json_object_get(cell, "outputs"), 0);

	assert_string_equal(json_string_value(json_object_get(cell, "source")), source);
	if (text == NULL)
		assert_null(output);
	else
		assert_string_equal(json_string_value(json_object_get(output, "text")), text);
}

JOURNAL_FN const char *first_text(json_t *value, size_t index)
{
	const json_t *outputs = json_object_get(cell_of(value, index), "outputs");

	return json_string_value(json_object_get(json_array_get(outputs, 0), "text"));
}

/* The report that is drawn, with its head and tail, is what readers get. */
JOURNAL_FN void assert_report_drawn(void)
{
	static const struct journal_report about = { .live_from = 0 };
	cleanup_buf struct buf whole = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf joined = BUF_INIT(BUF_UNBOUNDED);
	cleanup_json json_t *parts = journal_draw_report(journal, &about, &err);
	cleanup_free char *drawn = scratch_read(scratch.fd, JOURNAL_REPORT_FILE);
	size_t part = 0;
	size_t before;

	assert_non_null(parts);
	do {
		before = whole.len;
		assert_int_equal(journal_read_report(journal, &about, &part, &whole, &err), 0);
	} while (whole.len > before);
	buf_puts(&joined, json_string_value(json_object_get(parts, "head")));
	buf_put(&joined, drawn, (size_t)json_integer_value(json_object_get(parts, "size")));
	buf_puts(&joined, json_string_value(json_object_get(parts, "tail")));
	if (whole.len > 0)
		assert_string_equal(buf_str(&joined), buf_str(&whole));
}

/* What is drawn into the files, with its tail, is what readers get. */
JOURNAL_FN void assert_drawn(void)
{
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf read = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *drawn = NULL;
	uint64_t stable = 0;

	assert_int_equal(journal_draw_notebook(journal, &stable, &tail, &err), 0);
	assert_int_equal(journal_read_notebook(journal, 0, SIZE_MAX / 4, &read, &err), 0);
	drawn = scratch_read(scratch.fd, JOURNAL_NOTEBOOK_FILE);
	assert_int_equal(stable + tail.len, read.len);
	assert_memory_equal(drawn, read.data, stable);
	assert_memory_equal(buf_str(&tail), read.data + stable, tail.len);
	assert_report_drawn();
}

JOURNAL_FN void assert_script(const char *language, const char *expected)
{
	size_t len = strlen(expected);

	assert_int_equal(journal_script_size(journal, language), len);
	/* Any part of it is the same as that part of the whole. */
	for (size_t step = len + 1; step > 0; step = step / 2) {
		cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

		for (size_t at = 0; at < len; at += step)
			assert_int_equal(
				journal_read_script(journal, language, at, step, &text, &err), 0);
		assert_string_equal(buf_str(&text), expected);
	}
}

#define JOURNAL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
