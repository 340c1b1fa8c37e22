/* SPDX-License-Identifier: MIT */
/* test_confinement_text.c - every tier and layer has its text, and weaker tiers have a notice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "base/util.h"
#include "confinement/confinement_text.h"

static void each_layer_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < LAYERS; i++) {
		assert_non_null(confinement_layer_name((enum report_layer)i));
		for (int j = 0; j < i; j++)
			assert_string_not_equal(confinement_layer_name((enum report_layer)i),
						confinement_layer_name((enum report_layer)j));
	}
}

static void each_tier_below_the_strongest_is_told_to_people(void **state)
{
	(void)state;
	for (int i = 0; i < POLICY_TIERS; i++) {
		const char *text = confinement_tier_text((enum policy_tier)i, NULL);
		const char *notice = confinement_tier_notice((enum policy_tier)i, NULL);

		assert_int_equal(text[strlen(text) - 1], '.');
		assert_int_equal(notice == NULL, i == POLICY_NAMESPACES);
	}
	assert_non_null(strstr(confinement_tier_notice(POLICY_UNCONFINED, NULL), "--unconfined"));
	assert_non_null(
		strstr(confinement_tier_notice(POLICY_LANDLOCK, NULL), "weakest tier, landlock"));
}

/* Only where the tier promises a /proc of the session's own. */
static void a_proc_that_is_the_machines_is_told(void **state)
{
	struct sandbox_report report = { .tier = POLICY_NAMESPACES };

	(void)state;
	assert_null(confinement_proc_notice(NULL));
	assert_non_null(strstr(confinement_proc_notice(&report), "all processes"));
	report.layers = BIT(LAYER_PRIVATE_PROC);
	assert_null(confinement_proc_notice(&report));
	report = (struct sandbox_report){ .tier = POLICY_LANDLOCK };
	assert_null(confinement_proc_notice(&report));
}

/* What /proc hides is not told as seen: neither in tier landlock nor where parts of it are masked.
 */
static void hidden_processes_are_not_told_as_seen(void **state)
{
	const struct sandbox_report hides = { .tier = POLICY_LANDLOCK,
					      .layers = BIT(LAYER_HIDDEN_PROCESSES) };
	const struct sandbox_report shows = { .tier = POLICY_LANDLOCK };
	const struct sandbox_report masked = { .tier = POLICY_NAMESPACES,
					       .layers = BIT(LAYER_HIDDEN_PROCESSES) };

	(void)state;
	assert_null(confinement_proc_notice(&masked));
	assert_non_null(strstr(confinement_tier_text(POLICY_LANDLOCK, &shows), "command lines"));
	assert_non_null(strstr(confinement_tier_notice(POLICY_LANDLOCK, &shows), "command lines"));
	assert_null(strstr(confinement_tier_text(POLICY_LANDLOCK, &hides), "command lines"));
	assert_null(strstr(confinement_tier_notice(POLICY_LANDLOCK, &hides), "command lines"));
	assert_non_null(strstr(confinement_tier_text(POLICY_LANDLOCK, &hides), "kernel keys"));
	assert_non_null(strstr(confinement_tier_notice(POLICY_LANDLOCK, &hides), "modes"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_layer_has_a_name_of_its_own),
		cmocka_unit_test(each_tier_below_the_strongest_is_told_to_people),
		cmocka_unit_test(a_proc_that_is_the_machines_is_told),
		cmocka_unit_test(hidden_processes_are_not_told_as_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
