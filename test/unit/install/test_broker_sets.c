/* SPDX-License-Identifier: MIT */
/* When a set of packages is made, kept, found again and taken away. */
#include "broker_fixture.h"

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

static void a_folder_that_got_another_file_is_asked_again(void **state)
{
	cleanup_free char *asked = NULL;

	(void)state;
	assert_true(install("a")->went_well);
	renew_session();
	scratch_write(fixture.scratch.fd, "wheels/b", "");
	assert_true(install("a")->went_well);
	asked = scratch_read(fixture.scratch.fd, "installer.asked");
	assert_string_equal(asked, "asked\nasked\n");
}

static void files_that_were_known_are_not_fetched_again(void **state)
{
	cleanup_free char *log = NULL;

	(void)state;
	assert_true(install("a")->went_well);
	renew_session();
	assert_true(install("a>0")->went_well); /* another request, which resolves to the same */
	assert_true(has_file());
	log = scratch_read(fixture.scratch.fd, "installer.log");
	assert_string_equal(log, "fetched\n");
}

static void with_builds_a_set_is_kept_if_it_is_what_the_index_has(void **state)
{
	const char *same = "mkdir site; : > site/a.py; say '{\"ok\": true, \"files\": "
			   "[{\"file\": \"a\", \"sha256\": \"1\"}], \"packages\": "
			   "[{\"name\": \"a\", \"version\": \"1.0\"}]}'";
	cleanup_free char *log = NULL;

	(void)state;
	fixture.settings.install_builds = true;
	script(FETCH, same);
	assert_true(install("a")->went_well);
	renew_session();
	assert_true(install("a")->went_well);
	assert_true(has_file());
	log = scratch_read(fixture.scratch.fd, "installer.log");
	assert_string_equal(log, "fetched\n");
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

static struct install *take_away(const char *package, struct err *err)
{
	cleanup_json json_t *packages = json_pack("[s]", package);
	const struct install_request wish = { .language = &python, .packages = packages };

	memset(&told[0], 0, sizeof(told[0]));
	return broker_remove(broker, session, &wish, on_done, &told[0], err);
}

static void what_was_asked_for_is_taken_away(void **state)
{
	cleanup_json json_t *first = json_pack("[s]", "a_B==1");
	struct err err = { 0 };

	(void)state;
	assert_null(take_away("a", &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_true(install("a_B==1")->went_well && install("c")->went_well);
	assert_null(take_away("a", &err));
	assert_non_null(take_away("A-b", &err));
	fixture_until(told[0].count > 0);
	assert_true(told[0].went_well);
	assert_false(broker_has(broker, session, &python, first));
	assert_true(has_file());
	assert_non_null(take_away("C", &err)); /* the last one */
	fixture_until(told[0].count > 0);
	if (!told[0].went_well)
		fail_msg("%s", told[0].problem);
	assert_int_equal(told[0].packages, 0);
	assert_false(has_file());
	assert_null(take_away("c", &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_set_is_fetched_once_and_comes_from_the_cache_then),
		TEST(a_set_whose_build_may_run_code_is_never_shared),
		TEST(a_folder_that_got_another_file_is_asked_again),
		TEST(files_that_were_known_are_not_fetched_again),
		TEST(with_builds_a_set_is_kept_if_it_is_what_the_index_has),
		TEST(an_entry_that_was_changed_is_made_anew),
		TEST(what_was_asked_for_is_taken_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
