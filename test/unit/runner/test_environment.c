/* SPDX-License-Identifier: MIT */
/*
 * test_environment.c - arguments and environment of an interpreter, and the user's variables in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "config/user_env.h"
#include "runner/environment.h"
#include "session_fixture.h"

static struct workspace *workspace;

static int set_up(void **state)
{
	struct err err;

	(void)state;
	fixture_open();
	workspace = workspace_new(fixture.home, &err);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	workspace_free(workspace);
	fixture_close();
	return 0;
}

static const char *value_of(char *const *environment, const char *name)
{
	size_t len = strlen(name);
	const char *found = NULL;

	for (; *environment != NULL; environment++)
		if (strncmp(*environment, name, len) == 0 && (*environment)[len] == '=') {
			assert_null(found); /* once only */
			found = *environment + len + 1;
		}
	return found;
}

static char **make(const char *path, enum environment_network network,
		   const struct user_env *user_env)
{
	return environment_new(&(struct environment_spec){ .language = &fixture_language,
							   .workspace = workspace,
							   .path = path,
							   .network = network,
							   .user_env = user_env,
							   .memory_max = (uint64_t)1 << 30 });
}

static void arguments_follow_the_interpreters_path(void **state)
{
	char **argv;

	(void)state;
	fixture_start_with(STEPS("ready", "hang"));
	argv = environment_argv(&fixture_language, "/opt/x/fake");
	assert_string_equal(argv[0], "/opt/x/fake");
	assert_string_equal(argv[1], "ready");
	assert_string_equal(argv[2], "hang");
	assert_null(argv[3]);
	environment_free(argv);
}

static void nothing_of_the_servers_environment_goes_in(void **state)
{
	cleanup_free char *packages = NULL;
	char **environment;

	(void)state;
	assert_int_equal(setenv("SECRET_TOKEN", "x", 1), 0);
	assert_int_equal(setenv("PYTHONPATH", "/evil", 1), 0);
	environment = make("/usr/bin/fake", ENVIRONMENT_NONE, NULL);
	assert_null(value_of(environment, "SECRET_TOKEN"));
	packages = xasprintf("%s/python:%s/ask/modules:%s/.cache/packages",
			     workspace_packages_path(workspace), workspace_packages_path(workspace),
			     workspace_data_path(workspace));
	assert_string_equal(value_of(environment, "PYTHONPATH"), packages);
	assert_string_equal(value_of(environment, "HOME"), workspace_data_path(workspace));
	assert_string_equal(value_of(environment, "PAGER"), "cat");
	assert_string_equal(value_of(environment, "LC_ALL"), "C.UTF-8");
	assert_string_equal(value_of(environment, "NODE_OPTIONS"), "--max-old-space-size=800");
	assert_string_equal(value_of(environment, "FAKE"), "yes"); /* the language's own */
	environment_free(environment);
}

static void a_proxied_session_is_told_of_its_proxy_and_another_is_not(void **state)
{
	char **plain = make("/usr/bin/fake", ENVIRONMENT_NONE, NULL);
	char **proxied = make("/usr/bin/fake", ENVIRONMENT_PROXY, NULL);

	(void)state;
	assert_int_equal(setenv("https_proxy", "http://me:secret@proxy.example:1", 1), 0);
	assert_null(value_of(plain, "https_proxy"));
	assert_string_equal(value_of(proxied, "https_proxy"), "http://127.0.0.1:3128");
	assert_string_equal(value_of(proxied, "HTTP_PROXY"), "http://127.0.0.1:3128");
	assert_string_equal(value_of(proxied, "no_proxy"), "localhost,127.0.0.1,::1");
	environment_free(plain);
	environment_free(proxied);
}

static void who_reaches_nothing_is_told_not_to_try_again(void **state)
{
	static const enum environment_network rows[] = { ENVIRONMENT_NONE, ENVIRONMENT_PROXY,
							 ENVIRONMENT_HOST };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char **environment = make("/usr/bin/fake", rows[i], NULL);
		bool reports = rows[i] == ENVIRONMENT_NONE;

		assert_int_equal(value_of(environment, "PIP_RETRIES") != NULL, reports);
		assert_int_equal(value_of(environment, "npm_config_fetch_retries") != NULL,
				 reports);
		environment_free(environment);
	}
}

static void who_runs_cells_again_stores_no_bytecode(void **state)
{
	(void)state;
	for (int again = 0; again < 2; again++) {
		char **environment = environment_new(&(struct environment_spec){
			.language = &fixture_language,
			.workspace = workspace,
			.path = "/usr/bin/fake",
			.runs_again = again == 1,
		});

		assert_int_equal(value_of(environment, "PYTHONDONTWRITEBYTECODE") != NULL, again);
		environment_free(environment);
	}
}

static void what_the_person_passes_goes_before_all_else(void **state)
{
	static char name[] = "PAGER";
	static char other[] = "REGION";
	static char value[] = "less=1";
	struct user_env_variable items[] = { { .name = name, .value = value },
					     { .name = other, .value = value, .secret = true } };
	const struct user_env user_env = { .items = items, .count = ARRAY_SIZE(items) };
	char **environment = make("/usr/bin/fake", ENVIRONMENT_NONE, &user_env);
	size_t pagers = 0;

	(void)state;
	for (size_t i = 0; environment[i] != NULL; i++)
		pagers += strncmp(environment[i], "PAGER=", 6) == 0 ? 1 : 0;
	assert_int_equal(pagers, 1);
	assert_string_equal(value_of(environment, "PAGER"), "less=1");
	assert_string_equal(value_of(environment, "REGION"), "less=1");
	environment_free(environment);
}

static void the_interpreters_own_folder_is_searched_first(void **state)
{
	static const struct {
		const char *path;
		const char *search;
	} rows[] = {
		{ "/usr/bin/python3", "/usr/local/bin:/usr/bin:/bin" },
		{ "/opt/venv/bin/python", "/opt/venv/bin:/usr/local/bin:/usr/bin:/bin" },
		{ "/usr/binx/python", "/usr/binx:/usr/local/bin:/usr/bin:/bin" },
		{ "/python", "/usr/local/bin:/usr/bin:/bin" },
		{ "python", "/usr/local/bin:/usr/bin:/bin" },
	};
	const char *packages = workspace_packages_path(workspace);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char **environment = make(rows[i].path, ENVIRONMENT_NONE, NULL);

		cleanup_free char *search = xasprintf(
			"%s/ask/bin:%s:%s/python/bin:%s/javascript/node_modules/.bin:%s/.cache/packages/bin",
			packages, rows[i].search, packages, packages,
			workspace_data_path(workspace));

		assert_string_equal(value_of(environment, "PATH"), search);
		environment_free(environment);
	}
}

static void a_shell_finds_the_python_that_packages_are_for(void **state)
{
	static const struct {
		const char *path;
		const char *python;
		const char *search;
	} rows[] = {
		{ "/usr/bin/bash", "/opt/venv/bin/python", ":/opt/venv/bin:/usr/local/bin:" },
		{ "/opt/venv/bin/python", "/opt/venv/bin/python",
		  ":/opt/venv/bin:/usr/local/bin:" },
		{ "/opt/r/bin/R", "/opt/venv/bin/python",
		  ":/opt/r/bin:/opt/venv/bin:/usr/local/bin:" },
		{ "/usr/bin/bash", "/usr/bin/python3", "/ask/bin:/usr/local/bin:" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char **environment =
			environment_new(&(struct environment_spec){ .language = &fixture_language,
								    .workspace = workspace,
								    .path = rows[i].path,
								    .python = rows[i].python });

		assert_non_null(strstr(value_of(environment, "PATH"), rows[i].search));
		environment_free(environment);
	}
}

static void results_go_to_output_in_the_working_folder(void **state)
{
	cleanup_free char *output = environment_output_folder(workspace);
	size_t len = strlen(workspace_data_path(workspace));

	(void)state;
	assert_memory_equal(output, workspace_data_path(workspace), len);
	assert_string_equal(output + len, "/output");
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(arguments_follow_the_interpreters_path),
		WITH(nothing_of_the_servers_environment_goes_in),
		WITH(a_proxied_session_is_told_of_its_proxy_and_another_is_not),
		WITH(who_reaches_nothing_is_told_not_to_try_again),
		WITH(who_runs_cells_again_stores_no_bytecode),
		WITH(what_the_person_passes_goes_before_all_else),
		WITH(the_interpreters_own_folder_is_searched_first),
		WITH(a_shell_finds_the_python_that_packages_are_for),
		WITH(results_go_to_output_in_the_working_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
