/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/util.h"
#include "policy/policyfile.h"
#include "scratch.h"

struct fixture {
	struct scratch scratch;
	char *path;
	struct policyfile *policy;
};

static int setup(void **state)
{
	static struct fixture f;

	scratch_init(&f.scratch);
	f.path = xasprintf("%s/policy.json", f.scratch.path);
	f.policy = NULL;
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	policyfile_free(f->policy);
	free(f->path);
	scratch_release(&f->scratch);
	return 0;
}

static void load(struct fixture *f, const char *text)
{
	struct err err = { .msg = "" };

	scratch_write(f->scratch.fd, "policy.json", text);
	f->policy = policyfile_load(f->path, &err);
	if (f->policy == NULL)
		print_error("%s\n", err.msg);
	assert_non_null(f->policy);
}

/* The message, which lives until the next call. */
static const char *refusal(struct fixture *f, const char *text)
{
	static struct err err;

	scratch_write(f->scratch.fd, "policy.json", text);
	assert_null(policyfile_load(f->path, &err));
	assert_non_null(strstr(err.msg, "the policy file '"));
	return err.msg;
}

static const char *minimum(const struct fixture *f, const char *name)
{
	const json_t *section = policyfile_packages(f->policy, "python");

	return json_string_value(json_object_get(json_object_get(section, "minimum"), name));
}

static void without_a_file_only_minimum_versions_hold(void **state)
{
	struct fixture *f = *state;
	const json_t *python;
	enum policyfile_mode mode;
	struct err err;

	f->policy = policyfile_load(NULL, &err);
	python = policyfile_packages(f->policy, "python");
	assert_null(policyfile_path(f->policy));
	assert_string_equal(minimum(f, "pillow"), "9.0.0");
	assert_int_equal(json_array_size(json_object_get(python, "allow")), 0);
	assert_int_equal(json_array_size(json_object_get(python, "block")), 0);
	assert_true(json_is_array(
		json_object_get(policyfile_packages(f->policy, "javascript"), "block")));
	assert_null(policyfile_rule_at(f->policy, "python", 0, &mode));
}

static void a_file_says_lists_and_rules(void **state)
{
	struct fixture *f = *state;
	enum policyfile_mode mode = POLICYFILE_OFF;
	const json_t *block;

	load(f, "{\"python\": {\"block\": [\"paramiko\"], \"rules\": {\"imports\": \"warn\", "
		"\"builtins\": \"enforce\"}}, \"r\": null}");
	block = json_object_get(policyfile_packages(f->policy, "python"), "block");
	assert_string_equal(policyfile_path(f->policy), f->path);
	assert_string_equal(json_string_value(json_array_get(block, 0)), "paramiko");
	assert_string_equal(minimum(f, "numpy"), "1.22.2");
	assert_string_equal(policyfile_rule_at(f->policy, "python", 0, &mode), "imports");
	assert_int_equal(mode, POLICYFILE_WARN);
	assert_null(policyfile_rule_at(f->policy, "javascript", 0, &mode));
	assert_string_equal(policyfile_rule_at(f->policy, "python", 1, &mode), "builtins");
	assert_int_equal(mode, POLICYFILE_ENFORCE);
	assert_null(policyfile_rule_at(f->policy, "python", 2, &mode));
}

static void its_minimum_replaces_ours(void **state)
{
	struct fixture *f = *state;

	load(f, "{\"python\": {\"minimum\": {\"six\": \"1.16\"}}}");
	assert_string_equal(minimum(f, "six"), "1.16");
	assert_null(minimum(f, "pillow"));
}

static void a_mistake_is_named_with_its_place(void **state)
{
	static const char *const no_ages[] = {
		"", "d", "7", "7m", "7 d", "-7d", "7d7d", "100000d"
	};
	struct fixture *f = *state;

	assert_non_null(strstr(refusal(f, "["), "the policy file"));
	assert_non_null(strstr(refusal(f, "[]"), "must be an object"));
	assert_non_null(strstr(refusal(f, "{\"pyton\": {}}"), "pyton"));
	assert_non_null(strstr(refusal(f, "{\"python\": {\"deny\": []}}"), "deny"));
	assert_non_null(strstr(refusal(f, "{\"python\": {\"allow\": \"x\"}}"), "python.allow"));
	assert_non_null(strstr(refusal(f, "{\"python\": {\"block\": [1]}}"), "python.block"));
	assert_non_null(strstr(refusal(f, "{\"r\": {\"minimum_age\": \"7d\"}}"),
			       "r.minimum_age cannot be kept"));
	assert_non_null(strstr(refusal(f, "{\"python\": {\"minimum_age\": 7}}"),
			       "python.minimum_age must be"));
	for (size_t i = 0; i < ARRAY_SIZE(no_ages); i++) {
		cleanup_free char *text =
			xasprintf("{\"python\": {\"minimum_age\": \"%s\"}}", no_ages[i]);

		assert_non_null(strstr(refusal(f, text), "must be a number and h, d or w"));
	}
	load(f, "{\"python\": {\"minimum_age\": \"99999w\"}, "
		"\"javascript\": {\"minimum_age\": \"7d\"}}");
	assert_non_null(f->policy);
	assert_non_null(strstr(refusal(f, "{\"python\": {\"minimum\": {\"a\": 1}}}"),
			       "python.minimum.a must be a version"));
	assert_non_null(strstr(refusal(f, "{\"python\": {\"rules\": {\"x\": \"on\"}}}"),
			       "python.rules.x must be off, warn or enforce"));
}

/* Each would mean no package at all, and a list with it would hold back less than it says. */
static void an_entry_that_is_no_name_is_refused(void **state)
{
	static const char *const rows[][2] = {
		{ "python", "six==1.16.0" },
		{ "python", "six<2" },
		{ "python", "six " },
		{ "python", " six" },
		{ "python", "six\u00a0" },
		{ "python", "six\u200b" },
		{ "python", "six[x]" },
		{ "python", "six, attrs" },
		{ "python", "" },
		{ "python", "si*x" },
		{ "python", "\u0455ix" },
		{ "python", "@a/b" },
		{ "python", "si?" },
		{ "javascript", "six@1" },
		{ "javascript", "@a/b@1" },
		{ "javascript", "a/b" },
		{ "javascript", "@a/b/c" },
		{ "r", "six (>= 1)" },
		{ "r", "six;" },
		{ "javascript", "six\u200b" },
	};
	static const char *const lists[] = { "allow", "block" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_free char *minimum = xasprintf("{\"%s\": {\"minimum\": {\"%s\": \"1\"}}}",
						       rows[i][0], rows[i][1]);

		for (size_t k = 0; k < ARRAY_SIZE(lists); k++) {
			cleanup_free char *text = xasprintf("{\"%s\": {\"%s\": [\"%s\"]}}",
							    rows[i][0], lists[k], rows[i][1]);

			assert_non_null(strstr(refusal(f, text), "is no package's name"));
		}
		assert_non_null(strstr(refusal(f, minimum), "is no package's name"));
	}
	load(f, "{\"python\": {\"block\": [\"*\", \"google-cloud-*\", \"Cx_Freeze\", \"num.py\"]}, "
		"\"javascript\": {\"block\": [\"@evil/*\", \"@a/b\", \"@a*\", \"-\", \"JSON*\"]}, "
		"\"r\": {\"block\": [\"data.table\"]}}");
}

static void a_minimum_that_is_no_version_is_refused(void **state)
{
	static const char *const versions[] = { "", ">=2", "^2.0.0", "~2", "2.*", "x", "2 ", "=2" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		cleanup_free char *text = xasprintf(
			"{\"javascript\": {\"minimum\": {\"six\": \"%s\"}}}", versions[i]);

		assert_non_null(strstr(refusal(f, text),
				       "javascript.minimum.six must be a version in quotes"));
	}
	load(f, "{\"python\": {\"minimum\": {\"a\": \"1!2.0rc1.post2+cu118\", \"b\": \"v2\"}}, "
		"\"r\": {\"minimum\": {\"x\": \"0.9-2\"}}}");
}

static void a_file_that_is_not_there_is_named(void **state)
{
	struct fixture *f = *state;
	struct err err;

	assert_null(policyfile_load(f->path, &err));
	assert_non_null(strstr(err.msg, f->path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_a_file_only_minimum_versions_hold, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_file_says_lists_and_rules, setup, teardown),
		cmocka_unit_test_setup_teardown(its_minimum_replaces_ours, setup, teardown),
		cmocka_unit_test_setup_teardown(a_mistake_is_named_with_its_place, setup, teardown),
		cmocka_unit_test_setup_teardown(an_entry_that_is_no_name_is_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_minimum_that_is_no_version_is_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_file_that_is_not_there_is_named, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
