/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/util.h"
#include "config/room.h"
#include "config/settings.h"

static void code_leaves_some_of_the_users_processes(void **state)
{
	static const struct {
		uint64_t left;
		uint64_t max;
	} cases[] = {
		{ UINT64_MAX, 256 }, { 400, 256 }, { 200, 150 }, { 80, 56 }, { 30, 16 }, { 0, 16 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct settings settings = { .limits.processes_max = 256 };

		room_limit_processes(&settings, cases[i].left);
		assert_int_equal(settings.limits.processes_max, cases[i].max);
		assert_int_equal(settings.notices != NULL, cases[i].max < 256);
		free(settings.notices);
	}
}

static void what_was_to_be_told_before_is_told_too(void **state)
{
	struct settings settings = { .limits.processes_max = 64, .notices = xstrdup("One.\n") };

	(void)state;
	room_limit_processes(&settings, 60);
	assert_string_equal(
		settings.notices,
		"One.\nPTYCELL_PROCESSES_MAX is 36 here: this user may have only 60 more "
		"processes and threads (ulimit -u, or its container), and ptycell needs some.\n");
	free(settings.notices);
}

static void as_many_sessions_fit_as_are_said_to(void **state)
{
	(void)state;
	assert_int_equal(room_sessions(256), 9);
	assert_int_equal(room_sessions(1024), 37);
	assert_true(room_for_session(8, 200, 256));
	assert_false(room_for_session(9, 100, 256));
	assert_false(room_for_session(1, 201, 256));
	assert_true(room_for_session(127, 2500, 4096));
}

/* Nothing is limited but this. */
static void lower(struct settings *settings, enum room_ulimit which, uint64_t hard)
{
	uint64_t all[ROOM_ULIMITS];

	memset(all, 0xff, sizeof(all));
	all[which] = hard;
	*settings = (struct settings){
		.limits = { .file_max = 1000, .memory_max = 1000, .cpu_max = 1000 }
	};
	room_limit_by_ulimits(settings, all);
}

static void limits_of_sessions_are_those_of_the_user_if_these_are_lower(void **state)
{
	static const struct {
		enum room_ulimit which;
		uint64_t hard;
		uint64_t file_max;
		uint64_t memory_max;
		uint64_t cpu_max;
	} cases[] = {
		{ ROOM_ULIMIT_FILE, UINT64_MAX, 1000, 1000, 1000 },
		{ ROOM_ULIMIT_FILE, 1000, 1000, 1000, 1000 },
		{ ROOM_ULIMIT_FILE, 999, 999, 1000, 1000 },
		{ ROOM_ULIMIT_DATA, 1000, 1000, 1000, 1000 },
		{ ROOM_ULIMIT_DATA, 999, 1000, 999, 1000 },
		{ ROOM_ULIMIT_ADDRESS, 1000, 1000, 1000, 1000 },
		{ ROOM_ULIMIT_ADDRESS, 999, 1000, 999, 1000 },
		{ ROOM_ULIMIT_CPU, 1067, 1000, 1000, 1000 },
		{ ROOM_ULIMIT_CPU, 1065, 1000, 1000, 999 },
		{ ROOM_ULIMIT_CPU, 11, 1000, 1000, 6 },
		{ ROOM_ULIMIT_CPU, 10, 1000, 1000, 5 },
		{ ROOM_ULIMIT_CPU, 1, 1000, 1000, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct settings settings;
		uint64_t sum = cases[i].file_max + cases[i].memory_max + cases[i].cpu_max;

		lower(&settings, cases[i].which, cases[i].hard);
		assert_int_equal(settings.limits.file_max, cases[i].file_max);
		assert_int_equal(settings.limits.memory_max, cases[i].memory_max);
		assert_int_equal(settings.limits.cpu_max, cases[i].cpu_max);
		assert_int_equal(settings.notices != NULL, sum < 3000);
		assert_int_equal(settings.limits.ulimits, sum < 3000 ? BIT(cases[i].which) : 0);
		free(settings.notices);
	}
}

static void the_users_limit_is_named_behind_the_sessions(void **state)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct settings settings;

	(void)state;
	lower(&settings, ROOM_ULIMIT_DATA, 500);
	assert_string_equal(settings.notices,
			    "PTYCELL_MEMORY_MAX is 500 here: ptycell was started with a limit of "
			    "the data of a process (ulimit -d), which holds for its sessions, too. "
			    "Raise that where ptycell is started.\n");
	room_explain_ulimits(&settings.limits, "1 GB (file_max).", &out);
	assert_int_equal(out.len, 0);
	room_explain_ulimits(&settings.limits, "500 (memory_max, and so on)", &out);
	assert_string_equal(buf_str(&out),
			    "memory_max is so low because the user's own limit of the data of a "
			    "process (ulimit -d) was in force when ptycell was started: the user "
			    "can raise that.\n");
	assert_int_equal(room_ulimits_of("file_max"), BIT(ROOM_ULIMIT_FILE));
	assert_int_equal(room_ulimits_of("memory_max"),
			 BIT(ROOM_ULIMIT_DATA) | BIT(ROOM_ULIMIT_ADDRESS));
	assert_int_equal(room_ulimits_of("disk_max"), 0);
	free(settings.notices);
}

static void a_limit_of_the_users_own_counts_until_a_session_lowers_it(void **state)
{
	char home[] = "HOME=/home/u";
	char *env[] = { home, NULL };
	struct settings *s = settings_load(0, NULL, env);
	struct session_limits limits;
	struct err err = { 0 };

	(void)state;
	s->limits.ulimits = room_ulimits_of("file_max");
	limits = s->limits;
	assert_int_equal(settings_clamp(s, &limits, "memory_max", 1, &err), 0);
	assert_int_equal(limits.ulimits, s->limits.ulimits);
	assert_int_equal(settings_clamp(s, &limits, "file_max", 1, &err), 0);
	assert_int_equal(limits.ulimits, 0);
	assert_int_equal(settings_clamp(s, &limits, "file_max", 1e18, &err), 0);
	assert_int_equal(limits.ulimits, s->limits.ulimits);
	settings_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_leaves_some_of_the_users_processes),
		cmocka_unit_test(what_was_to_be_told_before_is_told_too),
		cmocka_unit_test(as_many_sessions_fit_as_are_said_to),
		cmocka_unit_test(limits_of_sessions_are_those_of_the_user_if_these_are_lower),
		cmocka_unit_test(the_users_limit_is_named_behind_the_sessions),
		cmocka_unit_test(a_limit_of_the_users_own_counts_until_a_session_lowers_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
