/* SPDX-License-Identifier: MIT */
/* Installations from the first call to the last answer, their limits and their ends. */
#include "broker_fixture.h"

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

static bool shows(const struct install *install, const char *expected)
{
	cleanup_free char *text = broker_progress(install);

	return str_eq(text, expected);
}

static void what_a_step_says_of_its_progress_is_shown(void **state)
{
	const struct install *install;
	cleanup_free char *of_code = NULL;

	(void)state;
	assert_null(broker_code_progress(NULL, session));
	script("say '{\"progress\": {\"name\": \"a\", \"done\": 1}}'; "
	       "say '{\"progress\": {\"name\": \"b\", \"done\": 1000000, \"total\": 2000000}}'; "
	       "read -r more <&3",
	       "exit 9");
	install = start_for("wanted>=1", 0, 3);
	assert_true(shows(install, "installing wanted>=1"));
	fixture_until(shows(install, "installing b: 1.0 of 2.0 MB"));
	of_code = broker_code_progress(broker, session);
	assert_string_equal(of_code, "installing b: 1.0 of 2.0 MB");
	(void)start("wanted>=1", 1);
	assert_null(broker_code_progress(broker, session)); /* a client waits, too */
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
					      "more files than a set of packages may have");
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
	refused("more files than a set of packages may have");
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

static void an_installation_that_nobody_waits_for_any_more_can_be_cancelled(void **state)
{
	struct install *first;
	struct install *other;
	struct install *queued;

	(void)state;
	script("echo begun > \"$0.log\"; read -r more <&3", "exit 9");
	first = start("a", 0);
	other = start("a", 1);
	queued = start("b", 2);
	wait_for_log("installer.log");
	broker_cancel(queued);
	broker_cancel(first); /* another one waits, too */
	assert_false(has_file());
	script(FETCH, UNPACK);
	(void)start("c", 3);
	broker_cancel(other);
	fixture_until(told[3].count > 0); /* and not when the deadline ends the one before it */
	if (!told[3].went_well)
		fail_msg("%s", told[3].problem);
	assert_int_equal(told[0].count + told[1].count + told[2].count, 0);
}

static void what_was_cancelled_counts_until_it_has_ended(void **state)
{
	cleanup_json json_t *more = json_pack("[s]", "more");
	const struct install_request wish = { .language = &python, .packages = more };
	struct err err = { 0 };

	(void)state;
	script("read -r more <&3", "exit 9");
	for (int i = 0; i < BROKER_JOBS_MAX; i++)
		broker_cancel(start("a", 0));
	assert_null(broker_install(broker, session, &wish, on_done, &told[1], &err));
	assert_int_equal(err.code, ERR_LIMIT);
	script(FETCH, UNPACK);
	fixture_until(broker_install(broker, session, &wish, on_done, &told[1], &err) != NULL);
	fixture_until(told[1].count > 0);
	assert_true(told[1].went_well);
	assert_int_equal(told[0].count, 0);
}

static void on_over(void *data, const struct broker_event *event)
{
	struct broker_event *last = data;

	*last = *event;
}

static void an_installation_has_the_cell_that_alone_asked_for_it(void **state)
{
	struct broker_event last = { .cell = 1 };
	struct install *waits;

	(void)state;
	broker_on_over(broker, on_over, &last);
	(void)start_for("a", 0, 7);
	fixture_until(told[0].count > 0);
	assert_int_equal(last.cell, 7);
	(void)start_for("b", 1, 7);
	(void)start("b", 2); /* a client wants the same */
	fixture_until(told[2].count > 0);
	assert_int_equal(last.cell, 0);
	script("echo begun > \"$0.log\"; read -r more <&3", "exit 9");
	waits = start_for("c", 3, 8);
	wait_for_log("installer.log");
	broker_cancel(waits);
	assert_int_equal(last.cell, 8);
	broker_on_over(broker, NULL, NULL);
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
	assert_string_equal(err.msg, "201 packages are named; name 200 at most in one request");
	wish.packages = longest;
	assert_null(broker_install(broker, session, &wish, on_done, &told[0], &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_string_equal(err.msg, "package 1 has more than 500 characters");
	assert_int_equal(told[0].count, 0);
}

static void lines_of_a_lock_file_have_a_limit_of_their_own(void **state)
{
	cleanup_json json_t *packages = json_pack("[s]", "a");
	cleanup_json json_t *locked = json_array();
	cleanup_json json_t *other = json_pack("[s]", "a@1.0.0");
	cleanup_free char *log = NULL;
	char text[BROKER_PACKAGE_CHARS + 2];
	struct install_request wish = { .language = &python,
					.packages = packages,
					.locked = locked };
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < BROKER_LOCKED_MAX; i++)
		json_append(locked, json_make_str("a@1.0.0"));
	assert_non_null(broker_install(broker, session, &wish, on_done, &told[0], &err));
	wish.locked = other; /* not the same job */
	assert_non_null(broker_install(broker, session, &wish, on_done, &told[1], &err));
	fixture_until(told[0].count + told[1].count == 2);
	assert_true(told[0].went_well && told[1].went_well);
	log = scratch_read(fixture.scratch.fd, "installer.asked");
	assert_string_equal(log, "asked\nasked\n");
	json_append(locked, json_make_str("a@1.0.0"));
	wish.locked = locked;
	assert_null(broker_install(broker, session, &wish, on_done, &told[2], &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_string_equal(err.msg, "5001 packages of a lock file are named; name 5000 at most "
				     "in one request");
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	json_array_clear(locked);
	json_append(locked, json_make_str(text));
	assert_null(broker_install(broker, session, &wish, on_done, &told[2], &err));
	assert_string_equal(err.msg, "package 1 has more than 500 characters");
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
	refused("fake has no packages; install_packages with language brings those of python, javascript and r");
	python.name = "python";
	fixture.settings.pip_index = (char *)(uintptr_t) "off";
	refused("PTYCELL_PIP_INDEX=off");
	fixture.settings.pip_index = (char *)(uintptr_t) "nonsense";
	refused("neither an http(s) URL nor an absolute path");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_refusal_is_passed_on),
		TEST(an_installer_that_fails_is_told),
		TEST(what_it_says_is_read_as_far_as_it_is_kept),
		TEST(all_steps_have_one_deadline),
		TEST(what_a_step_says_of_its_progress_is_shown),
		TEST(the_folder_is_looked_at_while_it_works),
		TEST(what_is_stored_is_counted_to_the_byte),
		TEST(what_is_stored_is_counted_to_the_file),
		TEST(the_same_request_is_answered_by_the_same_job),
		TEST(checks_of_one_language_are_one_job),
		TEST(who_forgets_is_told_nothing_and_the_packages_still_come),
		TEST(an_installation_that_nobody_waits_for_any_more_can_be_cancelled),
		TEST(what_was_cancelled_counts_until_it_has_ended),
		TEST(an_installation_has_the_cell_that_alone_asked_for_it),
		TEST(a_session_that_ends_ends_its_installations),
		TEST(the_end_of_all_may_come_at_any_moment),
		TEST(a_request_that_is_none_is_refused_at_once),
		TEST(lines_of_a_lock_file_have_a_limit_of_their_own),
		TEST(a_session_has_only_so_many_installations_under_way),
		TEST(what_nobody_installs_for_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
