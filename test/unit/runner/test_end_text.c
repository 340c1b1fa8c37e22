/* SPDX-License-Identifier: MIT */
/* test_end_text.c - limits that are behind the end of an interpreter. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "runner/end_text.h"
#include "runtime/language.h"
#include "sandbox/wire/wire.h"

static const struct language language = { .name = "toy", .env_override = "PTYCELL_TOY" };

static bool advises(const char *printed, enum crowd crowd, const char *words)
{
	cleanup_free char *advice = end_text_advice(&language, printed, crowd);

	return strstr(advice, words) != NULL;
}

/* Runs in a process of its own, which gets this limit. Returns whether `holds` does. */
static bool holds_within(__rlimit_resource_t resource, bool (*holds)(void))
{
	const struct rlimit limit = { (rlim_t)1 << 46, (rlim_t)1 << 46 };
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(setrlimit(resource, &limit) == 0 && holds() ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status == 0;
}

static bool names_address_space(void)
{
	return advises("no memory", CROWD_NONE, "(ulimit -v)");
}

static bool names_processor_time(void)
{
	return strstr(end_text_signal(SIGKILL | WIRE_OUT_OF_TIME), "(ulimit -t)") != NULL;
}

static void the_limit_that_is_in_the_way_is_named(void **state)
{
	(void)state;
	assert_true(advises("too many open files", CROWD_SESSION, "(ulimit -n)"));
	assert_true(advises("", CROWD_SESSION, "as many processes and threads as processes_max"));
	assert_true(advises("", CROWD_USER, "Other processes of the user took the room"));
	assert_true(advises("x: " END_TEXT_NO_PROCESS, CROWD_NONE, "No process or thread"));
	assert_true(advises("uv_thread_create", CROWD_NONE, "No process or thread"));
	assert_true(holds_within(RLIMIT_AS, names_address_space));
}

static void else_another_program_is_proposed(void **state)
{
	struct rlimit limit;

	(void)state;
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_max == RLIM_INFINITY)
		assert_true(advises("", CROWD_NONE, "Set PTYCELL_TOY to one that works"));
}

static void a_signal_is_explained_where_that_is_possible(void **state)
{
	(void)state;
	assert_string_equal(end_text_signal(SIGSEGV), "");
	assert_non_null(strstr(end_text_signal(SIGKILL), "`kill -9`"));
	assert_non_null(strstr(end_text_signal(SIGXCPU), "processor time"));
	assert_non_null(strstr(end_text_signal(SIGKILL | WIRE_OUT_OF_TIME), "had set itself"));
	assert_true(holds_within(RLIMIT_CPU, names_processor_time));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_limit_that_is_in_the_way_is_named),
		cmocka_unit_test(else_another_program_is_proposed),
		cmocka_unit_test(a_signal_is_explained_where_that_is_possible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
