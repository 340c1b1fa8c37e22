/* SPDX-License-Identifier: MIT */
/* Results of a killed server that cannot be saved at once: they stay, and a later server saves
 * them. */
#include "rescue_fixture.h"

#include "json/get.h"
#include "workspace/keeplog.h"
#include "workspace/rescue_record.h"

/* Nothing can be saved below a root that is a file. */
static void take_root(const struct fixture *f)
{
	scratch_write(f->scratch.fd, "kept", "no folder");
}

static void give_root_back(void)
{
	assert_int_equal(unlink(root), 0);
}

static char *rescue_in_vain(const struct fixture *f, const struct rescue_spec *spec)
{
	char *log;

	stays = true;
	log = run_logged(f, spec);
	stays = false;
	return log;
}

static void a_folder_stays_until_its_results_can_be_saved(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	cleanup_free char *log = NULL;
	struct rescue_spec spec;

	scratch_write(server.data, "output/a.csv", "one");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = take_killed(f, &server);
	spec = spec_for(f, name);
	take_root(f);
	log = rescue_in_vain(f, &spec);
	assert_logged(log, "/trip' are not saved yet: ");
	assert_logged(log, "' stays for the next server, which saves what is missing");
	give_root_back();
	rescue(f, name);
	assert_kept("trip/a.csv", "one");
}

static void one_file_without_room_keeps_the_folder(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	cleanup_free char *log = NULL;
	struct rescue_spec spec;

	scratch_write(server.data, "output/a.csv", "one");
	scratch_write(server.data, "output/b.csv", "more than there is room for");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	add_session(&server); /* nothing is due of the last one */
	name = take_killed(f, &server);
	spec = spec_for(f, name);
	spec.total_bytes = 8;
	log = rescue_in_vain(f, &spec);
	assert_logged(log, "1 of the results of '");
	assert_logged(log, "/trip': the next server tries again");
	assert_kept("trip/a.csv", "one");
	rescue(f, name);
	assert_kept("trip/b.csv", "more than there is room for");
	assert_kept("trip/a-2.csv", NULL);
}

/* Nothing can be drawn into a notebook that is a folder. */
static void a_folder_stays_until_its_notebook_can_be_drawn(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_fd int journal = dup(server.journal);
	cleanup_free char *name = NULL;
	cleanup_free char *log = NULL;
	cleanup_free char *notebook = NULL;
	struct rescue_spec spec;

	write_events(server.journal);
	assert_int_equal(mkdirat(server.journal, NOTEBOOK, 0700), 0);
	rescue_record_write(server.journal, root, "trip", NOTEBOOK, NULL);
	name = take_killed(f, &server);
	spec = spec_for(f, name);
	log = rescue_in_vain(f, &spec);
	assert_logged(log, "/trip' is not finished: ");
	assert_logged(log, "' stays for the next server, which saves what is missing");
	assert_int_equal(unlinkat(journal, NOTEBOOK, AT_REMOVEDIR), 0);
	rescue(f, name);
	notebook = read_kept("trip/" NOTEBOOK);
	assert_non_null(notebook);
}

static void a_file_that_cannot_be_read_keeps_no_folder(void **state)
{
	struct fixture *f = *state;
	struct server server;
	cleanup_free char *name = NULL;
	cleanup_free char *log = NULL;
	struct rescue_spec spec;

	if (geteuid() == 0)
		skip(); /* root reads all */
	server = start_server(f);
	scratch_write(server.data, "output/a.csv", "one");
	assert_int_equal(fchmodat(server.data, "output/a.csv", 0, 0), 0);
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = take_killed(f, &server);
	spec = spec_for(f, name);
	log = run_logged(f, &spec);
	assert_logged(log, "1 of the results of '");
	assert_logged(log, "/trip': lost");
}

static void a_session_that_lasts_is_tried_again_until_its_results_are_saved(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	cleanup_free char *log = NULL;
	const struct rescue_spec spec = spec_for(f, NULL);

	scratch_write(server.data, "output/a.csv", "one");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = leave_lasting(f, &server, false);
	take_root(f);
	log = rescue_in_vain(f, &spec);
	assert_logged(log, "/trip' are not saved yet: ");
	assert_false(lasting_has(f, name, LASTING_RESCUED));
	give_root_back();
	rescue(f, NULL);
	assert_kept("trip/a.csv", "one");
	assert_true(lasting_has(f, name, LASTING_RESCUED));
}

/* Leaves the folder of a session as a removal that is cut short while it waits for a copy. */
static char *leave_removal(const struct fixture *f, struct server *server)
{
	char *name = xstrdup(".remove-aaaabbbbccccdddd");

	assert_int_equal(renameat(home_fd(server->home), workspace_name(server->session),
				  home_fd(f->home), name),
			 0);
	kill_server(server);
	return name;
}

static void results_of_a_session_that_was_to_be_removed_are_saved(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	struct rescue_spec spec = spec_for(f, NULL);
	cleanup_free char *name = NULL;
	cleanup_free char *log = NULL;

	scratch_write(server.data, "output/a.csv", "one");
	write_lost(server.journal, 1);
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = leave_removal(f, &server);
	spec.name = name;
	take_root(f);
	log = rescue_in_vain(f, &spec);
	give_root_back();
	mem_cleanup(&log);
	log = run_logged(f, &spec);
	assert_logged(log, "saved what a server that ended had not: 1 file is in '");
	assert_kept("trip/a.csv", "one");
	assert_int_equal(told.killed, 0);
}

static void a_folder_that_code_made_has_nothing_to_save(void **state)
{
	static const char spent[] = ".spent-aaaabbbbccccdddd";
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;

	scratch_write(server.data, "output/a.csv", "one");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = leave_removal(f, &server);
	assert_int_equal(renameat(home_fd(f->home), name, home_fd(f->home), spent), 0);
	rescue(f, spent);
	assert_int_equal(count_in(root, ""), -1);
}

static void a_session_whose_removal_has_begun_has_nothing_to_save(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;

	scratch_write(server.data, "output/a.csv", "one");
	name = leave_removal(f, &server);
	rescue(f, name);
	assert_int_equal(count_in(root, ""), -1);
}

/* Returns whether an id leads to it. */
static bool is_found(const struct fixture *f)
{
	cleanup_lasting struct lasting_found found;

	lasting_find(f->home, "trip", &found);
	return found.count > 0;
}

static void a_destroyed_session_is_removed_once_its_results_are_saved(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	int journal = -1;

	scratch_write(server.data, "output/a.csv", "one");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	name = leave_lasting(f, &server, false);
	assert_true(is_found(f));
	assert_true(rescue_is_due(f->home, name));
	assert_true(lasting_forget(f->home, name));
	assert_false(is_found(f));
	rescue(f, NULL);
	assert_kept("trip/a.csv", "one");
	assert_int_equal(lasting_open(f->home, name, &journal), -1);
	assert_false(rescue_is_due(f->home, name));
	assert_false(lasting_forget(f->home, name));
}

static void a_session_whose_results_are_saved_is_not_due(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = leave_lasting(f, &server, true);

	assert_false(rescue_is_due(f->home, name));
}

/* All results were copied at its end, but not the last notebook. */
static void the_notebook_of_a_session_that_lasts_is_completed_once(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	cleanup_free char *text = NULL;

	write_events(server.journal);
	rescue_record_write(server.journal, root, "trip", "notebook.ipynb", NULL);
	keeplog_set_due(server.journal, true);
	name = leave_lasting(f, &server, true);
	rescue(f, NULL);
	text = read_kept("trip/notebook.ipynb");
	assert_non_null(text);
	assert_non_null(strstr(text, "two = 2"));
	assert_true(lasting_has(f, name, LASTING_RESCUED));
	assert_false(lasting_has(f, name, KEEPLOG_DUE));
}

static void a_folder_whose_results_are_saved_has_nothing_due(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_fd int journal = dup(server.journal);
	cleanup_free char *name = NULL;

	scratch_write(server.data, "output/a.csv", "one");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	keeplog_set_due(server.journal, true);
	name = leave_removal(f, &server);
	assert_true(keeplog_is_due(journal));
	rescue(f, name);
	assert_kept("trip/a.csv", "one");
	assert_false(keeplog_is_due(journal));
}

/* ---- copies that the server had made ---- */

/* Makes a copy in the folder "trip", and the line that its server wrote of it. */
static void put_recorded(int journal, const char *name)
{
	cleanup_json json_t *line = json_object();
	cleanup_free char *from = xasprintf("output/%s", name);
	cleanup_free char *path = xasprintf("%s/trip/%s", root, name);
	struct stat st;

	put_kept("trip", name, "earlier");
	assert_int_equal(stat(path, &st), 0);
	json_put_path(line, "from", from);
	json_put_path(line, "to", name);
	json_put_int(line, "ino", (json_int_t)st.st_ino);
	json_put_int(line, "mtime",
		     (json_int_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
	json_put_int(line, "size", st.st_size);
	keeplog_append(journal, line, NULL);
}

/* Its files are as they are to be. */
static void an_earlier_copy_of_a_server_that_ended_is_replaced(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;

	scratch_write(server.data, "output/a.csv", "new");
	scratch_write(server.data, "output/b.csv", "new");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	put_recorded(server.journal, "a.csv");
	put_recorded(server.journal, "b.csv");
	put_kept("trip", "b.csv", "of the user");
	keeplog_set_due(server.journal, true);
	name = leave_removal(f, &server);
	rescue(f, name);
	assert_kept("trip/a.csv", "new");
	assert_kept("trip/a-2.csv", NULL);
	assert_kept("trip/b.csv", "of the user");
	assert_kept("trip/b-2.csv", "new");
}

/* Code may have been writing. The copy stays the file's own for a later life. */
static void an_earlier_copy_of_a_killed_server_stays(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_fd int journal = dup(server.journal);
	cleanup_free char *name = NULL;
	cleanup_json json_t *copies = NULL;
	const json_t *copy;

	scratch_write(server.data, "output/a.csv", "new");
	rescue_record_write(server.journal, root, "trip", NULL, NULL);
	put_recorded(server.journal, "a.csv");
	name = leave_lasting(f, &server, false);
	rescue(f, NULL);
	assert_kept("trip/a.csv", "earlier");
	assert_kept("trip/a-2.csv", "new");
	copies = keeplog_copies(journal);
	copy = json_object_get(copies, "output/a.csv");
	assert_string_equal(json_text_at(copy, "to"), "a.csv");
}

/* As after a rescue that was killed between the copy and its record. */
static void a_report_that_is_there_already_is_recorded_as_the_report(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_fd int journal = dup(server.journal);
	cleanup_free char *name = NULL;
	cleanup_free char *log = NULL;

	write_events(server.journal);
	rescue_record_write(server.journal, root, "trip", "notebook.ipynb", "report.html");
	name = leave_lasting(f, &server, false);
	rescue(f, NULL);
	assert_kept("trip/report-2.html", NULL);
	assert_int_equal(unlinkat(journal, KEEPLOG_FILE, 0), 0);
	assert_int_equal(unlinkat(journal, LASTING_RESCUED, 0), 0);
	rescue(f, NULL);
	assert_kept("trip/report-2.html", NULL);
	log = scratch_read(journal, KEEPLOG_FILE);
	assert_non_null(strstr(log, "\"from\":\"//\",\"to\":\"report.html\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESCUE_TEST(a_folder_stays_until_its_results_can_be_saved),
		RESCUE_TEST(one_file_without_room_keeps_the_folder),
		RESCUE_TEST(a_folder_stays_until_its_notebook_can_be_drawn),
		RESCUE_TEST(a_file_that_cannot_be_read_keeps_no_folder),
		RESCUE_TEST(a_session_that_lasts_is_tried_again_until_its_results_are_saved),
		RESCUE_TEST(results_of_a_session_that_was_to_be_removed_are_saved),
		RESCUE_TEST(a_folder_that_code_made_has_nothing_to_save),
		RESCUE_TEST(a_session_whose_removal_has_begun_has_nothing_to_save),
		RESCUE_TEST(a_destroyed_session_is_removed_once_its_results_are_saved),
		RESCUE_TEST(a_session_whose_results_are_saved_is_not_due),
		RESCUE_TEST(the_notebook_of_a_session_that_lasts_is_completed_once),
		RESCUE_TEST(a_folder_whose_results_are_saved_has_nothing_due),
		RESCUE_TEST(an_earlier_copy_of_a_server_that_ended_is_replaced),
		RESCUE_TEST(an_earlier_copy_of_a_killed_server_stays),
		RESCUE_TEST(a_report_that_is_there_already_is_recorded_as_the_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
