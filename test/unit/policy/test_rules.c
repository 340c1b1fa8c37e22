/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "policy/policyfile.h"
#include "policy/rules.h"
#include "scratch.h"

static struct policyfile *load(const char *text)
{
	struct scratch scratch;
	struct policyfile *policy;
	cleanup_free char *path = NULL;
	struct err err;

	scratch_init(&scratch);
	scratch_write(scratch.fd, "policy.json", text);
	path = xasprintf("%s/policy.json", scratch.path);
	policy = policyfile_load(path, &err);
	scratch_release(&scratch);
	assert_non_null(policy);
	return policy;
}

static void assert_lines(const char *text, const char *expected)
{
	struct policyfile *policy = load(text);
	cleanup_free char *lines = rules_lines(policy);
	struct err err;

	assert_int_equal(rules_check(policy, &err), 0);
	if (expected == NULL)
		assert_null(lines);
	else
		assert_string_equal(lines, expected);
	policyfile_free(policy);
}

static void assert_refused(const char *text, const char *part)
{
	struct policyfile *policy = load(text);
	struct err err;

	assert_int_equal(rules_check(policy, &err), -1);
	if (strstr(err.msg, part) == NULL || strstr(err.msg, "policy.json': ") == NULL)
		fail_msg("'%s' is not in '%s'", part, err.msg);
	policyfile_free(policy);
}

static void rules_become_lines_in_the_order_of_the_file(void **state)
{
	(void)state;
	assert_lines("{\"python\":{\"rules\":{\"shell\":\"warn\",\"import:a.b\":\"off\","
		     "\"attribute:os.exec*\":\"enforce\"}}}",
		     "shell warn\nimport:a.b off\nattribute:os.exec* enforce\n");
}

static void without_a_rule_that_is_on_there_are_no_lines(void **state)
{
	(void)state;
	assert_lines("{}", NULL);
	assert_lines("{\"python\":{\"rules\":{\"imports\":\"off\",\"magic:run\":\"off\"}}}", NULL);
	assert_lines("{\"javascript\":{\"rules\":{}}}", NULL);
}

static void what_is_no_rule_is_named(void **state)
{
	(void)state;
	assert_refused("{\"python\":{\"rules\":{\"shell\":\"off\",\"imprts\":\"off\"}}}",
		       "python.rules.imprts is none of imports,");
	assert_refused("{\"python\":{\"rules\":{\"import:\":\"off\"}}}", "is none of");
	assert_refused("{\"python\":{\"rules\":{\"imports:a\":\"off\"}}}", "is none of");
	assert_refused("{\"python\":{\"rules\":{\"shell:a off\\nimports\":\"off\"}}}",
		       "is none of");
}

static void only_python_has_rules(void **state)
{
	(void)state;
	assert_refused("{\"javascript\":{\"rules\":{\"imports\":\"off\"}}}",
		       "only python has rules");
	assert_refused("{\"r\":{\"rules\":{\"shell\":\"warn\"}}}", "r.rules.shell");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_become_lines_in_the_order_of_the_file),
		cmocka_unit_test(without_a_rule_that_is_on_there_are_no_lines),
		cmocka_unit_test(what_is_no_rule_is_named),
		cmocka_unit_test(only_python_has_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
