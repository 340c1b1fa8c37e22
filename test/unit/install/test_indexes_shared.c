/* SPDX-License-Identifier: MIT */
/* Configuration of pip and npm that code can change, in a folder that is shared with :rw. */
#include "indexes_fixture.h"

static void share_folder(const char *name)
{
	struct err err = { 0 };

	share.path = xasprintf("%s/%s", scratch.path, name);
	share.writable = true;
	settings.home = settings.keep = (char *)(uintptr_t) "/elsewhere";
	settings.shares = &share;
	settings.share_count = 1;
	settings.unconfined = true; /* root has one more rule else */
	assert_int_equal(mkdirat(scratch.fd, name, 0700), 0);
	shares = shares_open(&settings, &err);
	if (shares == NULL)
		fail_msg("%s", err.msg);
}

static void pip_configuration_that_code_can_change_is_passed_over(void **state)
{
	cleanup_indexes struct indexes indexes = { .urls = NULL };

	(void)state;
	share_folder("project");
	scratch_write(scratch.fd, "project/pip.conf", "[global]\nindex-url = http://evil.test/\n");
	set_variable("VIRTUAL_ENV", share.path);
	free(variables[1]);
	variables[1] = xasprintf("PIP_CONFIG_FILE=%s/project/../project/pip.conf", scratch.path);
	read_it(&python, &indexes);
	assert_null(indexes.hosts);
	assert_false(indexes.allow_private);
}

static void what_code_can_swap_is_not_given_to_installers(void **state)
{
	cleanup_indexes struct indexes indexes = { .urls = NULL };
	cleanup_indexes struct indexes of_npm = { .urls = NULL };
	cleanup_free char *text = NULL;
	cleanup_free char *npm = NULL;

	(void)state;
	share_folder("project");
	scratch_write(scratch.fd, "secret.pem", "secret");
	assert_int_equal(mkdirat(scratch.fd, "secrets", 0700), 0);
	assert_int_equal(symlinkat("../secret.pem", scratch.fd, "project/ca.pem"), 0);
	assert_int_equal(symlinkat("../secrets", scratch.fd, "project/wheels"), 0);
	text = xasprintf("[global]\ncert = %s/ca.pem\nfind-links = %s/wheels %s/secrets\n",
			 share.path, share.path, scratch.path);
	use_pip_conf(text);
	read_it(&python, &indexes);
	assert_null(indexes.certificates);
	assert_int_equal(indexes.folder_count, 1); /* that which the person named */
	npm = xasprintf("registry=https://npm.test/\ncafile=%s/ca.pem\n", share.path);
	scratch_write(scratch.fd, ".npmrc", npm);
	read_it(&javascript, &of_npm);
	assert_null(of_npm.certificates);
	assert_string_equal(of_npm.hosts, "npm.test:443");
}

/* Nobody may believe that what was named in so many words is in use when it is not. */
static void a_folder_that_is_named_and_code_can_change_is_refused(void **state)
{
	cleanup_free char *conf = NULL;
	cleanup_free char *npm = NULL;
	cleanup_free char *link = NULL;

	(void)state;
	share_folder("project");
	settings.pip_index = share.path;
	assert_int_equal(refuse(&python, "shared with :rw"), ERR_INVALID);
	assert_int_equal(symlinkat("project", scratch.fd, "link"), 0);
	settings.pip_index = link = xasprintf("https://a.test/simple %s/link", scratch.path);
	assert_int_equal(refuse(&python, "shared with :rw"), ERR_INVALID);
	settings.pip_index = NULL;
	settings.r_repos = share.path;
	assert_int_equal(refuse(&r, "shared with :rw"), ERR_INVALID);
	conf = xasprintf("[global]\nindex-url = file://%s\n", share.path);
	use_pip_conf(conf);
	assert_int_equal(refuse(&python, "shared with :rw"), ERR_INVALID);
	npm = xasprintf("registry=%s\n", share.path);
	scratch_write(scratch.fd, ".npmrc", npm);
	assert_int_equal(refuse(&javascript, "shared with :rw"), ERR_INVALID);
}

static void npm_configuration_that_code_can_change_is_passed_over(void **state)
{
	cleanup_indexes struct indexes indexes = { .urls = NULL };
	cleanup_free char *path = NULL;

	(void)state;
	share_folder("project");
	scratch_write(scratch.fd, "project/npmrc", "registry=http://evil.test/\n");
	path = xasprintf("%s/npmrc", share.path);
	set_variable("npm_config_userconfig", path);
	read_it(&javascript, &indexes);
	assert_null(indexes.hosts);
}

static void a_pipe_in_place_of_a_file_holds_nobody_up(void **state)
{
	cleanup_indexes struct indexes indexes = { .urls = NULL };
	cleanup_indexes struct indexes of_npm = { .urls = NULL };
	cleanup_free char *text = NULL;

	(void)state;
	assert_int_equal(mkfifoat(scratch.fd, "pip.conf", 0600), 0);
	assert_int_equal(mkfifoat(scratch.fd, ".npmrc", 0600), 0);
	assert_int_equal(mkfifoat(scratch.fd, "pipe", 0600), 0);
	free(variables[1]);
	variables[1] = xasprintf("PIP_CONFIG_FILE=%s/pip.conf", scratch.path);
	read_it(&python, &indexes);
	read_it(&javascript, &of_npm);
	assert_null(indexes.hosts);
	assert_null(of_npm.hosts);
	text = xasprintf("%s/pipe", scratch.path);
	set_variable("PIP_CERT", text);
	assert_int_equal(refuse(&python, "is no regular file"), ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pip_configuration_that_code_can_change_is_passed_over),
		TEST(what_code_can_swap_is_not_given_to_installers),
		TEST(a_folder_that_is_named_and_code_can_change_is_refused),
		TEST(npm_configuration_that_code_can_change_is_passed_over),
		TEST(a_pipe_in_place_of_a_file_holds_nobody_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
