/* SPDX-License-Identifier: MIT */
/* test_notebook_setup.c - what happens between cells stands before the cell that needs it. */
#include "journal/notebook_setup.h"
#include "journal_fixture.h"
#include "redact/redact.h"

static void note(const char *event, uint64_t number, json_t *fields_own)
{
	if (journal_note(journal, event, number, fields_own, &err) < 0)
		fail_msg("%s", err.msg);
}

static void note_input(const char *path)
{
	note(NOTE_INPUT, 0,
	     json_pack("{s:s, s:i, s:s}", "path", path, "size_bytes", 3, "from", "content"));
}

static void note_lost(const char *language)
{
	note(NOTE_LOST, 0, json_pack("{s:s, s:s}", "language", language, "why", "it died"));
}

static void assert_source(json_t *book, const char *id, const char *expected)
{
	size_t n;
	json_t *cell;

	json_array_foreach (json_object_get(book, "cells"), n, cell) {
		if (!str_eq(json_string_value(json_object_get(cell, "id")), id))
			continue;
		assert_string_equal(json_string_value(json_object_get(cell, "source")), expected);
		return;
	}
	if (expected[0] != '\0')
		fail_msg("there is no cell %s", id);
}

static void begin(uint64_t number, const char *language)
{
	const struct journal_entry entry = entry_of(number, language, "1", "");

	assert_int_equal(ask(&entry), 0);
	assert_int_equal(journal_begin(journal, number, &err), 0);
}

static void end_as(uint64_t number, const char *state)
{
	struct journal_entry entry = entry_of(number, "python", "1", "");
	enum journal_taken taken;

	entry.state = state;
	assert_int_equal(journal_end(journal, &entry, &taken, &err), 0);
}

/* Checks the notebook, also as the next server reads it. */
static void assert_before(const char *id, const char *expected)
{
	struct journal *loaded = journal_load(scratch.fd, &err);
	cleanup_json json_t *book = notebook();
	struct journal *own = journal;

	assert_non_null(loaded);
	assert_source(book, id, expected);
	journal = loaded;
	json_decref(book);
	book = notebook();
	assert_source(book, id, expected);
	journal_free(loaded);
	journal = own;
}

static void a_note_stands_before_the_first_cell_that_has_not_ended(void **state)
{
	(void)state;
	add(entry_of(1, "python", "1", ""));
	note_input("input/a");
	add(entry_of(2, "python", "2", ""));
	begin(3, "python");
	begin(4, "bash");
	note_input("input/b");
	note_lost("bash");
	assert_before("before-1", "");
	assert_before("before-2", "ptycell.input(\"input/a\", 3, None, None)");
	assert_before("before-3", "ptycell.input(\"input/b\", 3, None, None)");
	assert_before("before-4", "ptycell.lost(\"bash\", \"it died\")");
	assert_drawn();
}

static void a_note_before_a_cell_that_never_ran_stands_before_the_next(void **state)
{
	struct journal_entry skipped = entry_of(2, "python", "2", "");
	enum journal_taken taken;

	(void)state;
	add(entry_of(1, "python", "1", ""));
	skipped.ran = false;
	skipped.state = "not_started";
	assert_int_equal(ask(&skipped), 0);
	note_input("input/a");
	assert_int_equal(journal_end(journal, &skipped, &taken, &err), 0);
	note_input("input/b");
	add(entry_of(3, "python", "3", ""));
	assert_before("before-3", "ptycell.input(\"input/a\", 3, None, None)\n"
				  "ptycell.input(\"input/b\", 3, None, None)");
}

static void of_the_first_cell_it_stands_in_the_helper(void **state)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	journal_set_about(journal, json_pack("{s:s, s:[s]}", "server", "1.2", "secrets", "KEY"));
	note_input("input/`a`");
	note(NOTE_STARTED, 0, json_pack("{s:s, s:s}", "language", "r", "version", "4.2"));
	begin(1, "python");
	assert_int_equal(journal_type(journal, 1, "Ada\n", 4, false, &err), 0);
	end_as(1, "raised");
	assert_int_equal(journal_read_notebook(journal, 0, SIZE_MAX / 4, &text, &err), 0);
	assert_non_null(strstr(buf_str(&text), "Recorded by ptycell 1.2 from 2"));
	assert_non_null(strstr(buf_str(&text), "- Input: `input/'a'`, 3 bytes, from `content`"));
	assert_non_null(strstr(buf_str(&text), "- Version of R: `4.2`"));
	assert_non_null(strstr(buf_str(&text), "the environment variable `KEY`"));
	assert_non_null(strstr(buf_str(&text), "ptycell([\\\"KEY\\\"])\\ndel ptycell\\n"
					       "ptycell.input(\\\"input/`a`\\\", 3, None, None)\\n"
					       "ptycell.typed(\\\"Ada\\\\n\\\")\""));
}

static void installed_packages_and_typed_input_are_calls(void **state)
{
	(void)state;
	add(entry_of(1, "python", "1", ""));
	note(NOTE_INSTALLED, 0,
	     json_pack("{s:s, s:[[s, s], [s, s]]}", "language", "python", "packages", "a", "1", "b",
		       "2"));
	begin(2, "python");
	assert_int_equal(journal_type(journal, 2, "x\n", 2, false, &err), 0);
	assert_int_equal(journal_type(journal, 2, "hidden", 6, true, &err), 0);
	end_as(2, "done");
	assert_before("before-2", "ptycell.install(\"python\", [\"a\",\"1\"], [\"b\",\"2\"])\n"
				  "ptycell.typed(\"x\\n[hidden input]\\n\")");
}

static void a_removal_makes_no_call(void **state)
{
	(void)state;
	add(entry_of(1, "python", "1", ""));
	note(NOTE_INSTALLED, 0,
	     json_pack("{s:s, s:[], s:[s]}", "language", "python", "packages", "removed", "a 1"));
	add(entry_of(2, "python", "2", ""));
	assert_before("before-2", "");
}

static void a_cell_that_will_not_run_reads_nothing(void **state)
{
	(void)state;
	add(entry_of(1, "python", "1", ""));
	begin(2, "python");
	assert_int_equal(journal_type(journal, 2, "x\n", 2, false, &err), 0);
	end_as(2, "interrupted");
	assert_before("before-2", "");
}

static void notes_have_no_secrets_and_fill_no_journal(void **state)
{
	struct redact *redact = redact_new();
	uint64_t before;

	(void)state;
	redact_add(redact, "KEY", "hunter2hunter2");
	redact_finish(redact);
	journal_free(journal);
	journal = journal_new(scratch.fd, "sales", 64 << 10, 1 << 10, redact);
	add(entry_of(1, "python", "1", ""));
	note_input("input/hunter2hunter2");
	begin(2, "python");
	assert_before("before-2", "ptycell.input(\"input/[secret KEY]\", 3, None, None)");
	do {
		before = journal_bytes(journal);
		note_input("input/a");
	} while (journal_bytes(journal) > before);
	assert_in_range(before, 48 << 10, 56 << 10);
	journal_turn_off(journal);
	note_input("input/a");
	assert_int_equal(journal_bytes(journal), before);
	journal_free(journal);
	journal = NULL;
	redact_free(redact);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOURNAL_TEST(a_note_stands_before_the_first_cell_that_has_not_ended),
		JOURNAL_TEST(a_note_before_a_cell_that_never_ran_stands_before_the_next),
		JOURNAL_TEST(of_the_first_cell_it_stands_in_the_helper),
		JOURNAL_TEST(installed_packages_and_typed_input_are_calls),
		JOURNAL_TEST(a_removal_makes_no_call),
		JOURNAL_TEST(a_cell_that_will_not_run_reads_nothing),
		JOURNAL_TEST(notes_have_no_secrets_and_fill_no_journal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
