/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "interpreter_fixture.h"

struct told {
	int times;
	struct sandbox_report report;
	struct err err;
};

static void on_report(void *data, const struct sandbox_report *report, const struct err *err)
{
	struct told *told = data;

	told->times++;
	assert_true((report == NULL) != (err == NULL));
	if (report != NULL)
		told->report = *report;
	if (err != NULL)
		told->err = *err;
}

static void wait_for(const struct told *told)
{
	patience_turn_until(fixture.loop, told->times != 0);
	assert_int_equal(told->times, 1);
}

static void a_probe_reports_a_reason_for_every_tier_that_is_not_had(void **state)
{
	struct told told = { 0 };

	(void)state;
	launcher_probe(fixture.launcher, on_report, &told);
	wait_for(&told);
	assert_int_equal(told.err.code, ERR_NONE);
	assert_in_range(told.report.tier, 0, POLICY_TIERS - 1);
	for (int32_t tier = told.report.tier + 1; tier < POLICY_TIERS; tier++)
		assert_string_not_equal(told.report.reason[tier], "");
	if (told.report.tier == POLICY_UNCONFINED)
		return;
	assert_string_equal(told.report.reason[told.report.tier], "");
	assert_true(told.report.canaries > 10);
	assert_int_equal(told.report.through, 0);
	assert_true((told.report.layers & BIT(LAYER_SECCOMP)) != 0);
	if (told.report.tier == POLICY_NAMESPACES)
		assert_int_equal(told.report.layers & (BIT(LAYER_PRIVATE_PTY + 1) - 1) &
					 ~BIT(LAYER_PRIVATE_PROC),
				 (BIT(LAYER_PRIVATE_PTY + 1) - 1) & ~BIT(LAYER_PRIVATE_PROC));
}

static void a_probe_without_a_launcher_fails_from_the_loop(void **state)
{
	struct launcher *none = launcher_new(fixture.loop, "/nonexistent/ptycell-launcher");
	struct told told = { 0 };

	(void)state;
	launcher_probe(none, on_report, &told);
	assert_int_equal(told.times, 0);
	wait_for(&told);
	assert_int_equal(told.err.code, ERR_SYSTEM);
	launcher_free(none);
}

static size_t count_children(void)
{
	cleanup_free char *path = xasprintf("/proc/self/task/%d/children", (int)getpid());
	FILE *file = fopen(path, "re");
	size_t count = 0;
	int pid;

	assert_non_null(file);
	while (fscanf(file, "%d", &pid) == 1)
		count++;
	(void)fclose(file);
	return count;
}

static void a_launcher_that_was_started_ahead_is_the_one_that_works(void **state)
{
	struct launcher *none = launcher_new(fixture.loop, "/nonexistent/ptycell-launcher");
	struct launcher *launcher = launcher_new(fixture.loop, LAUNCHER);
	size_t others = count_children();
	struct told told = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(launcher_start(none, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	launcher_free(none);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(launcher_start(launcher, &err), 0);
		assert_int_equal(count_children(), others + 1);
	}
	launcher_probe(launcher, on_report, &told);
	wait_for(&told);
	assert_int_equal(count_children(), others + 1);
	launcher_free(launcher);
	assert_int_equal(count_children(), others);
}

static void freeing_the_launcher_drops_its_probes(void **state)
{
	struct launcher *launcher = launcher_new(fixture.loop, LAUNCHER);
	struct told told = { 0 };

	(void)state;
	launcher_probe(launcher, on_report, &told);
	launcher_free(launcher);
	loop_turn(fixture.loop, 0);
	assert_int_equal(told.times, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_probe_reports_a_reason_for_every_tier_that_is_not_had, fixture_set_up,
			fixture_tear_down),
		cmocka_unit_test_setup_teardown(a_probe_without_a_launcher_fails_from_the_loop,
						fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(
			a_launcher_that_was_started_ahead_is_the_one_that_works, fixture_set_up,
			fixture_tear_down),
		cmocka_unit_test_setup_teardown(freeing_the_launcher_drops_its_probes,
						fixture_set_up, fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
