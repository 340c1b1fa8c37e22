/* SPDX-License-Identifier: MIT */
/* test_unreported_notice.c - what ended sessions left unreported about shares, in an answer of
 * another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/session_internal.h"
#include "session_fixture.h"
#include "workspace/unreported.h"

static struct session *session;

static int set_up(void **state)
{
	struct err err = { 0 };

	(void)state;
	fixture_open();
	session = session_new(&fixture.host, "test", 1, xstrdup("hello"), NULL, &err);
	if (session == NULL)
		fail_msg("%s", err.msg);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	session_free(session, "the test ended");
	session = NULL;
	fixture_close();
	return 0;
}

static void leave_unreported(void)
{
	static const char *const paths[] = { "/srv/work" };

	unreported_free(unreported_new(fixture.home, "other", paths, 1));
}

static void assert_taken(const char *begins, const char *ends)
{
	char *notice = session_take_notice(session);

	assert_non_null(notice);
	assert_int_equal(strncmp(notice, begins, strlen(begins)), 0);
	assert_string_equal(notice + strlen(notice) - strlen(ends), ends);
	free(notice);
	assert_null(session_take_notice(session));
}

/* The first answer looks for it, and another one when the server has said that there is some. */
static void it_is_in_one_answer(void **state)
{
	static const char unreported[] = "Of the session 'other', which has ended: It ended before";

	(void)state;
	leave_unreported();
	assert_taken(unreported, "\nhello");
	leave_unreported();
	assert_null(session_take_notice(session));
	session_expect_unreported(session);
	assert_taken(unreported, "tell the user.");
}

static void a_session_without_any_has_its_own_notices(void **state)
{
	(void)state;
	assert_taken("hello", "hello");
	session_expect_unreported(session);
	assert_null(session_take_notice(session));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_is_in_one_answer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_session_without_any_has_its_own_notices, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
