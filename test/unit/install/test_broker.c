/* SPDX-License-Identifier: MIT */
/* Installations from the first call to the last answer; the installer is a script of the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fd.h"
#include "install/broker.h"
#include "json/make.h"
#include "policy/policyfile.h"
#include "session_fixture.h"

enum { HELD_MAX = 4 };

#define ONE_FILE                                                                                   \
	"{\"ok\": true, \"files\": [{\"file\": \"a\", \"sha256\": \"1\"}], \"present\": []}"
#define ONE_ROW "{\"ok\": true, \"packages\": [{\"name\": \"a\", \"version\": \"1.0\"}]}"
#define FETCH "echo fetched >> \"$0.log\"; say '" ONE_FILE "'"
#define UNPACK "mkdir site; echo 'x = 1' > site/a.py; say '" ONE_ROW "'"

struct told {
	int count;
	bool went_well;
	bool cached;
	size_t packages;
	char problem[400];
};

static struct broker *broker;
static struct policyfile *policy;
static struct session *session;
static char *program;
static char *environment[3];
static struct language python;
static struct told told[HELD_MAX];

/* What the installer does in each step: lines of a shell script; `say` answers. */
static void script(const char *fetch, const char *unpack)
{
	cleanup_free char *text = xasprintf(
		"#!/bin/sh\nread -r order <&3\nsay() { printf '%%s\\n' \"$1\" >&3; }\n"
		"case $order in *'\"step\":'*fetch*) %s;; *) %s;; esac\nread -r more <&3\n",
		fetch, unpack);

	scratch_write(fixture.scratch.fd, "installer", text);
	assert_int_equal(fchmodat(fixture.scratch.fd, "installer", 0755, 0), 0);
}

static int set_up(void **state)
{
	struct err err = { 0 };

	(void)state;
	fixture_open();
	memset(told, 0, sizeof(told));
	program = xasprintf("%s/installer", fixture.scratch.path);
	environment[0] = xasprintf("PTYCELL_FAKE=%s", program);
	environment[1] = xstrdup("PATH=/usr/bin:/bin");
	python = fixture_language;
	python.name = "python";
	fixture.settings.environment = environment;
	fixture.settings.pip_index = fixture.scratch.path;
	fixture.settings.install_timeout = 600;
	fixture.settings.install_max = 1 << 20;
	fixture.settings.install_files_max = 100;
	fixture.settings.packages_max = 1 << 20;
	script(FETCH, UNPACK);
	policy = policyfile_load(NULL, &err);
	broker = broker_new(&fixture.host, policy, &err);
	session = session_new(&fixture.host, "test", 1, NULL, NULL, &err);
	if (broker == NULL || session == NULL)
		fail_msg("%s", err.msg);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	broker_end(broker);
	session_free(session, "the test ended");
	launcher_free(fixture.launcher);
	fixture.launcher = NULL;
	broker_free(broker);
	policyfile_free(policy);
	fixture_close();
	free(program);
	free(environment[0]);
	free(environment[1]);
	return 0;
}

static void on_done(void *data, const json_t *result, const char *problem)
{
	struct told *t = data;

	assert_true((result == NULL) != (problem == NULL));
	t->count++;
	t->went_well = result != NULL;
	t->cached = json_is_true(json_object_get(result, "cached"));
	t->packages = json_array_size(json_object_get(result, "packages"));
	(void)snprintf(t->problem, sizeof(t->problem), "%s", problem != NULL ? problem : "");
}

static struct install *start(const char *package, size_t index)
{
	cleanup_json json_t *packages = json_pack("[s]", package);
	const struct install_request wish = { .language = &python, .packages = packages };
	struct err err = { 0 };
	struct install *install =
		broker_install(broker, session, &wish, on_done, &told[index], &err);

	if (install == NULL)
		fail_msg("%s", err.msg);
	return install;
}

static const struct told *install(const char *package)
{
	memset(&told[0], 0, sizeof(told[0]));
	(void)start(package, 0);
	fixture_until(told[0].count > 0);
	assert_int_equal(told[0].count, 1);
	return &told[0];
}

static void refused(const char *what)
{
	const struct told *t = install("a");

	assert_false(t->went_well);
	if (strstr(t->problem, what) == NULL)
		fail_msg("'%s' is not in '%s'", what, t->problem);
}

static bool has_file(void)
{
	int packages = workspace_packages_fd(session_workspace(session));

	return faccessat(packages, "python/a.py", R_OK, 0) == 0;
}

static void renew_session(void)
{
	struct err err = { 0 };

	broker_end_folder(broker, workspace_name(session_workspace(session)));
	session_free(session, "another one comes");
	session = session_new(&fixture.host, "test", 2, NULL, NULL, &err);
	assert_non_null(session);
}

static void a_set_is_fetched_once_and_comes_from_the_cache_then(void **state)
{
	cleanup_json json_t *wanted = json_pack("[s]", "a");
	cleanup_json json_t *listed = NULL;
	cleanup_free char *log = NULL;

	(void)state;
	assert_false(broker_has(broker, session, &python, wanted));
	if (!install("a")->went_well)
		fail_msg("%s", told[0].problem);
	assert_false(told[0].cached);
	assert_int_equal(told[0].packages, 1);
	assert_true(has_file());
	assert_true(broker_has(broker, session, &python, wanted));
	listed = broker_list(broker, session);
	assert_int_equal(json_array_size(listed), 1);
	renew_session();
	assert_false(has_file());
	assert_true(install("a")->cached);
	assert_true(has_file());
	log = scratch_read(fixture.scratch.fd, "installer.log");
	assert_string_equal(log, "fetched\n");
}

static void a_set_whose_build_may_run_code_is_never_shared(void **state)
{
	(void)state;
	fixture.settings.install_builds = true;
	for (int i = 0; i < 2; i++) {
		assert_true(install("a")->went_well);
		assert_false(told[0].cached);
		assert_true(has_file());
		renew_session();
	}
}

static void an_entry_that_was_changed_is_made_anew(void **state)
{
	cleanup_free char *change = xasprintf("chmod u+w %s/home/packages/sets/*/files/a.py; "
					      "echo y > %s/home/packages/sets/*/files/a.py",
					      fixture.scratch.path, fixture.scratch.path);
	pid_t pid;
	int status = -1;

	(void)state;
	assert_true(install("a")->went_well);
	renew_session();
	pid = fork();
	if (pid == 0) {
		(void)execlp("bash", "bash", "-c", change, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(install("a")->went_well);
	assert_false(told[0].cached);
}

static void a_refusal_is_passed_on(void **state)
{
	(void)state;
	script("say '{\"ok\": false, \"text\": \"Refused by the policy.\"}'", "exit 9");
	refused("Refused by the policy.");
	script(FETCH, "say '{\"ok\": false, \"text\": \"No wheel.\"}'");
	refused("No wheel.");
	assert_false(has_file());
}

static void an_installer_that_fails_is_told(void **state)
{
	(void)state;
	script("say nonsense", "exit 9");
	refused("It could not be installed: the installer");
	script("say '{}'", "exit 9");
	refused("its answer is none");
	script("echo no memory here; exit 1", "exit 9");
	refused("ended without an answer: no memory here");
	script("head -c 9000000 /dev/zero | tr '\\0' a >&3", "exit 9");
	refused("says too much");
	script(FETCH, "say '" ONE_ROW "'"); /* and nothing is there */
	refused("could not be stored");
	assert_int_equal(unlinkat(fixture.scratch.fd, "installer", 0), 0);
	refused("Nothing was installed: PTYCELL_FAKE is");
	assert_false(has_file());
}

/* The clock of these tests stands still but for what they let pass. */
static void wait_for_log(const char *name)
{
	fixture_until(scratch_exists(fixture.scratch.fd, name));
}

static void what_it_says_is_read_as_far_as_it_is_kept(void **state)
{
	cleanup_free char *path = xasprintf("%s.go", program);
	cleanup_fd int go = -1;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	go = open(path, O_RDWR | O_CLOEXEC);
	script("echo first; echo begun > \"$0.log\"; read -r more < \"$0.go\"; "
	       "head -c 4095 /dev/zero | tr '\\0' a; exit 1",
	       "exit 9");
	(void)start("a", 0);
	wait_for_log("installer.log");
	loop_turn(fixture.loop, 0); /* the first line alone */
	assert_int_equal(write(go, "\n", 1), 1);
	fixture_until(told[0].count > 0);
	if (strstr(told[0].problem, "ended without an answer: first aaaa") == NULL)
		fail_msg("%s", told[0].problem);
}

static void all_steps_have_one_deadline(void **state)
{
	(void)state;
	script("echo begun > \"$0.log\"; read -r more <&3", "exit 9");
	(void)start("a", 0);
	wait_for_log("installer.log");
	fixture_pass(599999);
	assert_int_equal(told[0].count, 0);
	fixture_pass(1);
	fixture_until(told[0].count > 0);
	assert_non_null(strstr(told[0].problem, "not done after 600 s (PTYCELL_INSTALL_TIMEOUT)"));
}

static void a_step_may_make_this_much_and_no_more(const char *make, const char *problem)
{
	cleanup_free char *steps = xasprintf("%s; echo begun > \"$0.log\"; read -r more <&3", make);

	memset(told, 0, sizeof(told));
	(void)unlinkat(fixture.scratch.fd, "installer.log", 0);
	script(steps, "exit 9");
	(void)start("a", 0);
	wait_for_log("installer.log");
	for (int i = 0; i < 20 && told[0].count == 0; i++)
		fixture_pass(250);
	if (problem == NULL) {
		assert_int_equal(told[0].count, 0);
		broker_end_folder(broker, workspace_name(session_workspace(session)));
		return;
	}
	fixture_until(told[0].count > 0);
	if (strstr(told[0].problem, problem) == NULL)
		fail_msg("'%s' is not in '%s'", problem, told[0].problem);
}

static void the_folder_is_looked_at_while_it_works(void **state)
{
	(void)state;
	a_step_may_make_this_much_and_no_more("head -c 900000 /dev/zero > x", NULL);
	a_step_may_make_this_much_and_no_more("head -c 1048577 /dev/zero > x",
					      "more room than PTYCELL_INSTALL_MAX allows");
	a_step_may_make_this_much_and_no_more("for i in $(seq 90); do : > $i; done", NULL);
	a_step_may_make_this_much_and_no_more("for i in $(seq 101); do : > $i; done",
					      "more files than PTYCELL_INSTALL_FILES_MAX allows");
}

static void what_is_stored_is_counted_to_the_byte(void **state)
{
	(void)state;
	script(FETCH,
	       "mkdir site; for i in 600 400; do head -c $i /dev/zero > site/$i; done; say '" ONE_ROW
	       "'");
	fixture.settings.install_max = 999;
	refused("larger than PTYCELL_INSTALL_MAX allows");
	fixture.settings.install_max = 1000;
	if (!install("a")->went_well)
		fail_msg("%s", told[0].problem);
}

static void what_is_stored_is_counted_to_the_file(void **state)
{
	(void)state;
	script(FETCH, "mkdir site; for i in 1 2 3; do : > site/$i; done; say '" ONE_ROW "'");
	fixture.settings.install_files_max = 2;
	refused("more files than PTYCELL_INSTALL_FILES_MAX allows");
	fixture.settings.install_files_max = 3;
	if (!install("a")->went_well)
		fail_msg("%s", told[0].problem);
}

static void the_same_request_is_answered_by_the_same_job(void **state)
{
	cleanup_free char *log = NULL;

	(void)state;
	(void)start("a", 0);
	(void)start("a", 1);
	fixture_until(told[0].count + told[1].count == 2);
	assert_true(told[0].went_well && told[1].went_well);
	log = scratch_read(fixture.scratch.fd, "installer.log");
	assert_string_equal(log, "fetched\n");
}

static void checks_of_one_language_are_one_job(void **state)
{
	cleanup_free char *log = NULL;

	(void)state;
	script("exit 9", "echo checked >> \"$0.log\"; say '{\"ok\": true, \"tool\": \"pip 1\"}'");
	(void)broker_check(broker, &python, on_done, &told[0]);
	(void)broker_check(broker, &python, on_done, &told[1]);
	fixture_until(told[0].count + told[1].count == 2);
	assert_true(told[0].went_well && told[1].went_well);
	log = scratch_read(fixture.scratch.fd, "installer.log");
	assert_string_equal(log, "checked\n");
}

static void who_forgets_is_told_nothing_and_the_packages_still_come(void **state)
{
	(void)state;
	broker_forget(start("a", 0));
	broker_forget(NULL);
	fixture_until(has_file());
	(void)start("a", 1);
	fixture_until(told[1].count > 0);
	assert_int_equal(told[0].count, 0);
}

static void a_session_that_ends_ends_its_installations(void **state)
{
	(void)state;
	script("echo begun > \"$0.log\"; read -r more <&3", "exit 9");
	(void)start("a", 0);
	(void)start("b", 1); /* waits for its turn */
	wait_for_log("installer.log");
	broker_end_folder(broker, "another");
	assert_int_equal(told[0].count, 0);
	broker_end_folder(broker, workspace_name(session_workspace(session)));
	assert_string_equal(told[0].problem, "The session ended.");
	assert_string_equal(told[1].problem, "The session ended.");
}

static void the_end_of_all_may_come_at_any_moment(void **state)
{
	(void)state;
	script("echo begun > \"$0.log\"; read -r more <&3", "exit 9");
	(void)start("a", 0);
	wait_for_log("installer.log");
	broker_end(broker);
	assert_int_equal(told[0].count, 1);
	(void)start("b", 1); /* not even started when the next end comes */
	broker_end(broker);
	assert_int_equal(told[1].count, 1);
}

static void a_request_that_is_none_is_refused_at_once(void **state)
{
	cleanup_json json_t *none = json_array();
	cleanup_json json_t *many = json_array();
	cleanup_json json_t *longest = json_array();
	char text[BROKER_PACKAGE_CHARS + 2];
	struct err err = { 0 };
	struct install_request wish = { .language = &python, .packages = none };

	(void)state;
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	json_append(longest, json_make_str(text));
	for (size_t i = 0; i < BROKER_PACKAGES_MAX + 1; i++)
		json_append(many, json_make_str("a"));
	assert_null(broker_install(broker, session, &wish, on_done, &told[0], &err));
	assert_int_equal(err.code, ERR_INVALID);
	wish.packages = many;
	assert_null(broker_install(broker, session, &wish, on_done, &told[0], &err));
	assert_int_equal(err.code, ERR_LIMIT);
	wish.packages = longest;
	assert_null(broker_install(broker, session, &wish, on_done, &told[0], &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_int_equal(told[0].count, 0);
}

static void a_session_has_only_so_many_installations_under_way(void **state)
{
	cleanup_json json_t *more = json_pack("[s]", "more");
	const struct install_request wish = { .language = &python, .packages = more };
	struct err err = { 0 };

	(void)state;
	script("echo begun > \"$0.log\"; read -r more <&3", "exit 9");
	for (int i = 0; i < BROKER_JOBS_MAX; i++) {
		char name[8];

		(void)snprintf(name, sizeof(name), "p%d", i);
		(void)start(name, 0);
	}
	assert_null(broker_install(broker, session, &wish, on_done, &told[1], &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_non_null(strstr(err.msg, "in one call"));
	(void)start("p3", 2); /* is under way already */
	wait_for_log("installer.log");
	broker_end_folder(broker, workspace_name(session_workspace(session)));
	assert_int_equal(told[0].count, BROKER_JOBS_MAX);
	assert_int_equal(told[1].count, 0);
	assert_int_equal(told[2].count, 1);
	(void)start("more", 1);
	broker_end(broker);
	assert_int_equal(told[1].count, 1);
}

static void what_nobody_installs_for_is_told(void **state)
{
	(void)state;
	python.name = "fake";
	refused("packages of fake cannot be installed here");
	python.name = "python";
	fixture.settings.pip_index = (char *)(uintptr_t) "off";
	refused("PTYCELL_PIP_INDEX=off");
	fixture.settings.pip_index = (char *)(uintptr_t) "nonsense";
	refused("neither an http(s) URL nor an absolute path");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_set_is_fetched_once_and_comes_from_the_cache_then),
		TEST(a_set_whose_build_may_run_code_is_never_shared),
		TEST(an_entry_that_was_changed_is_made_anew),
		TEST(a_refusal_is_passed_on),
		TEST(an_installer_that_fails_is_told),
		TEST(what_it_says_is_read_as_far_as_it_is_kept),
		TEST(all_steps_have_one_deadline),
		TEST(the_folder_is_looked_at_while_it_works),
		TEST(what_is_stored_is_counted_to_the_byte),
		TEST(what_is_stored_is_counted_to_the_file),
		TEST(the_same_request_is_answered_by_the_same_job),
		TEST(checks_of_one_language_are_one_job),
		TEST(who_forgets_is_told_nothing_and_the_packages_still_come),
		TEST(a_session_that_ends_ends_its_installations),
		TEST(the_end_of_all_may_come_at_any_moment),
		TEST(a_request_that_is_none_is_refused_at_once),
		TEST(a_session_has_only_so_many_installations_under_way),
		TEST(what_nobody_installs_for_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
