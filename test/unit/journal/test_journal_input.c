/* SPDX-License-Identifier: MIT */
/* test_journal_input.c - what was typed to cells, and output that belongs to no cell. */
#include "journal_fixture.h"
#include "redact/redact.h"

/* Asks for the cell and begins it. */
static void begin(uint64_t number)
{
	const struct journal_entry entry = entry_of(number, "python", "input()", "");

	assert_int_equal(ask(&entry), 0);
	assert_int_equal(journal_begin(journal, number, &err), 0);
}

static void type(uint64_t number, const char *text, bool hidden)
{
	assert_int_equal(journal_type(journal, number, text, strlen(text), hidden, &err), 0);
}

static void end_cell(uint64_t number)
{
	cleanup_json json_t *record = json_object();
	struct journal_entry entry = entry_of(number, "python", "input()", "");
	enum journal_taken taken;

	entry.record = record;
	assert_int_equal(journal_end(journal, &entry, &taken, &err), 0);
}

/* The cell's input: its parts, with " | " between them; "" without input. */
static void assert_input(size_t index, const char *expected)
{
	cleanup_json json_t *cell = journal_read_cell(journal, index, &err);
	cleanup_buf struct buf parts = BUF_INIT(BUF_UNBOUNDED);
	size_t i;
	json_t *part;

	json_array_foreach (json_object_get(cell, "input"), i, part)
		buf_putf(&parts, "%s%s", i > 0 ? " | " : "", json_string_value(part));
	assert_string_equal(buf_str(&parts), expected);
}

static void load_again(void)
{
	journal_free(journal);
	journal = journal_load(scratch.fd, &err);
	assert_non_null(journal);
}

static void input_is_in_the_cell_that_read_it(void **state)
{
	(void)state;
	begin(1);
	type(1, "Ada\n", false);
	type(1, "s3cret\n", true);
	type(2, "to no cell\n", false);
	assert_input(0, "Ada\n | [hidden input]\n");
	end_cell(1);
	type(1, "too late\n", false);
	begin(2);
	assert_input(0, "Ada\n | [hidden input]\n");
	assert_input(1, "");
	load_again();
	assert_input(0, "Ada\n | [hidden input]\n");
	assert_input(1, "");
}

static void assert_typed(size_t max, json_int_t count, json_int_t bytes, const char *input)
{
	cleanup_json json_t *typed = journal_read_typed(journal, 0, max);

	assert_int_equal(json_integer_value(json_object_get(typed, "count")), count);
	assert_int_equal(json_integer_value(json_object_get(typed, "bytes")), bytes);
	assert_string_equal(json_string_value(json_object_get(typed, "input")), input);
}

static void what_was_typed_to_a_cell_is_read_within_a_limit(void **state)
{
	(void)state;
	begin(1);
	assert_null(journal_read_typed(journal, 0, 100));
	type(1, "Ada\n", false);
	type(1, "s3cret\n", true);
	load_again();
	assert_typed(19, 2, 19, "Ada\n[hidden input]\n");
	assert_typed(18, 2, 19, "Ada\n");
	assert_typed(3, 2, 19, "");
}

static void a_typed_secret_is_replaced_also_in_pieces(void **state)
{
	struct redact *redact = redact_new();

	(void)state;
	redact_add(redact, "KEY", "hunter2hunter2");
	redact_finish(redact);
	journal_free(journal);
	journal = journal_new(scratch.fd, "sales", 1 << 20, 1 << 20, redact);
	begin(1);
	type(1, "hunter2hunter2\n", false);
	assert_input(0, "[secret KEY]\n");
	type(1, "the hunter2", false);
	assert_input(0, "[secret KEY]\n | the ");
	type(1, "hunter2\n", false);
	assert_input(0, "[secret KEY]\n | the  | [secret KEY]\n");
	type(1, "hunt", false);
	type(1, "hidden", true);
	type(1, "hunter2", false);
	end_cell(1);
	assert_input(0,
		     "[secret KEY]\n | the  | [secret KEY]\n | hunt | [hidden input]\n | hunter2");
	journal_free(journal);
	journal = NULL;
	redact_free(redact);
}

/* A megabyte of a cell is recorded. */
static void input_without_end_fills_no_journal(void **state)
{
	cleanup_free char *text = xcalloc(1, (64 << 10) + 1);

	(void)state;
	journal_free(journal);
	journal = journal_new(scratch.fd, "sales", 8 << 20, 1 << 20, NULL);
	memset(text, 'x', 64 << 10);
	begin(1);
	for (int i = 0; i < 40; i++)
		type(1, text, false);
	assert_in_range(journal_bytes(journal), 15 * (64 << 10), 1 << 20);
}

static void add_late(const char *text)
{
	assert_int_equal(journal_add_late(journal, "bash", text, strlen(text), &err), 0);
}

static void late_output_is_a_note_behind_the_last_cell(void **state)
{
	static const char note[] = "Output of background processes that no cell has (bash):\n\n"
				   "    done\n    ```\n";
	cleanup_json json_t *before = NULL;
	cleanup_json json_t *after = NULL;

	(void)state;
	add_late("without a cell there is no notebook\n");
	add(entry_of(1, "bash", "sleep 1 && echo done &", ""));
	add_late("done\n```\n");
	before = notebook();
	assert_string_equal(json_string_value(json_object_get(cell_of(before, 1), "source")), note);
	assert_null(cell_of(before, 2));
	assert_drawn();
	load_again();
	after = notebook();
	assert_string_equal(json_string_value(json_object_get(cell_of(after, 1), "source")), note);
}

static int count_words(const char *words)
{
	cleanup_free char *text = scratch_read(scratch.fd, "events");
	int count = 0;

	for (const char *at = text; (at = strstr(at, words)) != NULL; at++)
		count++;
	return count;
}

static void a_wait_is_noted_once(void **state)
{
	cleanup_json json_t *record = json_object();
	struct journal_entry cell = entry_of(1, "python", "input('a? ')", "");
	struct journal_wait wait = { .number = 1, .prompt = "a? " };
	enum journal_taken taken;

	(void)state;
	cell.record = record;
	assert_int_equal(ask(&cell), 0);
	assert_int_equal(journal_begin(journal, 1, &err), 0);
	assert_int_equal(journal_wait(journal, 1, &wait, &err), 0);
	assert_int_equal(journal_wait(journal, 1, &wait, &err), 0);
	assert_int_equal(count_words("\"event\":\"waits\""), 1);
	assert_int_equal(count_words("\"wait\":1,\"prompt\":\"a? \"}"), 1);
	wait = (struct journal_wait){ .number = 2, .prompt = "", .secret = true, .guessed = true };
	assert_int_equal(journal_wait(journal, 1, &wait, &err), 0);
	assert_int_equal(
		count_words("\"wait\":2,\"secret\":true,\"guessed\":true,\"prompt\":\"\"}"), 1);
	assert_int_equal(journal_end(journal, &cell, &taken, &err), 0);
	wait.number = 3;
	assert_int_equal(journal_wait(journal, 1, &wait, &err), 0);
	assert_int_equal(journal_wait(journal, 7, &wait, &err), 0);
	assert_int_equal(count_words("\"event\":\"waits\""), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOURNAL_TEST(a_wait_is_noted_once),
		JOURNAL_TEST(input_is_in_the_cell_that_read_it),
		JOURNAL_TEST(what_was_typed_to_a_cell_is_read_within_a_limit),
		JOURNAL_TEST(a_typed_secret_is_replaced_also_in_pieces),
		JOURNAL_TEST(input_without_end_fills_no_journal),
		JOURNAL_TEST(late_output_is_a_note_behind_the_last_cell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
