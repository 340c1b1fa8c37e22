/* SPDX-License-Identifier: MIT */
/* What the journal has of a cell so that it can be run again. */
#include "journal/notebook_setup.h"
#include "journal/rerun.h"
#include "journal_fixture.h"
#include "redact/redact.h"

#define VALUE "the secret value"

static struct redact *redact;

static int set_up_secret(void **state)
{
	(void)set_up(state);
	redact = redact_new();
	redact_add(redact, "KEY", VALUE);
	redact_finish(redact);
	journal_free(journal);
	journal = journal_new(scratch.fd, "sales", 1 << 20, 1 << 20, redact);
	return 0;
}

static int tear_down_secret(void **state)
{
	(void)tear_down(state);
	redact_free(redact);
	return 0;
}

static struct rerun_cell read_cell(size_t index)
{
	struct rerun_cell cell;

	if (rerun_read(journal, index, &cell, &err) < 0)
		fail_msg("%s", err.msg);
	return cell;
}

static void begin(uint64_t number, const char *code)
{
	const struct journal_entry entry = entry_of(number, "python", code, "");

	assert_int_equal(ask(&entry), 0);
	assert_int_equal(journal_begin(journal, number, &err), 0);
}

static void finish(uint64_t number, json_t *record_own)
{
	struct journal_entry entry = entry_of(number, "python", "", "");
	enum journal_taken taken;

	entry.record = record_own;
	assert_int_equal(journal_end(journal, &entry, &taken, &err), 0);
	json_decref(record_own);
}

static void a_cell_has_its_code_its_deadline_and_its_input(void **state)
{
	cleanup_rerun struct rerun_cell cell = { .marks = RERUN_NO_MARKS };

	(void)state;
	begin(1, "a = input()");
	assert_int_equal(journal_type(journal, 1, "x\n", 2, false, &err), 0);
	assert_int_equal(journal_type(journal, 1, "yes\n", 4, false, &err), 0);
	finish(1, json_object());
	cell = read_cell(0);
	assert_string_equal(cell.code.data, "a = input()");
	assert_int_equal(cell.code.len, strlen("a = input()"));
	assert_int_equal(cell.timeout_ms, 1500);
	assert_int_equal(cell.marks, RERUN_NO_MARKS);
	assert_int_equal(cell.typed_count, 2);
	assert_string_equal(cell.typed[1].data, "yes\n");
	assert_false(cell.hidden);
	assert_false(cell.secret);
	assert_null(cell.names);
}

static void hidden_input_is_not_there(void **state)
{
	cleanup_rerun struct rerun_cell cell = { .marks = RERUN_NO_MARKS };

	(void)state;
	begin(1, "a = getpass()");
	assert_int_equal(journal_type(journal, 1, "x\n", 2, true, &err), 0);
	finish(1, json_object());
	cell = read_cell(0);
	assert_true(cell.hidden);
}

static void files_and_lost_state_come_before_their_cell(void **state)
{
	cleanup_rerun struct rerun_cell cell = { .marks = RERUN_NO_MARKS };

	(void)state;
	assert_int_equal(journal_note(journal, NOTE_INPUT, 0,
				      json_pack("{s:s,s:i,s:s}", "path", "input/a.csv",
						"size_bytes", 3, "sha256", "00ff"),
				      &err),
			 0);
	assert_int_equal(journal_note(journal, NOTE_LOST, 0,
				      json_pack("{s:s,s:s}", "language", "python", "why", "x"),
				      &err),
			 0);
	begin(1, "1");
	finish(1, json_object());
	cell = read_cell(0);
	assert_int_equal(cell.input_count, 1);
	assert_string_equal(cell.inputs[0].path, "input/a.csv");
	assert_string_equal(cell.inputs[0].sha256, "00ff");
	assert_int_equal(cell.inputs[0].size, 3);
	assert_true(cell.lost);
}

static void the_first_cell_of_a_later_life_has_no_state_unless_that_is_back(void **state)
{
	static const struct {
		const char *restored;
		bool failed;
		bool lost;
	} cases[] = { { NULL, false, true },
		      { NOTE_VALUES, false, false },
		      { NOTE_RERUN, false, false },
		      { NOTE_RERUN, true, true } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_rerun struct rerun_cell cell = { .marks = RERUN_NO_MARKS };

		assert_int_equal(journal_note(journal, NOTE_RESUMED, 0, json_object(), &err), 0);
		if (cases[i].restored != NULL)
			assert_int_equal(journal_note(journal, cases[i].restored, 0,
						      json_pack("{s:b}", "failed", cases[i].failed),
						      &err),
					 0);
		begin(i + 1, "1");
		finish(i + 1, json_object());
		cell = read_cell(i);
		assert_int_equal(cell.lost, cases[i].lost);
	}
}

static void a_cell_tells_its_names_and_how_long_it_ran(void **state)
{
	cleanup_rerun struct rerun_cell cell = { .marks = RERUN_NO_MARKS };
	struct journal_line line;

	(void)state;
	begin(1, "x = 1; y = 2");
	finish(1, json_pack("{s:f,s:[{s:s},{s:s},{s:s,s:b}]}", "seconds", 1.25, "names", "name",
			    "x", "name", "y", "name", "z", "gone", 1));
	cell = read_cell(0);
	assert_string_equal(cell.names, "x, y");
	assert_true(journal_at(journal, 0, &line));
	assert_int_equal(line.elapsed_ms, 1250);
	journal_free(journal);
	journal = journal_load(scratch.fd, &err);
	assert_non_null(journal);
	assert_true(journal_at(journal, 0, &line));
	assert_int_equal(line.elapsed_ms, 1250);
}

static void a_query_tells_its_file(void **state)
{
	cleanup_rerun struct rerun_cell cell = { .marks = RERUN_NO_MARKS };
	struct journal_entry entry = entry_of(1, JOURNAL_SQL, "select 1", "");
	cleanup_json json_t *record = json_pack("{s:s}", "output_path", "output/rows.csv");
	enum journal_taken taken;

	(void)state;
	entry.record = record;
	assert_int_equal(end(&entry, &taken), 0);
	cell = read_cell(0);
	assert_string_equal(cell.file, "output/rows.csv");
}

static void marks_say_whether_they_stand_for_the_value(void **state)
{
	static const struct {
		const char *code;
		enum rerun_marks marks;
	} cases[] = {
		{ "1", RERUN_NO_MARKS },
		{ "'[secret KEY]'", RERUN_NO_MARKS },
		{ "'" VALUE "'", RERUN_PLAIN },
		{ "'" VALUE "' '" VALUE "'", RERUN_PLAIN },
		{ "'dGhlIHNlY3JldCB2YWx1ZQ=='", RERUN_OTHER },
		{ "'" VALUE "' '[secret KEY]'", RERUN_OTHER },
		{ "'" VALUE "' '[secret ANOTHER]'", RERUN_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_rerun struct rerun_cell cell = { .marks = RERUN_NO_MARKS };

		begin(i + 1, cases[i].code);
		finish(i + 1, json_object());
		cell = read_cell(i);
		if (cell.marks != cases[i].marks)
			fail_msg("%s has marks %d", cases[i].code, cell.marks);
		assert_null(strstr(cell.code.data, VALUE));
	}
}

static void a_typed_secret_is_marked(void **state)
{
	cleanup_rerun struct rerun_cell cell = { .marks = RERUN_NO_MARKS };

	(void)state;
	begin(1, "input()");
	assert_int_equal(journal_type(journal, 1, VALUE "\n", strlen(VALUE) + 1, false, &err), 0);
	finish(1, json_object());
	cell = read_cell(0);
	assert_true(cell.secret);
}

static void a_file_that_changed_is_an_error(void **state)
{
	struct rerun_cell cell;

	(void)state;
	begin(1, "1");
	finish(1, json_object());
	scratch_write(scratch.fd, "events", "");
	assert_int_equal(rerun_read(journal, 0, &cell, &err), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define SECRET_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_secret, tear_down_secret)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_cell_has_its_code_its_deadline_and_its_input),
		TEST(hidden_input_is_not_there),
		TEST(files_and_lost_state_come_before_their_cell),
		TEST(the_first_cell_of_a_later_life_has_no_state_unless_that_is_back),
		TEST(a_cell_tells_its_names_and_how_long_it_ran),
		TEST(a_query_tells_its_file),
		TEST(a_file_that_changed_is_an_error),
		SECRET_TEST(marks_say_whether_they_stand_for_the_value),
		SECRET_TEST(a_typed_secret_is_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
