/* SPDX-License-Identifier: MIT */
/* Where packages come from: our setting, the person's pip.conf, .npmrc and variables. */
#include "indexes_fixture.h"

#include "install/npmrc.h"
#include "install/pipconf.h"
#include "json/parse.h"
#include "net/host_list.h"

static const char *url_at(const struct indexes *indexes, size_t n)
{
	const char *url = json_string_value(json_array_get(indexes->urls, n));

	return url != NULL ? url : "";
}

static void the_setting_names_urls_and_folders(void **state)
{
	cleanup_indexes struct indexes indexes = { .urls = NULL };
	cleanup_free char *text = NULL;
	cleanup_free char *told = NULL;
	cleanup_json json_t *shown = NULL;

	(void)state;
	text = xasprintf("https://user:word@one.test/simple,http://two.test:8080/x %s",
			 scratch.path);
	settings.pip_index = text;
	settings.install_hosts = (char *)(uintptr_t) "files.test";
	read_it(&python, &indexes);
	assert_string_equal(url_at(&indexes, 0), "https://user:word@one.test/simple");
	shown = indexes_public(&indexes);
	assert_string_equal(json_string_value(json_array_get(shown, 0)), "https://one.test/simple");
	assert_string_equal(json_string_value(json_array_get(shown, 1)), "http://two.test:8080/x");
	assert_string_equal(url_at(&indexes, 1), "http://two.test:8080/x");
	assert_string_equal(indexes.hosts, "one.test:443,two.test:8080,files.test");
	assert_int_equal(indexes.folder_count, 1);
	assert_true(indexes.allow_private);
	assert_false(indexes.wants_default);
	told = indexes_describe(&indexes);
	assert_null(strstr(told, "word"));
	assert_non_null(strstr(told, scratch.path));
}

static void an_index_may_be_for_some_packages(void **state)
{
	cleanup_indexes struct indexes both = { .urls = NULL };
	cleanup_indexes struct indexes some = { .urls = NULL };
	cleanup_json json_t *shown = NULL;

	(void)state;
	use_pip_conf("[global]\nindex-url = https://own.test/simple\n");
	settings.pip_index =
		(char *)(uintptr_t) "https://one.test/x torch*@https://u:s3cr@two.test/y";
	read_it(&python, &both);
	assert_int_equal(json_array_size(both.urls), 2);
	assert_string_equal(url_at(&both, 1), "torch*@https://u:s3cr@two.test/y");
	assert_string_equal(both.hosts, "one.test:443,two.test:443");
	shown = indexes_public(&both);
	assert_string_equal(json_string_value(json_array_get(shown, 1)),
			    "torch*@https://two.test/y");
	settings.pip_index = (char *)(uintptr_t) "a.b-c_1@https://two.test/y";
	read_it(&python, &some);
	assert_string_equal(url_at(&some, 0), "a.b-c_1@https://two.test/y");
	assert_string_equal(url_at(&some, 1), "https://own.test/simple");
	assert_true(some.allow_private);
	settings.r_repos = settings.pip_index;
	assert_int_equal(refuse(&r, "the package index '"), ERR_INVALID);
	settings.pip_index = (char *)(uintptr_t) "*@https://two.test/y";
	assert_int_equal(refuse(&python, "the package index '"), ERR_INVALID);
	settings.pip_index = (char *)(uintptr_t) "a*@/folder";
	assert_int_equal(refuse(&python, "the package index '"), ERR_INVALID);
}

static void what_is_no_index_is_named(void **state)
{
	static const char *const addresses[] = { "https://127.0.0.1/simple", "http://10.0.0.1:80",
						 "https://u:w@1.2.3.4", "https://[::1]/x" };
	static const char *const logins[] = { "https://u:s3cr/e@x.test/simple",
					      "https://u:s3cr#e@x.test/simple",
					      "u:s3cr@x.test/simple",
					      "https:/u:s3cr@x.test/simple" };
	static const char *const bad[] = {
		"ftp://x.test",    "relative/path",   "https://1.test.127/simple",
		"https:///simple", "/no/such/folder", "https://a b.test"
	};

	(void)state;
	settings.pip_index = (char *)(uintptr_t) "off";
	assert_int_equal(refuse(&python, "PTYCELL_PIP_INDEX=off"), ERR_DENIED);
	for (size_t i = 0; i < ARRAY_SIZE(logins); i++) {
		settings.pip_index = (char *)(uintptr_t)logins[i];
		assert_int_equal(refuse(&python, "/simple' "), ERR_INVALID);
	}
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		settings.pip_index = (char *)(uintptr_t)addresses[i];
		assert_int_equal(refuse(&python, "has an IP address for a host"), ERR_INVALID);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		settings.pip_index = (char *)(uintptr_t)bad[i];
		assert_int_equal(refuse(&python, "the package index '"), ERR_INVALID);
	}
}

static void r_s_repositories_are_urls_and_folders(void **state)
{
	cleanup_indexes struct indexes indexes = { .urls = NULL };
	cleanup_indexes struct indexes none = { .urls = NULL };
	cleanup_free char *text = xasprintf("https://cran.test file://%s", scratch.path);

	(void)state;
	read_it(&r, &none);
	assert_true(none.wants_default);
	assert_false(none.allow_private);
	settings.r_repos = text;
	read_it(&r, &indexes);
	assert_string_equal(url_at(&indexes, 0), "https://cran.test");
	assert_string_equal(indexes.hosts, "cran.test:443");
	assert_int_equal(indexes.folder_count, 1);
	assert_false(indexes.wants_default);
	settings.r_repos = (char *)(uintptr_t) "off";
	assert_int_equal(refuse(&r, "PTYCELL_R_REPOS=off"), ERR_DENIED);
	settings.r_repos = (char *)(uintptr_t) "file://relative";
	assert_int_equal(refuse(&r, "the package index '"), ERR_INVALID);
}

static void folders_are_counted(void **state)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_indexes struct indexes indexes = { .urls = NULL };

	(void)state;
	for (size_t i = 0; i < INDEXES_FOLDERS_MAX; i++)
		buf_putf(&text, "%s ", scratch.path);
	settings.pip_index = (char *)(uintptr_t)buf_str(&text);
	read_it(&python, &indexes);
	assert_int_equal(indexes.folder_count, INDEXES_FOLDERS_MAX);
	assert_null(indexes.hosts);
	buf_puts(&text, scratch.path);
	settings.pip_index = (char *)(uintptr_t)buf_str(&text);
	assert_int_equal(refuse(&python, "one folder too many"), ERR_INVALID);
}

static void pip_s_own_configuration_holds_without_the_setting(void **state)
{
	cleanup_indexes struct indexes indexes = { .urls = NULL };
	cleanup_free char *text = NULL;

	(void)state;
	scratch_write(scratch.fd, "ca.pem", "-----BEGIN CERTIFICATE-----\n");
	text = xasprintf(
		"# a comment\n[global]\nindex-url = https://global.test/simple\n"
		"cert: %s/ca.pem\n[list]\nindex-url = https://list.test\n"
		"[install]\nindex_url=https://one.test/simple\n--extra-index-url =\n"
		"    https://two.test/simple\n\n    https://three.test:444/x\n"
		"find-links = /no/such/folder https://page.test/links %s\ntrusted-host = two.test\n\tthree.test:444\n",
		scratch.path, scratch.path);
	use_pip_conf(text);
	read_it(&python, &indexes);
	assert_string_equal(url_at(&indexes, 0), "https://two.test/simple");
	assert_string_equal(url_at(&indexes, 1), "https://three.test:444/x");
	assert_string_equal(url_at(&indexes, 2), "https://one.test/simple");
	assert_int_equal(json_array_size(indexes.urls), 3);
	assert_string_equal(indexes.hosts, "two.test:443,three.test:444,one.test:443");
	assert_int_equal(indexes.folder_count, 1);
	assert_int_equal(json_array_size(indexes.trusted), 2);
	assert_string_equal(indexes.certificates, "-----BEGIN CERTIFICATE-----\n");
	assert_true(indexes.allow_private);
	assert_false(indexes.wants_default);
}

static void variables_go_before_files_and_the_setting_before_both(void **state)
{
	cleanup_indexes struct indexes by_variable = { .urls = NULL };
	cleanup_indexes struct indexes by_setting = { .urls = NULL };

	(void)state;
	use_pip_conf("[install]\nindex-url = https://file.test/simple\n"
		     "extra-index-url = https://more.test/simple\n");
	set_variable("PIP_INDEX_URL", "https://variable.test/simple");
	read_it(&python, &by_variable);
	assert_string_equal(by_variable.hosts, "more.test:443,variable.test:443");
	settings.pip_index = (char *)(uintptr_t) "https://setting.test/simple";
	read_it(&python, &by_setting);
	assert_string_equal(by_setting.hosts, "setting.test:443");
}

static void a_file_that_is_named_and_exists_stands_for_the_person_s(void **state)
{
	cleanup_indexes struct indexes without = { .urls = NULL };
	cleanup_indexes struct indexes with = { .urls = NULL };

	(void)state;
	assert_int_equal(mkdirat(scratch.fd, ".pip", 0700), 0);
	scratch_write(scratch.fd, ".pip/pip.conf",
		      "[global]\nextra-index-url = https://person.test/simple\n");
	use_pip_conf("[global]\nindex-url = https://named.test/simple\n");
	read_it(&python, &without);
	assert_string_equal(url_at(&without, 0), "https://named.test/simple");
	assert_null(strstr(without.hosts, "person.test"));
	assert_int_equal(unlinkat(scratch.fd, "pip.conf", 0), 0);
	set_variable("PIP_INDEX_URL", "https://variable.test/simple");
	read_it(&python, &with);
	assert_string_equal(with.hosts, "person.test:443,variable.test:443");
}

static void what_is_named_beside_pip_s_own_index_comes_before_it(void **state)
{
	cleanup_indexes struct indexes indexes = { .urls = NULL };
	cleanup_json json_t *told =
		json_pack("{ss s[s]}", "url", "https://own.test/simple", "hosts", "files.own.test");
	struct err err = { 0 };

	(void)state;
	set_variable("PIP_EXTRA_INDEX_URL", "https://more.test/simple");
	read_it(&python, &indexes);
	assert_true(indexes.wants_default);
	assert_int_equal(indexes_take_default(&indexes, told, &err), 0);
	assert_string_equal(url_at(&indexes, 0), "https://more.test/simple");
	assert_string_equal(url_at(&indexes, 1), "https://own.test/simple");
	assert_non_null(strstr(indexes.hosts, "files.own.test"));
}

static void no_index_leaves_the_folders(void **state)
{
	cleanup_indexes struct indexes indexes = { .urls = NULL };
	cleanup_free char *text = xasprintf(
		"[global]\nno-index = true\nindex-url = https://x.test\nfind-links = %s\n",
		scratch.path);

	(void)state;
	use_pip_conf(text);
	read_it(&python, &indexes);
	assert_int_equal(json_array_size(indexes.urls), 0);
	assert_int_equal(indexes.folder_count, 1);
	assert_false(indexes.wants_default);
}

static void a_configuration_that_cannot_be_used_is_told(void **state)
{
	(void)state;
	use_pip_conf("[global]\ncert = /no/such/file.pem\n");
	assert_int_equal(refuse(&python, "certificates"), ERR_SYSTEM);
	use_pip_conf("[global]\nindex-url = ftp://x.test\n");
	assert_int_equal(refuse(&python, "ftp://x.test"), ERR_INVALID);
}

static void what_pip_tells_of_itself_is_checked(void **state)
{
	static const char *const bad[] = {
		"{}",
		"{\"url\": 1, \"hosts\": []}",
		"{\"url\": \"https://a.test\"}",
		"{\"url\": \"file:///etc\", \"hosts\": []}",
		"{\"url\": \"/etc\", \"hosts\": []}",
		"{\"url\": \"https://a.test,*.com\", \"hosts\": []}",
		"{\"url\": \"https://*.com/\", \"hosts\": []}",
		"{\"url\": \"https://a.test b.test/\", \"hosts\": []}",
		"{\"url\": \"https://a.test\", \"hosts\": [1]}",
		"{\"url\": \"https://a.test\", \"hosts\": [\"a b\"]}",
		"{\"url\": \"https://a.test\", \"hosts\": [\"10.0.0.1\"]}",
		"{\"url\": \"https://a.test\", \"hosts\": [\"a.test,*.com\"]}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_indexes struct indexes indexes = { .urls = NULL };
		struct err err = { 0 };
		cleanup_json json_t *told = json_parse(bad[i], strlen(bad[i]), &err);

		read_it(&python, &indexes);
		if (indexes_take_default(&indexes, told, &err) == 0)
			fail_msg("taken: %s", bad[i]);
		assert_int_equal(err.code, ERR_INVALID);
	}
}

static char *many_hosts(size_t count)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < count; i++)
		buf_putf(&text, "%sh%zu.test", i > 0 ? "," : "", i);
	return buf_steal(&text);
}

static void hosts_are_counted_over_all_that_name_them(void **state)
{
	cleanup_indexes struct indexes indexes = { .urls = NULL };
	cleanup_json json_t *one = json_pack("{sss[]}", "url", "https://a.test", "hosts");
	cleanup_json json_t *two =
		json_pack("{sss[s]}", "url", "https://a.test", "hosts", "b.test");
	cleanup_free char *fitting = many_hosts(HOST_LIST_MAX - 1);
	cleanup_free char *full = many_hosts(HOST_LIST_MAX);
	struct err err = { 0 };

	(void)state;
	settings.install_hosts = fitting;
	read_it(&python, &indexes);
	assert_int_equal(indexes_take_default(&indexes, one, &err), 0);
	indexes_release(&indexes);
	read_it(&python, &indexes);
	assert_int_equal(indexes_take_default(&indexes, two, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	settings.install_hosts = full;
	settings.pip_index = (char *)(uintptr_t) "https://a.test";
	assert_int_equal(refuse(&python, "PTYCELL_INSTALL_HOSTS"), ERR_INVALID);
}

static void npm_s_own_configuration_names_the_registry(void **state)
{
	cleanup_indexes struct indexes indexes = { .urls = NULL };
	cleanup_free char *text = NULL;

	(void)state;
	scratch_write(scratch.fd, "ca.pem", "-----BEGIN CERTIFICATE-----\n");
	text = xasprintf(
		"; a comment\nregistry = \"https://npm.test/all/\"\n@own:registry=https://own.test/\n"
		"//npm.test/all/:_authToken=${TOKEN}\ncafile=%s/ca.pem\nignore-scripts=false\n"
		"no equals sign\n//x/:_password=${NOT_SET} ; ours\n//y/:_authToken='a;b'\n"
		"//z/:_authToken=a\\;b\\c # it\n",
		scratch.path);
	scratch_write(scratch.fd, ".npmrc", text);
	set_variable("TOKEN", "t0k3n");
	read_it(&javascript, &indexes);
	assert_string_equal(url_at(&indexes, 0), "https://npm.test/all/");
	assert_string_equal(indexes.hosts, "npm.test:443,own.test:443");
	assert_string_equal(
		json_string_value(json_object_get(indexes.options, "//npm.test/all/:_authToken")),
		"t0k3n");
	assert_string_equal(json_string_value(json_object_get(indexes.options, "@own:registry")),
			    "https://own.test/");
	assert_string_equal(json_string_value(json_object_get(indexes.options, "//x/:_password")),
			    "${NOT_SET}");
	assert_string_equal(json_string_value(json_object_get(indexes.options, "//y/:_authToken")),
			    "a;b");
	assert_string_equal(json_string_value(json_object_get(indexes.options, "//z/:_authToken")),
			    "a;b\\c");
	assert_null(json_object_get(indexes.options, "ignore-scripts"));
	assert_null(json_object_get(indexes.options, "cafile"));
	assert_string_equal(indexes.certificates, "-----BEGIN CERTIFICATE-----\n");
}

static void a_scope_s_registry_is_reached_beside_the_default_one(void **state)
{
	cleanup_indexes struct indexes indexes = { .urls = NULL };
	cleanup_json json_t *told = json_pack("{sss[]}", "url", "https://default.test/", "hosts");
	cleanup_json json_t *shown = NULL;
	struct err err = { 0 };

	(void)state;
	scratch_write(scratch.fd, ".npmrc",
		      "@own:registry=http://own.test:4873/\n@bad:registry=http://127.0.0.1/\n"
		      "@worse:registry=/srv/packages\n");
	read_it(&javascript, &indexes);
	assert_true(indexes.wants_default && indexes.allow_private);
	assert_int_equal(indexes_take_default(&indexes, told, &err), 0);
	assert_string_equal(url_at(&indexes, 0), "https://default.test/");
	assert_string_equal(indexes.hosts, "own.test:4873,default.test:443");
	assert_int_equal(indexes.folder_count, 0);
	shown = indexes_public(&indexes);
	assert_string_equal(json_string_value(json_array_get(shown, 2)),
			    "@own:registry=http://own.test:4873/");
}

static void npm_s_variables_go_before_its_file(void **state)
{
	cleanup_json json_t *options = NULL;

	(void)state;
	scratch_write(scratch.fd, ".npmrc", "registry=https://file.test/\n");
	scratch_write(scratch.fd, "other",
		      "registry=https://other.test/\n@a:registry=https://a.test/\n");
	set_variable("NPM_CONFIG_REGISTRY", "https://variable.test/");
	options = npmrc_read(variables, NULL);
	assert_string_equal(json_string_value(json_object_get(options, "registry")),
			    "https://variable.test/");
	json_decref(options);
	free(variables[2]);
	variables[2] = xasprintf("npm_config_userconfig=%s/other", scratch.path);
	options = npmrc_read(variables, NULL);
	assert_string_equal(json_string_value(json_object_get(options, "registry")),
			    "https://other.test/");
}

static void pip_conf_is_read_as_python_reads_it(void **state)
{
	static const char text[] =
		"index-url = https://nowhere.test\n[global\nindex-url=a\n[global]\n"
		"; index-url = b\nINDEX_URL : c\r\nno section\n"
		"extra-index-url = d\n  # of it\n  e\nunknown = 1\n  more\ncert=\n";
	cleanup_json json_t *sections = json_object();
	cleanup_json json_t *expected = json_pack("{s{ssssss}}", "global", "index-url", "c",
						  "extra-index-url", "d\ne", "cert", "");

	(void)state;
	pipconf_parse(sections, text, sizeof(text) - 1);
	assert_true(json_equal(sections, expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_setting_names_urls_and_folders),
		TEST(an_index_may_be_for_some_packages),
		TEST(what_is_no_index_is_named),
		TEST(r_s_repositories_are_urls_and_folders),
		TEST(folders_are_counted),
		TEST(pip_s_own_configuration_holds_without_the_setting),
		TEST(variables_go_before_files_and_the_setting_before_both),
		TEST(a_file_that_is_named_and_exists_stands_for_the_person_s),
		TEST(what_is_named_beside_pip_s_own_index_comes_before_it),
		TEST(no_index_leaves_the_folders),
		TEST(a_configuration_that_cannot_be_used_is_told),
		TEST(what_pip_tells_of_itself_is_checked),
		TEST(hosts_are_counted_over_all_that_name_them),
		TEST(npm_s_own_configuration_names_the_registry),
		TEST(a_scope_s_registry_is_reached_beside_the_default_one),
		TEST(npm_s_variables_go_before_its_file),
		TEST(pip_conf_is_read_as_python_reads_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
