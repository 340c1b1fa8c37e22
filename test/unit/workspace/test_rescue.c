/* SPDX-License-Identifier: MIT */
/* The rescue of what a killed server had not exported. */
#include "rescue_fixture.h"

#include <sys/file.h>

#include "workspace/home.h"
#include "workspace/keeplog.h"
#include "workspace/rescue_record.h"

enum { DEEP = 64 }; /* deeper than RESCUE_DEPTH_MAX */

/* ---- servers that ended ---- */

static void results_are_saved_in_the_recorded_folder(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;

	scratch_write(server.data, "output/a.csv", "one");
	assert_int_equal(mkdirat(server.data, "output/plots", 0700), 0);
	scratch_write(server.data, "output/plots/b.png", "two");
	scratch_write(server.data, "beside.txt", "three");
	scratch_write(server.data, "input/given.csv", "four");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = take_killed(f, &server);
	rescue(f, name);
	assert_kept("trip/a.csv", "one");
	assert_kept("trip/plots/b.png", "two");
	assert_kept("trip/files/beside.txt", "three");
	assert_kept("trip/files/given.csv", NULL);
	assert_kept("trip/" NOTEBOOK, NULL);
	assert_int_equal(told.killed, 0);
	/* The folder is removed by the one who is told that all is copied. */
	assert_true(session_has(f, name, "data/output/a.csv"));
}

/* Cells that ran again when the server was killed made other files. */
static void results_that_lie_aside_are_those_that_count(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;

	scratch_write(server.data, "output/a.csv", "one");
	assert_int_equal(workspace_set_aside(server.session, &err), 0);
	scratch_write(server.data, "output/a.csv", "again");
	scratch_write(server.data, "output/b.csv", "again");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = take_killed(f, &server);
	rescue(f, name);
	assert_kept("trip/a.csv", "one");
	assert_kept("trip/b.csv", NULL);
}

static void without_results_no_folder_is_made(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;

	scratch_write(server.data, "input/given.csv", "one");
	rescue_record_write(server.journal, root, "trip", NOTEBOOK, NULL);
	name = take_killed(f, &server);
	rescue(f, name);
	assert_int_equal(count_in(root, ""), -1);
}

static void a_folder_that_was_begun_is_completed(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;

	put_kept("trip", "same.csv", "one");
	put_kept("trip", "changed.csv", "of the user");
	scratch_write(server.data, "output/same.csv", "one");
	scratch_write(server.data, "output/changed.csv", "two");
	scratch_write(server.data, "output/new.csv", "three");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = take_killed(f, &server);
	rescue(f, name);
	assert_kept("trip/same.csv", "one");
	assert_kept("trip/same-2.csv", NULL);
	assert_kept("trip/changed.csv", "of the user");
	assert_kept("trip/changed-2.csv", "two");
	assert_kept("trip/new.csv", "three");
	assert_int_equal(count_in(root, ""), 1);
}

static void every_session_of_the_server_is_saved(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;

	scratch_write(server.data, "output/a.csv", "one");
	rescue_record_write(server.journal, root, "first", NULL, NULL);
	add_session(&server); /* without a record: its results are not exported */
	scratch_write(server.data, "output/a.csv", "two");
	add_session(&server);
	scratch_write(server.data, "output/a.csv", "three");
	rescue_record_write(server.journal, root, "third", NULL, NULL);
	name = take_killed(f, &server);
	bad_reads = 1; /* the folder stays, and is rescued again */
	rescue(f, name);
	assert_int_equal(count_in(root, ""), -1);
	rescue(f, name);
	assert_kept("first/a.csv", "one");
	assert_kept("third/a.csv", "three");
	assert_int_equal(count_in(root, ""), 2);
}

static void a_second_rescue_finds_nothing_more(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	cleanup_free char *first = NULL;
	cleanup_free char *second = NULL;
	cleanup_free char *folder = xasprintf("%s/trip", root);
	struct rescue_spec spec;

	scratch_write(server.data, "output/a.csv", "one");
	scratch_write(server.data, "output/b.csv", "two");
	write_events(server.journal);
	write_lost(server.journal, 1);
	rescue_record_write(server.journal, root, "trip", NOTEBOOK, NULL);
	name = take_killed(f, &server);
	spec = spec_for(f, name);
	first = run_logged(f, &spec);
	assert_logged(first, "saved what a server that was killed had not: 3 files are in '");
	assert_null(strstr(strstr(first, "saved what") + 1, "saved what"));
	assert_int_equal(told.killed, 1);
	second = run_logged(f, &spec);
	assert_string_equal(second, "");
	assert_int_equal(told.killed, 0);
	assert_int_equal(count_in(folder, ""), 3);
}

static void the_notebook_is_completed_from_the_journal(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	cleanup_free char *text = NULL;

	write_events(server.journal);
	rescue_record_write(server.journal, root, "trip", "mine.ipynb", NULL);
	put_kept("trip", "mine.ipynb", "of the user");
	name = take_killed(f, &server);
	rescue(f, name);
	assert_kept("trip/mine.ipynb", "of the user");
	text = read_kept("trip/mine-2.ipynb");
	assert_non_null(text);
	assert_non_null(strstr(text, "one = 1"));
	assert_non_null(strstr(text, "two = 2"));
	assert_non_null(strstr(text, "killed"));
}

static void cells_that_ran_are_told_once(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;

	scratch_write(server.data, "output/a.csv", "one");
	write_events(server.journal);
	write_lost(server.journal, 1);
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = take_killed(f, &server);
	assert_true(session_has(f, name, "journal/" LOSTCELLS_RECORD));
	rescue(f, name);
	assert_int_equal(told.killed, 1);
	assert_int_equal(told.cells, 1);
	assert_int_equal(told.cell, 2);
	assert_int_equal(told.installed, 1);
	assert_non_null(told.folder);
	assert_non_null(strstr(told.folder, "trip"));
	assert_false(session_has(f, name, "journal/" LOSTCELLS_RECORD));
	rescue(f, name);
	assert_int_equal(told.killed, 0);
}

static void cells_are_told_without_a_folder_if_nothing_was_saved(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;

	write_events(server.journal);
	write_lost(server.journal, 1);
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = take_killed(f, &server);
	rescue(f, name);
	assert_int_equal(told.killed, 1);
	assert_null(told.folder);
}

static void cells_of_an_earlier_life_are_not_told(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;

	write_events(server.journal);
	write_lost(server.journal, 3);
	name = take_killed(f, &server);
	rescue(f, name);
	assert_int_equal(told.killed, 0);
	assert_false(session_has(f, name, "journal/" LOSTCELLS_RECORD));
}

/* ---- what fails ---- */

static void a_helper_that_is_missing_is_reported(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	cleanup_free char *log = NULL;
	struct rescue_spec spec;

	scratch_write(server.data, "output/a.csv", "one");
	write_events(server.journal);
	write_lost(server.journal, 1);
	rescue_record_write(server.journal, root, "trip", NOTEBOOK, NULL);
	name = take_killed(f, &server);
	spec = spec_for(f, name);
	spec.helper = "/nonexistent/ptycell-files";
	stays = true;
	log = run_logged(f, &spec);
	stays = false;
	assert_logged(log, "results of '");
	assert_logged(log, "are not saved yet: ");
	assert_logged(log, "is not finished: ");
	assert_logged(log, "the audit of a session that was killed lacks its end: ");
	assert_int_equal(told.killed, 0);
	assert_int_equal(count_in(root, ""), -1);
	assert_true(session_has(f, name, "data/output/a.csv"));
	assert_true(session_has(f, name, "journal/" RESCUE_RECORD));
	assert_true(session_has(f, name, "journal/" LOSTCELLS_RECORD));
	rescue(f, name);
	assert_kept("trip/a.csv", "one");
	assert_int_equal(told.killed, 1);
}

static void results_without_room_are_reported(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	cleanup_free char *log = NULL;
	struct rescue_spec spec;

	scratch_write(server.data, "output/a.csv", "more than there is room for");
	scratch_write(server.data, "output/b.csv", "more than there is room for");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = take_killed(f, &server);
	spec = spec_for(f, name);
	spec.quota_bytes = 4;
	log = run_logged(f, &spec);
	assert_logged(log, "2 of the results of '");
	assert_kept("trip/a.csv", NULL);
	assert_kept("trip/b.csv", NULL);
	assert_true(session_has(f, name, "data/output/a.csv"));
}

static void what_lies_too_deep_is_reported(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_buf struct buf path = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *name = NULL;
	cleanup_free char *log = NULL;
	struct rescue_spec spec;

	scratch_write(server.data, "output/a.csv", "one");
	buf_puts(&path, "output");
	for (int depth = 0; depth < DEEP; depth++) {
		buf_puts(&path, "/d");
		assert_int_equal(mkdirat(server.data, buf_str(&path), 0700), 0);
	}
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = take_killed(f, &server);
	spec = spec_for(f, name);
	log = run_logged(f, &spec);
	assert_logged(log, "not all of '");
	assert_kept("trip/a.csv", "one");
}

static void a_folder_that_is_gone_or_locked_has_nothing(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	cleanup_free char *path = NULL;
	cleanup_fd int lock = -1;

	rescue(f, ".remove-aaaabbbbccccdddd");
	scratch_write(server.data, "output/a.csv", "one");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = take_killed(f, &server);
	path = xasprintf("%s/%s", home_path(f->home), name);
	lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
	rescue(f, name);
	assert_kept("trip/a.csv", NULL);
}

/* Closes the home after so many turns of the loop, in which the helper starts. Opens another. */
static void close_while_it_runs(struct fixture *f, int turns)
{
	struct server server = start_server(f);
	cleanup_free char *home = xstrdup(home_path(f->home));
	cleanup_free char *name = NULL;
	cleanup_free char *again = NULL;
	struct rescue_spec spec;

	scratch_write(server.data, "output/a.csv", "one");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = take_killed(f, &server);
	spec = spec_for(f, name);
	forget_told();
	assert_non_null(rescue_start(&spec, on_done, NULL));
	for (int turn = 0; turn < turns; turn++)
		loop_turn(f->loop, 0);
	/* So that the home that is closed has no session. */
	workspace_discard(f->workspace);
	f->workspace = NULL;
	home_close(f->home);
	assert_int_equal(told.done, 0);
	f->home = home_open(home, &err);
	assert_non_null(f->home);
	again = home_take_stale(f->home);
	assert_non_null(again);
	rescue(f, again);
	assert_kept("trip/a.csv", "one");
	assert_kept("trip/a-2.csv", NULL);
}

static void a_rescue_that_is_freed_before_it_begins_is_done_by_the_next_server(void **state)
{
	close_while_it_runs(*state, 0);
}

static void a_rescue_that_is_freed_while_it_runs_is_done_by_the_next_server(void **state)
{
	close_while_it_runs(*state, 1);
}

/* ---- sessions that last ---- */

static void results_of_a_session_that_lasts_are_saved_once(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	cleanup_free char *kept = xasprintf("%s/trip/a.csv", root);

	scratch_write(server.data, "output/a.csv", "one");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = leave_lasting(f, &server, false);
	rescue(f, NULL);
	assert_kept("trip/a.csv", "one");
	assert_true(lasting_has(f, name, LASTING_RESCUED));
	assert_true(lasting_has(f, name, KEEPLOG_FILE));
	/* The user does not want it. */
	assert_int_equal(unlink(kept), 0);
	rescue(f, NULL);
	assert_kept("trip/a.csv", NULL);
}

static void a_session_that_ended_in_good_order_has_nothing_to_save(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;

	scratch_write(server.data, "output/a.csv", "one");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = leave_lasting(f, &server, true);
	rescue(f, NULL);
	assert_int_equal(count_in(root, ""), -1);
	assert_false(lasting_has(f, name, LASTING_RESCUED));
}

static void a_session_is_not_marked_if_its_helper_cannot_start(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	struct rescue_spec spec;

	scratch_write(server.data, "output/a.csv", "one");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = leave_lasting(f, &server, false);
	spec = spec_for(f, NULL);
	spec.helper = "/nonexistent/ptycell-files";
	run(f, &spec);
	assert_false(lasting_has(f, name, LASTING_RESCUED));
	rescue(f, NULL);
	assert_kept("trip/a.csv", "one");
	assert_true(lasting_has(f, name, LASTING_RESCUED));
}

static void a_server_that_ended_is_not_called_killed(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	struct lasting_record record = { .session_id = xstrdup("trip"), .why = xstrdup("it ends") };
	const struct rescue_spec spec = spec_for(f, NULL);
	cleanup_free char *log = NULL;

	scratch_write(server.data, "output/a.csv", "one");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	assert_int_equal(lasting_write(server.journal, &record, &err), 0);
	lasting_record_release(&record);
	free(take_killed(f, &server));
	log = run_logged(f, &spec);
	assert_logged(log, "saved what a server that ended had not: 1 file is in '");
}

static void a_session_that_is_taken_over_is_skipped(void **state)
{
	struct fixture *f = *state;
	const struct rescue_spec spec = spec_for(f, NULL);
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	struct rescue *rescue;

	scratch_write(server.data, "output/a.csv", "one");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = leave_lasting(f, &server, false);
	rescue = rescue_start(&spec, on_done, NULL);
	loop_turn(f->loop, 0); /* the helper starts */
	assert_int_equal(told.done, 0);
	rescue_skip(rescue, name);
	wait_until_done(f);
	assert_false(lasting_has(f, name, LASTING_RESCUED));
}

static void another_session_that_is_taken_over_changes_nothing(void **state)
{
	struct fixture *f = *state;
	const struct rescue_spec spec = spec_for(f, NULL);
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	struct rescue *rescue;

	scratch_write(server.data, "output/a.csv", "one");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = leave_lasting(f, &server, false);
	rescue = rescue_start(&spec, on_done, NULL);
	rescue_skip(rescue, name); /* it has not begun */
	loop_turn(f->loop, 0);
	rescue_skip(rescue, "another");
	wait_until_done(f);
	assert_kept("trip/a.csv", "one");
	assert_true(lasting_has(f, name, LASTING_RESCUED));
}

/* ---- records ---- */

static void a_record_is_read_only_for_its_root(void **state)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{}",
		"{\"root\":\"/r\"}",
		"{\"root\":\"/r\",\"folder\":\"a/b\"}",
		"{\"root\":\"/r\",\"folder\":\"..\"}",
		"{\"root\":3,\"folder\":\"a\"}",
	};
	const struct fixture *f = *state;
	int journal = workspace_journal_fd(f->workspace);
	cleanup_free char *folder = NULL;

	assert_null(rescue_record_folder(journal, "/r"));
	rescue_record_write(journal, "/r/with space\n", "trip", NOTEBOOK, NULL);
	folder = rescue_record_folder(journal, "/r/with space\n");
	assert_non_null(folder);
	assert_string_equal(folder, "trip");
	free(folder);
	folder = rescue_record_path(journal);
	assert_non_null(strstr(folder, "/r/with space\n/"));
	assert_null(rescue_record_folder(journal, "/r"));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		scratch_write(journal, RESCUE_RECORD, texts[i]);
		assert_null(rescue_record_folder(journal, "/r"));
	}
}

/* Rescues a session of an earlier version, with these events, to `to`. */
static void rescue_earlier(const struct fixture *f, const char *events, const char *to)
{
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	struct rescue_spec spec;

	scratch_write(server.data, "output/a.csv", "one");
	if (events != NULL)
		scratch_write(server.journal, "records", events);
	name = take_killed(f, &server);
	spec = spec_for(f, name);
	spec.root = to;
	run(f, &spec);
}

static void an_earlier_version_is_saved_where_its_events_say(void **state)
{
	rescue_earlier(*state, "{\"saved\":\"~/kept/first\"}\n{\"saved\":\"~/kept/last\"}\n", root);
	assert_kept("last/a.csv", "one");
	assert_int_equal(count_in(root, ""), 1);
}

static void an_earlier_version_whose_events_say_nothing_gets_a_new_folder(void **state)
{
	rescue_earlier(*state, "{\"code\":\"\\\"saved\\\":\\\"x\\\"\"}\n", root);
	assert_int_equal(count_in(root, ""), 1);
	assert_int_equal(count_in(root, "20"), 1); /* the date */
}

static void without_record_and_events_nothing_is_saved(void **state)
{
	rescue_earlier(*state, NULL, root);
	assert_int_equal(count_in(root, ""), -1);
}

static void a_server_that_exports_nothing_saves_no_earlier_version(void **state)
{
	rescue_earlier(*state, "{\"saved\":\"~/kept/first\"}\n", NULL);
	assert_int_equal(count_in(root, ""), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESCUE_TEST(results_are_saved_in_the_recorded_folder),
		RESCUE_TEST(results_that_lie_aside_are_those_that_count),
		RESCUE_TEST(without_results_no_folder_is_made),
		RESCUE_TEST(a_folder_that_was_begun_is_completed),
		RESCUE_TEST(every_session_of_the_server_is_saved),
		RESCUE_TEST(a_second_rescue_finds_nothing_more),
		RESCUE_TEST(the_notebook_is_completed_from_the_journal),
		RESCUE_TEST(cells_that_ran_are_told_once),
		RESCUE_TEST(cells_are_told_without_a_folder_if_nothing_was_saved),
		RESCUE_TEST(cells_of_an_earlier_life_are_not_told),
		RESCUE_TEST(a_helper_that_is_missing_is_reported),
		RESCUE_TEST(results_without_room_are_reported),
		RESCUE_TEST(what_lies_too_deep_is_reported),
		RESCUE_TEST(a_folder_that_is_gone_or_locked_has_nothing),
		RESCUE_TEST(a_rescue_that_is_freed_before_it_begins_is_done_by_the_next_server),
		RESCUE_TEST(a_rescue_that_is_freed_while_it_runs_is_done_by_the_next_server),
		RESCUE_TEST(results_of_a_session_that_lasts_are_saved_once),
		RESCUE_TEST(a_session_that_ended_in_good_order_has_nothing_to_save),
		RESCUE_TEST(a_session_is_not_marked_if_its_helper_cannot_start),
		RESCUE_TEST(a_server_that_ended_is_not_called_killed),
		RESCUE_TEST(a_session_that_is_taken_over_is_skipped),
		RESCUE_TEST(another_session_that_is_taken_over_changes_nothing),
		RESCUE_TEST(a_record_is_read_only_for_its_root),
		RESCUE_TEST(an_earlier_version_is_saved_where_its_events_say),
		RESCUE_TEST(an_earlier_version_whose_events_say_nothing_gets_a_new_folder),
		RESCUE_TEST(without_record_and_events_nothing_is_saved),
		RESCUE_TEST(a_server_that_exports_nothing_saves_no_earlier_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
