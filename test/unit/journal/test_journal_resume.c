/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal/events.h"
#include "journal/notebook_setup.h"
#include "journal_fixture.h"

static const struct journal_spec spec = { .session_id = "sales",
					  .max_bytes = 1 << 20,
					  .output_max = 1 << 20 };

/* Ends the server and goes on in its journal. */
static void resume(void)
{
	journal_free(journal);
	journal = journal_resume(scratch.fd, &spec, &err);
	if (journal == NULL)
		fail_msg("%s", err.msg);
}

static off_t file_size(void)
{
	struct stat st;

	assert_int_equal(fstatat(scratch.fd, EVENTS_FILE, &st, 0), 0);
	return st.st_size;
}

static void cut_to(off_t size)
{
	int fd = openat(scratch.fd, EVENTS_FILE, O_WRONLY | O_CLOEXEC);

	assert_int_equal(ftruncate(fd, size), 0);
	(void)close(fd);
}

static void append(const char *data, size_t len)
{
	int fd = openat(scratch.fd, EVENTS_FILE, O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_int_equal(write(fd, data, len), (ssize_t)len);
	(void)close(fd);
}

static void cells_go_on_behind_those_of_the_life_before(void **state)
{
	json_t *value;

	(void)state;
	add(entry_of(1, "python", "a = 1", ""));
	add(entry_of(2, "bash", "ls", "x\n"));
	resume();
	assert_int_equal(journal_last_number(journal), 2);
	assert_true(journal_has_run(journal));
	add(entry_of(3, "python", "a", "1\n"));
	resume();
	assert_int_equal(journal_last_number(journal), 3);
	value = notebook();
	assert_cell(value, 0, "a = 1", NULL);
	assert_cell(value, 2, "a", "1\n");
	json_decref(value);
	assert_drawn();
}

static void a_torn_end_is_cut_off_wherever_it_was_torn(void **state)
{
	off_t whole;
	off_t torn;

	(void)state;
	add(entry_of(1, "python", "a = 1", ""));
	whole = file_size();
	add(entry_of(2, "python", "b = 2", "out\n"));
	torn = file_size();
	for (off_t size = torn - 1; size > whole; size--) {
		journal_free(journal);
		journal = NULL;
		cut_to(size);
		resume();
		assert_true(file_size() <= size);
		assert_true(journal_last_number(journal) <= 2);
		assert_true(file_size() >= whole);
	}
	add(entry_of(3, "python", "c = 3", "three\n"));
	resume();
	assert_int_equal(journal_last_number(journal), 3);
}

static void rubbish_behind_the_last_event_goes(void **state)
{
	off_t whole;

	(void)state;
	add(entry_of(1, "python", "a = 1", ""));
	whole = file_size();
	append("ffffffff ffffffff ffffffff\n{}", 29);
	resume();
	assert_int_equal(file_size(), whole);
	add(entry_of(2, "python", "a", "1\n"));
	resume();
	assert_int_equal(journal_count(journal), 2);
}

static void a_cell_that_ran_when_the_server_was_killed_stays_killed(void **state)
{
	struct journal_entry ran = entry_of(1, "python", "work()", "");
	struct journal_line line;

	(void)state;
	assert_int_equal(ask(&ran), 0);
	assert_int_equal(journal_begin(journal, 1, &err), 0);
	resume();
	add(entry_of(2, "python", "again()", ""));
	resume();
	assert_true(journal_at(journal, 0, &line));
	assert_string_equal(line.state, JOURNAL_KILLED);
	assert_true(journal_at(journal, 1, &line));
	assert_string_equal(line.state, "done");
}

static void cells_before_the_last_life_are_earlier(void **state)
{
	struct journal_line line;

	(void)state;
	add(entry_of(1, "python", "a = 1", ""));
	add(entry_of(2, "python", "b = 2", ""));
	assert_int_equal(journal_note(journal, NOTE_RESUMED, 0, json_object(), &err), 0);
	add(entry_of(3, "python", "c = 3", ""));
	resume();
	for (size_t i = 0; journal_at(journal, i, &line); i++)
		assert_int_equal(line.earlier, line.number < 3);
}

static json_t *installed_by(int cell)
{
	json_t *fields = json_pack("{s:s, s:[[s, s]]}", "language", "python", "packages", "a", "1");

	if (cell > 0)
		json_put_int(fields, NOTE_BY, cell);
	return fields;
}

/* Returns a removal after which the session has no package. */
static json_t *removed_by(int cell)
{
	return json_pack("{s:s, s:[], s:[s], s:i}", "language", "python", "packages", "removed",
			 "a 1", NOTE_BY, cell);
}

static void what_killed_cells_installed_can_be_read(void **state)
{
	struct journal_entry ran = entry_of(2, "python", "work()", "");
	cleanup_json json_t *installed = NULL;

	(void)state;
	assert_int_equal(journal_note(journal, NOTE_INSTALLED, 0, installed_by(1), &err), 0);
	add(entry_of(1, "python", "a", "1\n"));
	assert_int_equal(ask(&ran), 0);
	assert_int_equal(journal_begin(journal, 2, &err), 0);
	assert_int_equal(journal_note(journal, NOTE_INSTALLED, 0, installed_by(0), &err), 0);
	assert_int_equal(journal_note(journal, NOTE_INSTALLED, 0, installed_by(2), &err), 0);
	assert_int_equal(journal_note(journal, NOTE_INSTALLED, 0, removed_by(2), &err), 0);
	resume();
	installed = journal_read_installed(journal, &err);
	assert_int_equal(json_array_size(installed), 2);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(installed, 0), NOTE_BY)),
			 2);
	assert_non_null(json_object_get(json_array_get(installed, 1), "removed"));
}

static void without_a_journal_a_new_one_is_made(void **state)
{
	(void)state;
	resume();
	assert_int_equal(journal_last_number(journal), 0);
	add(entry_of(1, "python", "a = 1", ""));
	resume();
	assert_int_equal(journal_count(journal), 1);
}

static void what_is_no_journal_is_refused(void **state)
{
	(void)state;
	scratch_write(scratch.fd, EVENTS_FILE, "something else\n   ");
	assert_null(journal_resume(scratch.fd, &spec, &err));
	assert_int_equal(err.code, ERR_INVALID);
	assert_int_equal(unlinkat(scratch.fd, EVENTS_FILE, 0), 0);
	assert_int_equal(symlinkat("/etc/passwd", scratch.fd, EVENTS_FILE), 0);
	assert_null(journal_resume(scratch.fd, &spec, &err));
	assert_int_equal(unlinkat(scratch.fd, EVENTS_FILE, 0), 0);
	assert_int_equal(mkfifoat(scratch.fd, EVENTS_FILE, 0600), 0);
	assert_null(journal_resume(scratch.fd, &spec, &err));
}

static void numbers_that_no_server_counts_to_are_not_taken(void **state)
{
	struct events *events = events_new(scratch.fd);
	struct event_place place;

	(void)state;
	assert_int_equal(
		events_add(events,
			   "{\"event\":\"asked\",\"cell\":9223372036854775807,\"language\":\"r\"}",
			   "x", 1, &place, &err),
		0);
	assert_int_equal(events_add(events, "{\"event\":\"asked\",\"cell\":-1,\"language\":\"r\"}",
				    "x", 1, &place, &err),
			 0);
	events_free(events);
	resume();
	assert_int_equal(journal_last_number(journal), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOURNAL_TEST(cells_go_on_behind_those_of_the_life_before),
		JOURNAL_TEST(a_torn_end_is_cut_off_wherever_it_was_torn),
		JOURNAL_TEST(rubbish_behind_the_last_event_goes),
		JOURNAL_TEST(a_cell_that_ran_when_the_server_was_killed_stays_killed),
		JOURNAL_TEST(cells_before_the_last_life_are_earlier),
		JOURNAL_TEST(what_killed_cells_installed_can_be_read),
		JOURNAL_TEST(without_a_journal_a_new_one_is_made),
		JOURNAL_TEST(what_is_no_journal_is_refused),
		JOURNAL_TEST(numbers_that_no_server_counts_to_are_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
