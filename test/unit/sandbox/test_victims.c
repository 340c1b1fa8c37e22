/* SPDX-License-Identifier: MIT */
/* test_victims.c - a table of situations at a limit: which processes are there, and which go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "sandbox/process/victims.h"

enum { ROWS_MAX = 5, ALL = 64 };

enum kind {
	NONE,
	PROGRAM,
	GROWING_PROGRAM,
	IDLE,
	GROWING_IDLE,
	RUNNING,
	GROWING_RUNNING,
};

struct process {
	enum kind kind;
	uint64_t bytes;
	char name; /* the first of the alphabet is the oldest */
};

/* The limit is 100, and 112 for what does not grow. */
struct situation {
	const char *what;
	struct process processes[ROWS_MAX];
	const char *goes; /* names in the order of killing */
	uint64_t held;    /* in use whoever ends */
	bool programs_only;
	size_t count_max; /* 0: no maximum */
};

static struct victim victim_of(const struct process *process, size_t index)
{
	enum kind kind = process->kind;

	return (struct victim){
		.bytes = process->bytes,
		.started = (uint64_t)process->name,
		.is_interpreter = kind >= IDLE,
		.is_running = kind >= RUNNING,
		.is_growing =
			kind == GROWING_PROGRAM || kind == GROWING_IDLE || kind == GROWING_RUNNING,
		.is_chosen = true, /* whatever was there */
		.index = index,
	};
}

static size_t fill(const struct situation *at, struct victim rows[ROWS_MAX])
{
	size_t len = 0;

	for (; len < ROWS_MAX && at->processes[len].kind != NONE; len++)
		rows[len] = victim_of(&at->processes[len], len);
	return len;
}

static void expect(const struct situation *at, const struct victim *rows, size_t len)
{
	char goes[ROWS_MAX + 1] = "";
	size_t count = 0;

	for (size_t i = 0; i < len; i++)
		if (rows[i].is_chosen)
			goes[count++] = at->processes[rows[i].index].name;
	if (!str_eq(goes, at->goes))
		fail_msg("%s: '%s' went, not '%s'", at->what, goes, at->goes);
}

static void at_the_limit_of_memory_those_go(void **state)
{
	static const struct situation situations[] = {
		{ .what = "all fits",
		  .processes = { { IDLE, 60, 'a' }, { GROWING_PROGRAM, 40, 'b' } },
		  .goes = "" },
		{ .what = "a program grows, beside an interpreter that is alone above the limit",
		  .processes = { { IDLE, 110, 'a' }, { GROWING_PROGRAM, 6, 'b' } },
		  .goes = "b" },
		{ .what = "so it does beside a cell that runs and does not grow",
		  .processes = { { RUNNING, 110, 'a' }, { GROWING_PROGRAM, 6, 'b' } },
		  .goes = "b" },
		{ .what = "what does not grow may not be more than a little above the limit",
		  .processes = { { IDLE, 120, 'a' }, { GROWING_PROGRAM, 6, 'b' } },
		  .goes = "ba" },
		{ .what = "a program that does not grow stays as interpreters do",
		  .processes = { { IDLE, 90, 'a' },
				 { PROGRAM, 15, 'b' },
				 { GROWING_PROGRAM, 10, 'c' } },
		  .goes = "c" },
		{ .what = "of two programs the one that grows",
		  .processes = { { GROWING_PROGRAM, 60, 'a' }, { PROGRAM, 60, 'b' } },
		  .goes = "a" },
		{ .what = "of two that grow the newest",
		  .processes = { { GROWING_PROGRAM, 60, 'a' }, { GROWING_PROGRAM, 60, 'b' } },
		  .goes = "b" },
		{ .what = "both if need be",
		  .processes = { { GROWING_PROGRAM, 105, 'a' }, { GROWING_PROGRAM, 105, 'b' } },
		  .goes = "ba" },
		{ .what = "not the newest if the older one must go anyhow, and suffices",
		  .processes = { { GROWING_PROGRAM, 105, 'a' }, { GROWING_PROGRAM, 1, 'b' } },
		  .goes = "a" },
		{ .what = "of two that do not grow the newest",
		  .processes = { { PROGRAM, 60, 'a' }, { PROGRAM, 60, 'b' } },
		  .goes = "b" },
		{ .what = "a program before an interpreter that grows",
		  .processes = { { GROWING_RUNNING, 90, 'a' }, { PROGRAM, 20, 'b' } },
		  .goes = "b" },
		{ .what = "but none that is not needed",
		  .processes = { { GROWING_RUNNING, 105, 'a' }, { PROGRAM, 20, 'b' } },
		  .goes = "a" },
		{ .what = "of two interpreters that grow the one whose cell runs",
		  .processes = { { GROWING_RUNNING, 60, 'a' }, { GROWING_IDLE, 60, 'b' } },
		  .goes = "a" },
		{ .what = "an idle one that grows before a running one that does not",
		  .processes = { { RUNNING, 60, 'a' }, { GROWING_IDLE, 60, 'b' } },
		  .goes = "b" },
		{ .what = "a running one that grows, and no idle one, however large",
		  .processes = { { IDLE, 95, 'a' }, { GROWING_RUNNING, 20, 'b' } },
		  .goes = "b" },
		{ .what = "a program if nothing grows",
		  .processes = { { IDLE, 60, 'a' }, { RUNNING, 40, 'b' }, { PROGRAM, 5, 'c' } },
		  .goes = "c" },
		{ .what = "so it does beside an interpreter that is alone above the limit",
		  .processes = { { IDLE, 110, 'a' }, { PROGRAM, 6, 'b' } },
		  .goes = "b" },
		{ .what = "no interpreter if they are but a little above the limit without it",
		  .processes = { { IDLE, 60, 'a' }, { RUNNING, 45, 'b' }, { PROGRAM, 5, 'c' } },
		  .goes = "c" },
		{ .what = "the running interpreter if that is not enough",
		  .processes = { { IDLE, 101, 'a' }, { RUNNING, 40, 'b' }, { PROGRAM, 5, 'c' } },
		  .goes = "cb" },
		{ .what = "an idle one, last, if no others suffice",
		  .processes = { { IDLE, 113, 'a' }, { RUNNING, 40, 'b' }, { PROGRAM, 5, 'c' } },
		  .goes = "a" },
		{ .what = "of two idle ones the newest",
		  .processes = { { IDLE, 60, 'a' }, { IDLE, 60, 'b' } },
		  .goes = "b" },
		{ .what = "files in memory count",
		  .processes = { { IDLE, 60, 'a' }, { GROWING_PROGRAM, 5, 'b' } },
		  .goes = "b",
		  .held = 40 },
		{ .what = "nobody goes for files in memory that are too many",
		  .processes = { { IDLE, 60, 'a' }, { RUNNING, 60, 'b' }, { PROGRAM, 5, 'c' } },
		  .goes = "",
		  .held = 101 },
		{ .what = "but who grows beside them",
		  .processes = { { IDLE, 60, 'a' },
				 { PROGRAM, 5, 'b' },
				 { GROWING_PROGRAM, 5, 'c' } },
		  .goes = "c",
		  .held = 120 },
		{ .what = "not more than that at once",
		  .processes = { { PROGRAM, 60, 'a' }, { PROGRAM, 60, 'b' }, { PROGRAM, 60, 'c' } },
		  .goes = "c",
		  .count_max = 1 },
		{ .what = "nobody is there",
		  .processes = { { NONE, 0, 0 } },
		  .goes = "",
		  .held = 200 },
		{ .what = "no interpreter where programs were to go, and have gone by themselves",
		  .processes = { { IDLE, 60, 'a' }, { GROWING_RUNNING, 80, 'b' } },
		  .goes = "",
		  .programs_only = true },
		{ .what = "and the programs that are left",
		  .processes = { { GROWING_RUNNING, 120, 'a' }, { PROGRAM, 5, 'b' } },
		  .goes = "b",
		  .programs_only = true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(situations); i++) {
		const struct situation *at = &situations[i];
		const struct victims_need need = { .held = at->held,
						   .max = 100,
						   .still_max = 112,
						   .programs_only = at->programs_only,
						   .count_max = at->count_max > 0 ? at->count_max
										  : ALL };
		struct victim rows[ROWS_MAX];
		size_t len = fill(at, rows);

		victims_for_memory(rows, len, &need);
		expect(at, rows, len);
	}
}

static void at_the_limit_of_the_disk_those_go(void **state)
{
	static const struct situation situations[] = {
		{ .what = "the program that writes, and no interpreter",
		  .processes = { { IDLE, 0, 'a' },
				 { GROWING_PROGRAM, 0, 'b' },
				 { RUNNING, 0, 'c' } },
		  .goes = "b" },
		{ .what = "all programs that write",
		  .processes = { { GROWING_PROGRAM, 0, 'a' },
				 { PROGRAM, 0, 'b' },
				 { GROWING_PROGRAM, 0, 'c' } },
		  .goes = "ac" },
		{ .what = "before an interpreter that writes",
		  .processes = { { GROWING_RUNNING, 0, 'a' }, { GROWING_PROGRAM, 0, 'b' } },
		  .goes = "b" },
		{ .what = "but the interpreter if no program writes",
		  .processes = { { IDLE, 0, 'a' },
				 { PROGRAM, 0, 'b' },
				 { GROWING_RUNNING, 0, 'c' } },
		  .goes = "c" },
		{ .what = "one whose cell runs first",
		  .processes = { { GROWING_IDLE, 0, 'a' }, { GROWING_RUNNING, 0, 'b' } },
		  .goes = "b" },
		{ .what = "an idle one that writes, and not the one whose cell runs",
		  .processes = { { GROWING_IDLE, 0, 'a' }, { RUNNING, 0, 'b' } },
		  .goes = "a" },
		{ .what = "programs if nobody is known to write",
		  .processes = { { IDLE, 0, 'a' }, { PROGRAM, 0, 'b' }, { RUNNING, 0, 'c' } },
		  .goes = "b" },
		{ .what = "else the interpreter whose cell runs",
		  .processes = { { IDLE, 0, 'a' }, { RUNNING, 0, 'b' } },
		  .goes = "b" },
		{ .what = "else the idle ones",
		  .processes = { { IDLE, 0, 'a' }, { IDLE, 0, 'b' } },
		  .goes = "ab" },
		{ .what = "nobody is there", .processes = { { NONE, 0, 0 } }, .goes = "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(situations); i++) {
		const struct situation *at = &situations[i];
		struct victim rows[ROWS_MAX];
		size_t len = fill(at, rows);

		victims_for_disk(rows, len);
		expect(at, rows, len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_the_limit_of_memory_those_go),
		cmocka_unit_test(at_the_limit_of_the_disk_those_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
