/* SPDX-License-Identifier: MIT */
/* test_memory_guard.c - which cells are interrupted above the limit, and which are at fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/killed_programs.h"
#include "session/memory_guard.h"
#include "session_fixture.h"

#define MIB ((uint64_t)1 << 20)

enum { LIMIT_MIB = 640 }; /* a step is 10 MiB of it; 720 MiB are far above */

static struct language other_language; /* the same program by another name */
static struct session *session;
static struct memory_guard guard;
static int ended;
static enum cell_state last_state;

static int set_up(void **state)
{
	struct err err;

	(void)state;
	fixture_open();
	other_language = fixture_language;
	other_language.name = "other";
	session = session_new(&fixture.host, "test", 1, NULL, NULL, &err);
	assert_non_null(session);
	session->limits.memory_max = LIMIT_MIB * MIB;
	memset(&guard, 0, sizeof(guard));
	ended = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	session_free(session, "the test is over");
	fixture_close();
	return 0;
}

static void on_done(struct call *call, const struct exec_result *result, void *data)
{
	(void)call;
	(void)data;
	ended++;
	last_state = result->cell->state;
}

static void start(const struct language *language, const char *code)
{
	const struct exec_request request = {
		.language = language, .code = code, .code_len = strlen(code), .wait_ms = 3600000
	};
	struct err err;

	assert_non_null(session_exec(session, &request, on_done, NULL, &err));
}

/* Has cells run in both languages, until they are interrupted. */
static void run_both(void)
{
	start(&fixture_language, "wait");
	start(&other_language, "wait");
	fixture_until(fixture.cells_begun == 2);
}

/* A measure in MiB: of all, and the growth of each of the two interpreters. */
static struct sandbox_usage measure(uint64_t all, uint64_t first, uint64_t second)
{
	struct sandbox_usage usage = { .memory_bytes = all * MIB, .exact = true };
	const uint64_t growths[] = { first, second };

	for (size_t i = 0; i < session->language_count; i++) {
		usage.growths[i].interpreter =
			runner_interpreter_number(session->languages[i].runner);
		usage.growths[i].bytes = growths[i] * MIB;
	}
	return usage;
}

static bool waits(uint64_t all, uint64_t first, uint64_t second)
{
	const struct sandbox_usage usage = measure(all, first, second);

	return memory_guard_waits(&guard, session, &usage);
}

static void the_cell_that_grew_most_is_interrupted_once(void **state)
{
	(void)state;
	run_both();
	assert_true(waits(650, 20, 50));
	assert_int_equal(guard.stopped[0], 0);
	assert_int_equal(guard.stopped[1], 650 * MIB);
	assert_ptr_equal(memory_guard_at_fault(&guard, session), session->languages[1].runner);
	fixture_until(ended == 1);
	assert_int_equal(last_state, CELL_INTERRUPTED);
	assert_int_equal(memory_guard_note_cell_end(&guard, 1), 650 * MIB);
	assert_int_equal(memory_guard_note_cell_end(&guard, 1), 0);
	/* What the other one does is not its fault. */
	assert_null(memory_guard_at_fault(&guard, session));
	memory_guard_fits(&guard);
	assert_ptr_equal(memory_guard_at_fault(&guard, session), session->languages[0].runner);
}

static void another_is_interrupted_if_its_growth_leads_far_above(void **state)
{
	(void)state;
	run_both();
	assert_true(waits(650, 80, 90));
	fixture_until(ended == 2);
	assert_int_equal(guard.stopped[0], 650 * MIB);
	assert_int_equal(guard.stopped[1], 650 * MIB);
}

static void growth_is_allowed_while_a_cell_ends_and_not_afterwards(void **state)
{
	(void)state;
	start(&fixture_language, "ignore");
	fixture_until(fixture.cells_begun == 1);
	assert_true(waits(650, 30, 0));
	assert_true(waits(680, 30, 0));
	fixture_pass(3000);
	assert_true(waits(680, 0, 0));
	assert_true(waits(690, 10, 0));
	assert_false(waits(691, 11, 0));
}

static void far_above_the_limit_nothing_is_waited_for(void **state)
{
	(void)state;
	run_both();
	assert_int_equal(memory_guard_max(session), 720 * MIB);
	assert_false(waits(721, 50, 20));
	assert_int_equal(guard.stopped[0], 0);
	assert_int_equal(guard.base, 0);
}

static void programs_are_ended_before_a_cell_is_interrupted(void **state)
{
	struct sandbox_usage usage;

	(void)state;
	run_both();
	usage = measure(700, 50, 20);
	usage.programs_bytes = 60 * MIB;
	assert_true(memory_guard_needs_programs(session, &usage));
	assert_false(memory_guard_waits(&guard, session, &usage));
	assert_int_equal(guard.stopped[0], 0);
	usage.programs_bytes--;
	assert_false(memory_guard_needs_programs(session, &usage));
}

static void what_no_interpreter_holds_is_blamed_on_the_only_cell(void **state)
{
	(void)state;
	start(&fixture_language, "wait");
	fixture_until(fixture.cells_begun == 1);
	assert_true(waits(650, 0, 0));
	assert_int_equal(guard.stopped[0], 650 * MIB);
	fixture_until(ended == 1);
}

static void what_no_interpreter_holds_is_blamed_on_none_of_two(void **state)
{
	(void)state;
	run_both();
	assert_true(waits(650, 0, 0));
	assert_int_equal(guard.stopped[0], 0);
	assert_int_equal(guard.stopped[1], 0);
	assert_null(memory_guard_at_fault(&guard, session));
}

static void all_cells_are_interrupted_for_programs_but_once(void **state)
{
	struct sandbox_usage usage;

	(void)state;
	run_both();
	usage = measure(700, 0, 0);
	assert_true(memory_guard_interrupt_all(&guard, session, &usage));
	assert_false(memory_guard_interrupt_all(&guard, session, &usage));
	fixture_until(ended == 2);
}

static void the_first_to_be_killed_run_a_cell_and_grow(void **state)
{
	int numbers[LANGUAGES_MAX];
	struct sandbox_usage usage;
	int first;
	int second;

	(void)state;
	run_both();
	first = runner_interpreter_number(session->languages[0].runner);
	second = runner_interpreter_number(session->languages[1].runner);
	usage = measure(730, 40, 9);
	assert_int_equal(memory_guard_first(&guard, session, &usage, numbers), 1);
	assert_int_equal(numbers[0], first);
	usage = measure(730, 40, 10);
	assert_int_equal(memory_guard_first(&guard, session, &usage, numbers), 2);
	assert_int_equal(numbers[1], second);
	/* Nobody grows: all that run a cell. */
	usage = measure(730, 5, 5);
	assert_int_equal(memory_guard_first(&guard, session, &usage, numbers), 2);
}

static void one_that_grows_after_its_cell_is_killed_before_others(void **state)
{
	int numbers[LANGUAGES_MAX];
	struct sandbox_usage usage;

	(void)state;
	start(&fixture_language, "wait");
	start(&other_language, "done");
	fixture_until(ended == 1 && fixture.cells_begun == 2);
	usage = measure(730, 0, 100);
	assert_int_equal(memory_guard_first(&guard, session, &usage, numbers), 1);
	assert_int_equal(numbers[0], runner_interpreter_number(session->languages[1].runner));
}

static void what_an_interrupted_cell_took_is_no_growth_after_its_end(void **state)
{
	int numbers[LANGUAGES_MAX];
	struct sandbox_usage usage;

	(void)state;
	run_both();
	assert_true(waits(650, 0, 100));
	fixture_until(ended == 1);
	assert_int_equal(memory_guard_note_cell_end(&guard, 1), 650 * MIB);
	usage = measure(730, 0, 100);
	for (int i = 0; i < 3; i++) {
		/* The other runs a cell: its programs may be what grows. */
		assert_int_equal(memory_guard_first(&guard, session, &usage, numbers), 1);
		assert_int_equal(numbers[0],
				 runner_interpreter_number(session->languages[0].runner));
		memory_guard_measured(&guard);
	}
	assert_int_equal(memory_guard_first(&guard, session, &usage, numbers), 1);
	assert_int_equal(numbers[0], runner_interpreter_number(session->languages[1].runner));
}

/* ---- the sentence about programs ---- */

static void expect_description(const struct sandbox_killed *killed, const char *expected)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	killed_programs_describe(&text, killed, 640 * MIB, "the folder holds 2 GB");
	assert_string_equal(buf_str(&text), expected);
}

static void killed_programs_are_named_with_what_they_took(void **state)
{
	struct sandbox_killed killed = { .programs = 1, .memory_bytes = 500 * MIB };

	(void)state;
	(void)snprintf(killed.name, sizeof(killed.name), "sort");
	expect_description(
		&killed,
		"The program 'sort', which code had started, was killed: it had 500 MB of memory, "
		"and the session went over its limit of 640 MB (memory_max). Use less at a time.");
	(void)snprintf(killed.command, sizeof(killed.command), "sort -u a.csv");
	killed.programs = 3;
	expect_description(
		&killed,
		"The program 'sort' (command: 'sort -u a.csv') and 2 more, which "
		"code had started, were killed: the largest had 500 MB of memory, "
		"and the session went over its limit of 640 MB (memory_max). Use less at a time.");
	killed.for_disk = true;
	killed.written_bytes = 3 * MIB;
	expect_description(&killed,
			   "The program 'sort' (command: 'sort -u a.csv') and 2 more, which "
			   "code had started, were killed: the first of them "
			   "had written 3.0 MB and wrote on, and the folder holds 2 GB.");
	/* A command that is the name says nothing more. */
	(void)snprintf(killed.command, sizeof(killed.command), "sort");
	killed.programs = 1;
	expect_description(&killed,
			   "The program 'sort', which code had started, was killed: it had written "
			   "3.0 MB and wrote on, and the folder holds 2 GB.");
}

static void the_copy_that_saves_is_no_program_of_the_code(void **state)
{
	struct sandbox_killed killed = { .programs = 1 };

	(void)state;
	(void)snprintf(killed.name, sizeof(killed.name), "ptycell-save");
	assert_false(killed_programs_of_code(&killed));
	killed.programs = 2;
	assert_true(killed_programs_of_code(&killed));
	killed.programs = 1;
	(void)snprintf(killed.name, sizeof(killed.name), "python3");
	assert_true(killed_programs_of_code(&killed));
	killed.programs = 0;
	assert_false(killed_programs_of_code(&killed));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_cell_that_grew_most_is_interrupted_once),
		TEST(another_is_interrupted_if_its_growth_leads_far_above),
		TEST(growth_is_allowed_while_a_cell_ends_and_not_afterwards),
		TEST(far_above_the_limit_nothing_is_waited_for),
		TEST(programs_are_ended_before_a_cell_is_interrupted),
		TEST(what_no_interpreter_holds_is_blamed_on_the_only_cell),
		TEST(what_no_interpreter_holds_is_blamed_on_none_of_two),
		TEST(all_cells_are_interrupted_for_programs_but_once),
		TEST(the_first_to_be_killed_run_a_cell_and_grow),
		TEST(one_that_grows_after_its_cell_is_killed_before_others),
		TEST(what_an_interrupted_cell_took_is_no_growth_after_its_end),
		TEST(killed_programs_are_named_with_what_they_took),
		TEST(the_copy_that_saves_is_no_program_of_the_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
