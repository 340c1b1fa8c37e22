/* SPDX-License-Identifier: MIT */
/* The page of the root of exports, as the rescue of a session draws it. */
#include "rescue_fixture.h"

#include <fcntl.h>
#include <sys/file.h>

#include "base/fd.h"
#include "workspace/keepname.h"
#include "workspace/rescue_record.h"

/* Rescues a session with cells, whose results are in "trip". */
static void rescue_trip(const struct fixture *f)
{
	struct server server = start_server(f);
	cleanup_free char *name = NULL;

	write_events(server.journal);
	rescue_record_write(server.journal, root, "trip", NOTEBOOK, "report.html");
	name = take_killed(f, &server);
	rescue(f, name);
}

static void assert_page(const char *name, const char *text, bool has)
{
	cleanup_free char *page = read_kept(name);

	assert_non_null(page);
	if ((strstr(page, text) != NULL) != has)
		fail_msg("'%s' %s in %s", text, has ? "is missing" : "is", page);
}

static void sessions_are_listed_newest_first(void **state)
{
	const struct fixture *f = *state;
	cleanup_free char *page = NULL;
	const char *old;
	const char *fresh;

	put_kept(
		"old", KEEPNAME_NOTE,
		"{\"session_id\":\"old\",\"ended\":\"2020-01-01T00:00:00.000Z\",\"report\":\"r.html\"}");
	put_kept("old", "r.html", "");
	put_kept(
		"new & <b>", KEEPNAME_NOTE,
		"{\"session_id\":\"<b>\",\"begun\":\"9999-01-01T00:00:00.000Z\",\"report\":\"gone\"}");
	rescue_trip(f);
	page = read_kept("index.html");
	assert_non_null(page);
	old = strstr(page, "<a href=\"old/r.html\">old</a>");
	fresh = strstr(page, "<a href=\"new%20%26%20%3Cb%3E/\">&lt;b&gt;</a>");
	assert_true(old != NULL && fresh != NULL && fresh < old);
	assert_page("index.html", "<a href=\"trip/report.html\">trip</a>", true);
}

static void only_folders_with_a_note_are_listed(void **state)
{
	static const char *const notes[] = { "", "{", "[]", "3" };
	const struct fixture *f = *state;
	cleanup_free char *path = xasprintf("%s/linked", root);

	put_kept("users", "report.html", "the user's");
	for (size_t i = 0; i < ARRAY_SIZE(notes); i++) {
		cleanup_free char *name = xasprintf("wrong%zu", i);

		put_kept(name, KEEPNAME_NOTE, notes[i]);
	}
	assert_int_equal(symlink("trip", path), 0);
	rescue_trip(f);
	assert_page("index.html", "users", false);
	assert_page("index.html", "wrong", false);
	assert_page("index.html", "linked", false);
}

static void a_note_leads_nowhere_else(void **state)
{
	const struct fixture *f = *state;

	put_kept("other", "secret.html", "");
	put_kept("other", "secret.png", "\x89PNG");
	put_kept("users", KEEPNAME_NOTE,
		 "{\"report\":\"../other/secret.html\",\"picture\":\"../other/secret.png\"}");
	put_kept("script", KEEPNAME_NOTE, "{\"report\":\"javascript:1\",\"picture\":\"x\"}");
	put_kept("script", "x", "no picture");
	rescue_trip(f);
	assert_page("index.html", "secret", false);
	assert_page("index.html", "javascript", false);
	assert_page("index.html", "<img", false);
	put_kept("script", "x", "\x89PNG");
	rescue_trip(f);
	assert_page("index.html", "src=\"script/x\"", true);
}

static void a_page_of_the_users_stays(void **state)
{
	const struct fixture *f = *state;

	put_kept(".", "index.html", "the user's");
	rescue_trip(f);
	assert_kept("index.html", "the user's");
	assert_page("index-2.html", "trip/report.html", true);
	put_kept("later", KEEPNAME_NOTE, "{\"session_id\":\"later\"}");
	put_kept("trip", "report.html", "changed"); /* so that there is something to do */
	rescue_trip(f);
	assert_page("index-2.html", ">later</a>", true);
	assert_kept("index-3.html", NULL);
}

static void a_page_that_another_program_holds_is_drawn_later(void **state)
{
	const struct fixture *f = *state;
	cleanup_fd int held = -1;

	put_kept("other", "x", "");
	held = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(held, LOCK_EX | LOCK_NB), 0);
	rescue_trip(f);
	assert_kept("index.html", NULL);
	fd_close(&held);
	put_kept("trip", "report.html", "changed"); /* so that there is something to do */
	rescue_trip(f);
	assert_page("index.html", "<a href=\"trip/", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESCUE_TEST(sessions_are_listed_newest_first),
		RESCUE_TEST(only_folders_with_a_note_are_listed),
		RESCUE_TEST(a_note_leads_nowhere_else),
		RESCUE_TEST(a_page_of_the_users_stays),
		RESCUE_TEST(a_page_that_another_program_holds_is_drawn_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
