/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "interpreter_fixture.h"

struct outcome {
	int times;
	struct sandbox_report report;
	struct err err;
};

static void on_report(void *data, const struct sandbox_report *report, const struct err *err)
{
	struct outcome *outcome = data;

	outcome->times++;
	assert_true((report == NULL) != (err == NULL));
	if (report != NULL)
		outcome->report = *report;
	if (err != NULL)
		outcome->err = *err;
}

static void wait_for(const struct outcome *outcome)
{
	patience_turn_until(fixture.loop, outcome->times != 0);
	assert_int_equal(outcome->times, 1);
}

static void a_probe_reports_a_reason_for_every_tier_that_is_not_had(void **state)
{
	struct outcome outcome = { 0 };

	(void)state;
	launcher_probe(fixture.launcher, on_report, &outcome);
	wait_for(&outcome);
	assert_int_equal(outcome.err.code, ERR_NONE);
	assert_in_range(outcome.report.tier, 0, POLICY_TIERS - 1);
	for (int32_t tier = outcome.report.tier + 1; tier < POLICY_TIERS; tier++)
		assert_string_not_equal(outcome.report.reason[tier], "");
	if (outcome.report.tier == POLICY_UNCONFINED)
		return;
	assert_string_equal(outcome.report.reason[outcome.report.tier], "");
	assert_true(outcome.report.escape_tests > 10);
	assert_int_equal(outcome.report.escaped, 0);
	assert_true((outcome.report.layers & BIT(LAYER_SECCOMP)) != 0);
	if (outcome.report.tier == POLICY_NAMESPACES)
		assert_int_equal(outcome.report.layers & (BIT(LAYER_PRIVATE_PTY + 1) - 1) &
					 ~BIT(LAYER_PRIVATE_PROC),
				 (BIT(LAYER_PRIVATE_PTY + 1) - 1) & ~BIT(LAYER_PRIVATE_PROC));
}

static void a_probe_without_a_launcher_fails_from_the_loop(void **state)
{
	struct launcher *none = launcher_new(fixture.loop, "/nonexistent/ptycell-launcher");
	struct outcome outcome = { 0 };

	(void)state;
	launcher_probe(none, on_report, &outcome);
	assert_int_equal(outcome.times, 0);
	wait_for(&outcome);
	assert_int_equal(outcome.err.code, ERR_SYSTEM);
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
	struct outcome outcome = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(launcher_start(none, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	launcher_free(none);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(launcher_start(launcher, &err), 0);
		assert_int_equal(count_children(), others + 1);
	}
	launcher_probe(launcher, on_report, &outcome);
	wait_for(&outcome);
	assert_int_equal(count_children(), others + 1);
	launcher_free(launcher);
	assert_int_equal(count_children(), others);
}

static void freeing_the_launcher_drops_its_probes(void **state)
{
	struct launcher *launcher = launcher_new(fixture.loop, LAUNCHER);
	struct outcome outcome = { 0 };

	(void)state;
	launcher_probe(launcher, on_report, &outcome);
	launcher_free(launcher);
	loop_turn(fixture.loop, 0);
	assert_int_equal(outcome.times, 0);
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
