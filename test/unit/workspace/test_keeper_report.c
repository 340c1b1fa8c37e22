/* SPDX-License-Identifier: MIT */
/* The report that is exported beside the notebook. */
#include "rescue_fixture.h"

#include "workspace/keeper.h"
#include "workspace/keeplog.h"
#include "workspace/keepname.h"
#include "workspace/rescue_record.h"

struct outcome {
	bool told;
	size_t copied;
	bool failed;
	bool redraw;
};

static void on_exported(struct keeper *keeper, const struct keep_result *result)
{
	struct outcome *outcome = keeper_data(keeper);

	outcome->told = true;
	outcome->copied = result->copied;
	outcome->redraw = result->redraw;
	outcome->failed = result->error != NULL;
}

static struct keeper *new_keeper(const struct fixture *f, const struct server *server, bool resumed,
				 struct outcome *outcome)
{
	struct keeper *keeper = keeper_new(&(struct keeper_spec){ .loop = f->loop,
								  .workspace = server->session,
								  .helper = HELPER,
								  .root = root,
								  .notebook = true,
								  .session_id = "trip",
								  .resumed = resumed,
								  .data = outcome });

	keeper_set_quota(keeper, ROOM);
	return keeper;
}

static void export_report(const struct fixture *f, struct keeper *keeper)
{
	struct outcome *outcome = keeper_data(keeper);
	json_t *report = json_pack("{s:s,s:i,s:s}", "head", "head ", "size", 6, "tail", " tail\n");
	const struct keeper_notebook_copy copy = {
		.file = NOTEBOOK, .size = 4, .suffix = "", .report = report
	};

	outcome->told = false;
	keeper_copy_notebook(keeper, &copy, on_exported);
	while (!outcome->told)
		loop_turn(f->loop, -1);
	json_decref(report);
}

static char *kept_report(struct keeper *keeper, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", keeper_path(keeper), name);

	return scratch_read(AT_FDCWD, path);
}

/*
 * Ends the server while so many exports of the notebook are asked for, of which one runs. Returns
 * whether the next server finds that something is due.
 */
static bool is_due_after(struct fixture *f, int exports)
{
	struct server server = start_server(f);
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, &server, false, &outcome);
	const struct keeper_notebook_copy copy = { .file = NOTEBOOK, .size = 4, .suffix = "" };
	cleanup_fd int journal = dup(server.journal);
	cleanup_free char *name = NULL;

	scratch_write(server.journal, NOTEBOOK, "ours");
	for (int i = 0; i < exports; i++)
		keeper_copy_notebook(keeper, &copy, on_exported);
	keeper_free(keeper);
	name = take_killed(f, &server);
	return keeplog_is_due(journal);
}

static void a_last_notebook_that_does_not_begin_is_the_next_servers(void **state)
{
	assert_true(is_due_after(*state, 2));
}

static void a_last_notebook_that_ends_in_time_is_not_due(void **state)
{
	assert_false(is_due_after(*state, 1));
}

static void a_later_life_replaces_the_report(void **state)
{
	const struct fixture *f = *state;
	struct server server = start_server(f);
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, &server, false, &outcome);
	cleanup_free char *first = NULL;
	cleanup_free char *second = NULL;
	cleanup_free char *numbered = NULL;
	cleanup_free char *name = NULL;

	scratch_write(server.journal, NOTEBOOK, "ours");
	scratch_write(server.journal, "report", "piece1 and more");
	export_report(f, keeper);
	assert_int_equal(outcome.copied, 2);
	first = kept_report(keeper, "report.html");
	assert_non_null(first);
	keeper_free(keeper);
	keeper = new_keeper(f, &server, true, &outcome);
	scratch_write(server.journal, "report", "piece2 and more");
	export_report(f, keeper);
	second = kept_report(keeper, "report.html");
	numbered = kept_report(keeper, "report-2.html");
	assert_non_null(second);
	assert_int_equal(strncmp(first, "head piece1 tail\n<!-- ptycell ", 30), 0);
	assert_int_equal(strncmp(second, "head piece2 tail\n<!-- ptycell ", 30), 0);
	assert_null(numbered);
	keeper_free(keeper);
	name = take_killed(f, &server);
}

static void one_that_names_a_folder_of_others_is_drawn_again(void **state)
{
	const struct fixture *f = *state;
	struct server server = start_server(f);
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, &server, false, &outcome);
	cleanup_free char *folder = xstrdup(keeper_path(keeper));
	cleanup_free char *name = NULL;
	cleanup_free char *report = NULL;

	scratch_write(server.journal, NOTEBOOK, "ours");
	scratch_write(server.journal, "report", "piece1");
	(void)mkdir(root, 0700);
	assert_int_equal(mkdir(folder, 0700), 0);
	export_report(f, keeper);
	assert_string_not_equal(keeper_path(keeper), folder);
	assert_true(outcome.redraw);
	assert_int_equal(outcome.copied, 1);
	export_report(f, keeper);
	assert_false(outcome.redraw);
	report = kept_report(keeper, "report.html");
	assert_non_null(report);
	keeper_free(keeper);
	name = take_killed(f, &server);
}

static void one_that_cannot_be_drawn_is_no_problem_of_the_notebook(void **state)
{
	const struct fixture *f = *state;
	struct server server = start_server(f);
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, &server, false, &outcome);
	cleanup_free char *notebook = NULL;
	cleanup_free char *report = NULL;
	cleanup_free char *name = NULL;

	scratch_write(server.journal, NOTEBOOK, "ours");
	scratch_write(server.journal, "report", "short");
	export_report(f, keeper);
	assert_false(outcome.failed);
	notebook = kept_report(keeper, NOTEBOOK);
	report = kept_report(keeper, "report.html");
	assert_string_equal(notebook, "ours");
	assert_null(report);
	keeper_free(keeper);
	name = take_killed(f, &server);
}

static void the_report_is_completed_from_the_journal(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	cleanup_free char *drawn = NULL;
	cleanup_free char *again = NULL;
	cleanup_free char *changed = NULL;
	cleanup_free char *folder = xasprintf("%s/trip", root);
	cleanup_free char *other = xasprintf("%s/trip/mine-2.html", root);
	struct rescue_spec spec;

	write_events(server.journal);
	rescue_record_write(server.journal, root, "trip", NOTEBOOK, "mine.html");
	name = take_killed(f, &server);
	rescue(f, name);
	drawn = read_kept("trip/mine.html");
	assert_non_null(drawn);
	assert_non_null(strstr(drawn, "two = 2"));
	assert_non_null(strstr(drawn, "killed"));
	/* One that is whole already is not copied again. */
	spec = spec_for(f, name);
	again = run_logged(f, &spec);
	assert_string_equal(again, "");
	assert_int_equal(count_in(folder, ""), 2);
	/* One of ours that lacks something is replaced, one that its user changed is not. */
	put_kept("trip", "mine.html", "old\n<!-- ptycell 00000000 -->\n");
	rescue(f, name);
	assert_kept("trip/mine.html", "old\n<!-- ptycell 00000000 -->\n");
	assert_kept("trip/mine-2.html", drawn);
	changed = xasprintf("old\n<!-- ptycell %08x -->\n", crc_32c(0, "old\n", 4));
	put_kept("trip", "mine.html", changed);
	assert_int_equal(unlink(other), 0);
	rescue(f, name);
	assert_kept("trip/mine.html", drawn);
	assert_int_equal(count_in(folder, ""), 2);
}

static void assert_named(const char *title, const char *part)
{
	cleanup_free char *name = keepname_new("a b", title);
	cleanup_free char *expected = xasprintf("-%sa-b-", part);
	const char *at = strchr(strchr(strchr(name, '-') + 1, '-') + 1, '-');

	assert_int_equal(strncmp(at, expected, strlen(expected)), 0);
	assert_int_equal(strlen(at), strlen(expected) + 4);
}

static void a_title_is_a_part_of_the_name(void **state)
{
	static const char long_title[] =
		"0123456789012345678901234567890123456789012345678901234567";

	(void)state;
	assert_named(NULL, "");
	assert_named("", "");
	assert_named(" /../ ", "..-");
	assert_named("--", "");
	assert_named("Sales: by  region!", "Sales-by-region-");
	assert_named("\xc3\xbc/\n", "\xc3\xbc-");
	/* 58 characters, and one of three bytes that has no room. */
	cleanup_free char *title = xasprintf("%s\xe2\x82\xac", long_title);
	cleanup_free char *part = xasprintf("%s-", long_title);

	assert_named(title, part);
}

static void the_first_title_names_the_folder_until_it_is_made(void **state)
{
	const struct fixture *f = *state;
	struct server server = start_server(f);
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, &server, false, &outcome);
	cleanup_free char *path = NULL;
	cleanup_free char *name = NULL;

	keeper_set_title(keeper, "Sales");
	keeper_set_title(keeper, "Another");
	assert_non_null(strstr(keeper_path(keeper), "-Sales-trip-"));
	path = rescue_record_path(server.journal);
	assert_string_equal(path, keeper_path(keeper));
	keeper_free(keeper);
	keeper = new_keeper(f, &server, false, &outcome);
	scratch_write(server.journal, NOTEBOOK, "ours");
	scratch_write(server.journal, "report", "piece1");
	export_report(f, keeper);
	keeper_set_title(keeper, "Late");
	assert_null(strstr(keeper_path(keeper), "Late"));
	keeper_free(keeper);
	name = take_killed(f, &server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESCUE_TEST(a_last_notebook_that_does_not_begin_is_the_next_servers),
		RESCUE_TEST(a_last_notebook_that_ends_in_time_is_not_due),
		RESCUE_TEST(a_later_life_replaces_the_report),
		RESCUE_TEST(one_that_names_a_folder_of_others_is_drawn_again),
		RESCUE_TEST(one_that_cannot_be_drawn_is_no_problem_of_the_notebook),
		RESCUE_TEST(a_title_is_a_part_of_the_name),
		RESCUE_TEST(the_first_title_names_the_folder_until_it_is_made),
		RESCUE_TEST(the_report_is_completed_from_the_journal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
