/* SPDX-License-Identifier: MIT */
/* Logins of the person's .netrc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/util.h"
#include "config/settings.h"
#include "install/indexes.h"
#include "install/netrc.h"
#include "scratch.h"

static void expect(const char *text, const char *host, const char *want)
{
	cleanup_free char *login = netrc_find(text, host);

	if (want == NULL)
		assert_null(login);
	else if (login == NULL)
		fail_msg("there is no login of %s", host);
	else
		assert_string_equal(login, want);
}

static void a_login_is_that_of_its_machine(void **state)
{
	static const char text[] =
		"# machine c.test login no password no\n"
		"machine a.test login me password word\n"
		"machine b.test\n\tuser \"x y\"\n\taccount z\n\tpassword p:@/\\\"q\n"
		"macdef init\nmachine d.test login no\n\nmachine e.test login only\n"
		"default login all password all\n";

	(void)state;
	expect(text, "a.test", "me:word");
	expect(text, "A.TEST", "me:word");
	expect(text, "b.test", "x%20y:p%3A%40%2F%22q");
	expect(text, "c.test", NULL);
	expect(text, "d.test", NULL);
	expect(text, "e.test", "only:");
	expect(text, "f.test", NULL);
	expect(NULL, "a.test", NULL);
}

static void what_is_cut_is_no_login(void **state)
{
	(void)state;
	expect("machine", "a.test", NULL);
	expect("machine a.test", "a.test", NULL);
	expect("machine a.test login", "a.test", NULL);
	expect("machine a.test login \"me", "a.test", "me:");
	expect("machine a.test password x", "a.test", NULL);
	expect("macdef x", "a.test", NULL);
	expect("#", "a.test", NULL);
	expect("machine a.test login me\\", "a.test", "me%5C:");
	expect("machine a.test login a password b login c password d", "a.test", "c:d");
	expect("machine a.test login a machine a.test login b", "a.test", "a:");
}

static void the_file_is_the_person_s_or_the_named_one(void **state)
{
	struct scratch scratch;
	cleanup_free char *own = NULL;
	cleanup_free char *other = NULL;

	(void)state;
	scratch_init(&scratch);
	{
		cleanup_free char *home = xasprintf("HOME=%s", scratch.path);
		cleanup_free char *named = xasprintf("NETRC=%s/named", scratch.path);
		char *const plain[] = { home, NULL };
		char *const both[] = { home, named, NULL };

		assert_null(netrc_read(plain, NULL));
		scratch_write(scratch.fd, ".netrc", "own");
		assert_null(netrc_read(both, NULL));
		scratch_write(scratch.fd, "named", "named");
		own = netrc_read(plain, NULL);
		other = netrc_read(both, NULL);
	}
	assert_string_equal(own, "own");
	assert_string_equal(other, "named");
	scratch_release(&scratch);
}

static void indexes_have_a_login_where_the_url_has_none(void **state)
{
	static const char *const want[] = { "https://me:x@a.test/s", "https://u@a.test/s",
					    "http://a.test/s", "http://l:y@localhost:8/s",
					    "https://b.test/s" };
	const struct language python = { .name = "python" };
	cleanup_indexes struct indexes indexes = { .urls = NULL };
	cleanup_free char *home = NULL;
	struct scratch scratch;
	struct err err = { .code = ERR_NONE };

	(void)state;
	scratch_init(&scratch);
	home = xasprintf("HOME=%s", scratch.path);
	scratch_write(scratch.fd, ".netrc",
		      "machine a.test login me password x machine localhost login l password y");
	{
		static char no_config[] = "PIP_CONFIG_FILE=/dev/null";
		static char urls[] = "https://a.test/s https://u@a.test/s http://a.test/s "
				     "http://localhost:8/s https://b.test/s";
		char *environment[] = { home, no_config, NULL };
		const struct settings settings = { .environment = environment, .pip_index = urls };

		if (indexes_read(&settings, NULL, &python, &indexes, &err) < 0)
			fail_msg("%s", err.msg);
	}
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_string_equal(json_string_value(json_array_get(indexes.urls, i)), want[i]);
	scratch_release(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_login_is_that_of_its_machine),
		cmocka_unit_test(what_is_cut_is_no_login),
		cmocka_unit_test(the_file_is_the_person_s_or_the_named_one),
		cmocka_unit_test(indexes_have_a_login_where_the_url_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
