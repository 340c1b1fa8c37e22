/* SPDX-License-Identifier: MIT */
/* test_restore_report.c - sentences about cells that ran again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "session/restore_report.h"
#include "workspace/aside.h"

static char *report;

static int tear_down(void **state)
{
	(void)state;
	mem_cleanup(&report);
	return 0;
}

static void assert_told(const char *text)
{
	assert_non_null(report);
	if (strstr(report, text) == NULL)
		fail_msg("no '%s' in: %s", text, report);
}

/* Sets `report` to the sentences, and releases what they are made of. */
static void tell(struct restore_report *told)
{
	free(report);
	report = restore_report_text(told);
	restore_report_release(told);
}

static void long_lists_are_cut(void **state)
{
	struct restore_report told = { .run = 3, .ms = 1500, .missing_cells = 1 };
	const struct aside_found found[] = { { .path = (char *)(uintptr_t) "a\nb",
					       .how = (char *)(uintptr_t) "changed" } };
	const struct aside_result result = { .found = found, .found_count = 1, .totals = { 4 } };

	(void)state;
	restore_report_init(&told, "a");
	for (int i = 1; i <= 12; i++)
		restore_report_add(&told.lost, "cell %d", i);
	restore_report_add_files(&told, &told.inputs, &result);
	restore_report_add(&told.hosts, "example.com:443");
	restore_report_add(&told.folders, "'/data'");
	restore_report_add(&told.shares, "cell 1 ('/data')");
	restore_report_add(&told.refused, "cell 2");
	tell(&told);
	assert_told("3 cells were run again in session 'a' (1.5 s)");
	assert_told(
		"cell 9, cell 10 and 2 more: this time it was not, so cells from there on may have found names that were missing then.");
	assert_told("(changed)");
	assert_told("Hosts that the cells reached once more: example.com:443.");
	assert_told(
		"lock them, and not write (but to named pipes): '/data'.\nCells whose code has the "
		"path of one (others may have used a variable): cell 1 ('/data').");
	assert_told("which no cell can while it runs again: cell 2.");
	assert_told("1 cell is not in the record.");
	assert_null(strstr(report, "restore_outside"));
}

static void what_is_not_known_to_be_open_is_not_said_to_be(void **state)
{
	struct restore_report told = { .run = 1 };
	const struct aside_found found[] = {
		{ .path = (char *)(uintptr_t) "a",
		  .how = (char *)(uintptr_t) "differs",
		  .list = ASIDE_UNKNOWN },
	};
	const struct aside_result result = { .found = found,
					     .found_count = 1,
					     .totals = { [ASIDE_UNKNOWN] = 3 } };

	(void)state;
	restore_report_init(&told, "a");
	restore_report_add_files(&told, &told.differs, &result);
	tell(&told);
	assert_told(
		"It is not known whether cells left these files open. A handle or connection "
		"to one would not reach it, so that what is written through it would be lost: 'a' "
		"(differs) and 2 more.");
	assert_null(strstr(report, "Handles and connections that cells left open"));
	assert_null(strstr(report, "came out differently"));
}

static void closed_files_are_named_up_to_a_maximum(void **state)
{
	struct restore_report told = { .run = 1 };
	cleanup_buf struct buf lines = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	for (int i = 1; i <= RESTORE_CLOSED_MAX + 2; i++)
		buf_putf(&lines, "f%d\n", i);
	restore_report_init(&told, "a");
	restore_report_add_closed(&told, buf_str(&lines), lines.len);
	restore_report_add(&told.unclosed, "python (the interpreter did not answer in time)");
	tell(&told);
	assert_told(
		"Their files are those from before again, and new ones are removed: 'f1', 'f2', ");
	assert_told("'f999', 'f1000' and 2 more.");
	assert_told("Interpreters that may still write over files from before, because they did "
		    "not close all databases of dbm.dumb or graphics devices: python (the "
		    "interpreter did not answer in time).");
}

static void an_interpreter_that_did_not_answer_has_no_lines(void **state)
{
	struct restore_report told = { .run = 1 };

	(void)state;
	restore_report_init(&told, "a");
	restore_report_add_closed(&told, NULL, 0);
	tell(&told);
	assert_null(strstr(report, "were closed"));
}

static void what_goes_on_is_told_with_what_it_may_reach(void **state)
{
	struct restore_report told = { .run = 1, .holds = true, .processes = 1 };

	(void)state;
	restore_report_init(&told, "a");
	tell(&told);
	assert_told("The cells left running: 1 process. These go on, and may still write to the "
		    "session's files. From now on they may reach hosts and write in shared "
		    "folders, as far as the session may.");

	told = (struct restore_report){ .run = 1, .holds = true, .processes = 2, .sockets = true };
	restore_report_init(&told, "a");
	restore_report_add(&told.active, "python");
	restore_report_add(&told.folders, "'/data'");
	tell(&told);
	assert_told("running: 2 processes, threads, timers or connections in python. These go on");
	assert_told("(but to named pipes and sockets): '/data'");

	told = (struct restore_report){ .run = 1, .holds = true, .processes = 1, .outside = true };
	restore_report_init(&told, "a");
	tell(&told);
	assert_told("the session's files. They may reach hosts and write in shared folders, "
		    "as far as the session may.");

	told = (struct restore_report){ .run = 1, .processes = 2 };
	restore_report_init(&told, "a");
	restore_report_add(&told.active, "python");
	tell(&told);
	assert_told("running: 2 processes, threads, timers or connections in python. These go on");
	assert_null(strstr(report, "hosts"));
}

static void a_replay_that_stopped_says_what_may_help(void **state)
{
	struct restore_report told = { .holds = true, .saved_cell = 7 };

	(void)state;
	restore_report_init(&told, "a");
	told.stopped = xstrdup("cell 3, which failed");
	free(report);
	report = restore_report_text(&told);
	assert_told("use action restore_outside.");
	assert_told("restore_values brings the variables back that were saved after cell 7.");
	told.outside = true;
	free(report);
	report = restore_report_text(&told);
	restore_report_release(&told);
	assert_null(strstr(report, "restore_outside"));
}

#define REPORT_TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		REPORT_TEST(long_lists_are_cut),
		REPORT_TEST(what_is_not_known_to_be_open_is_not_said_to_be),
		REPORT_TEST(closed_files_are_named_up_to_a_maximum),
		REPORT_TEST(an_interpreter_that_did_not_answer_has_no_lines),
		REPORT_TEST(what_goes_on_is_told_with_what_it_may_reach),
		REPORT_TEST(a_replay_that_stopped_says_what_may_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
