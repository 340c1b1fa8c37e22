/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
	uint64_t deadline = clock_ms() + FIXTURE_PATIENCE_MS;

	while (told->times == 0 && clock_ms() < deadline)
		loop_turn(fixture.loop, 100);
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
		cmocka_unit_test_setup_teardown(freeing_the_launcher_drops_its_probes,
						fixture_set_up, fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
