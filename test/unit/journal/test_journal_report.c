/* SPDX-License-Identifier: MIT */
#include "journal/journal_report.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "journal_fixture.h"

static const struct journal_report plain = { .live_from = 0 };

/* Returns the report below its style sheet. The caller frees it. */
static char *read_report(const struct journal_report *about)
{
	cleanup_buf struct buf page = BUF_INIT(BUF_UNBOUNDED);
	size_t part = 0;
	size_t before;

	do {
		before = page.len;
		if (journal_read_report(journal, about, &part, &page, &err) < 0)
			fail_msg("%s", err.msg);
	} while (page.len > before);
	if (page.len == 0)
		return xstrdup("");
	assert_memory_equal(buf_str(&page), "<!DOCTYPE html>\n", 16);
	assert_string_equal(buf_str(&page) + page.len - 8, "</html>\n");
	return xstrdup(strstr(buf_str(&page), "</style>"));
}

static void assert_has(const char *page, const char *text)
{
	if (strstr(page, text) == NULL)
		fail_msg("%s is missing in %s", text, page);
}

static void without_a_cell_that_ran_there_is_no_report(void **state)
{
	struct journal_entry never = entry_of(1, "bash", "never", "");
	cleanup_free char *empty = read_report(&plain);
	cleanup_free char *page = NULL;

	(void)state;
	assert_string_equal(empty, "");
	never.ran = false;
	never.state = "not_started";
	add(never);
	page = read_report(&plain);
	assert_string_equal(page, "");
}

static void add_failed(uint64_t number)
{
	struct journal_entry failed = entry_of(number, "bash", "false", "");

	failed.state = "timed_out";
	failed.note = "it took too long";
	add(failed);
}

/* The user or the model stopped it: that is no failure. */
static void add_interrupted(uint64_t number)
{
	struct journal_entry entry = entry_of(number, "python", "while True: pass", "");

	entry.state = "interrupted";
	add(entry);
}

static void the_head_counts_cells_and_names_languages(void **state)
{
	struct journal_entry never = entry_of(2, "r", "never", "");
	cleanup_free char *page = NULL;
	cleanup_free char *with_folder = NULL;

	(void)state;
	assert_int_equal(
		journal_note(journal, "started", 0,
			     json_pack("{s:s,s:s}", "language", "python", "version", "3.11.2"),
			     &err),
		0);
	add(entry_of(1, "python", "1", "one\n"));
	never.ran = false;
	never.state = "not_started";
	add(never);
	add_failed(3);
	add_interrupted(4);
	assert_int_equal(journal_add_late(journal, "bash", "late\n", 5, &err), 0);
	page = read_report(&plain);
	assert_has(page, "<h1>Session sales</h1>");
	assert_has(page, "<dt>Cells</dt><dd>3, 1 failed</dd>");
	assert_has(page, "<dd>python 3.11.2 (2 cells), bash (1 cell)</dd>");
	assert_has(page, "<span class=\"word\">interrupted</span>");
	assert_has(page, "<dt>Time</dt><dd>20");
	assert_has(page, "one\n</pre>");
	assert_has(page, "<summary>it took too long</summary>");
	assert_has(page, "late\n</pre>");
	assert_null(strstr(page, "never"));
	assert_null(strstr(page, "<dt>Results</dt>"));
	with_folder = read_report(&(struct journal_report){ .kept = "/a/<b>" });
	assert_has(with_folder, "<dt>Results</dt><dd>/a/&lt;b&gt;</dd>");
}

static void the_folder_is_taken_from_the_last_cell_with_results(void **state)
{
	static const char *const folders[] = { "/first", "/last", NULL };
	cleanup_free char *page = NULL;

	(void)state;
	for (uint64_t n = 0; n < ARRAY_SIZE(folders); n++) {
		struct journal_entry entry = entry_of(n + 1, "python", "x", "");
		cleanup_json json_t *record = json_object();
		enum journal_taken taken;

		json_put_str(record, "saved", folders[n]);
		entry.record = record;
		assert_int_equal(end(&entry, &taken), 0);
	}
	page = read_report(&(struct journal_report){ .kept = "/other" });
	assert_has(page, "<dt>Results</dt><dd>/last</dd>");
}

static void a_cell_without_an_end_may_run_in_a_live_session(void **state)
{
	struct journal_entry entry = entry_of(1, "python", "x", "");
	cleanup_free char *ended = NULL;
	cleanup_free char *live = NULL;

	(void)state;
	assert_int_equal(ask(&entry), 0);
	assert_int_equal(journal_begin(journal, 1, &err), 0);
	assert_int_equal(journal_show(journal, 1, "so far", 6, &err), 0);
	journal_free(journal);
	journal = journal_load(scratch.fd, &err);
	assert_non_null(journal);
	ended = read_report(&plain);
	assert_has(ended, "<dt>Cells</dt><dd>1, 1 failed</dd>");
	assert_has(ended, "ptycell was killed while this cell ran");
	assert_has(ended, "so far</pre>");
	live = read_report(&(struct journal_report){ .live_from = 1 });
	assert_has(live, "<dt>Cells</dt><dd>1</dd>");
	assert_has(live, "No end of this cell is recorded: it runs, or");
	assert_has(live, "so far</pre>");
}

static void a_cell_that_an_earlier_server_left_does_not_run_in_a_live_session(void **state)
{
	cleanup_free char *page = NULL;

	(void)state;
	for (uint64_t n = 1; n <= 2; n++) {
		struct journal_entry entry = entry_of(n, "python", "x", "");

		assert_int_equal(ask(&entry), 0);
		assert_int_equal(journal_begin(journal, n, &err), 0);
	}
	journal_free(journal);
	journal = journal_load(scratch.fd, &err);
	assert_non_null(journal);
	page = read_report(&(struct journal_report){ .live_from = 2 });
	assert_has(page, "<dt>Cells</dt><dd>2, 1 failed</dd>");
	assert_has(page, "ptycell was killed while this cell ran");
	assert_has(page, "No end of this cell is recorded: it runs, or");
}

static void figures_are_in_the_page(void **state)
{
	static const struct journal_image image = { .mime = "image/jpeg", .data = "abc", .len = 3 };
	struct journal_entry entry = entry_of(1, "r", "plot(1)", "");
	cleanup_free char *page = NULL;

	(void)state;
	entry.images = &image;
	entry.image_count = 1;
	add(entry);
	page = read_report(&plain);
	assert_has(page, "alt=\"Figure 1 of cell 1\" src=\"data:image/jpeg;base64,YWJj\"");
}

/* The journal of an earlier server is read as it is. */
static void what_is_no_table_is_not_drawn_as_one(void **state)
{
	static const char *const tables[] = {
		"{\"columns\":[\"a\"],\"rows\":[[1]]}",
		"{\"columns\":[\"a\",\"b\"],\"rows\":[[\"x\"]]}",
		"{\"columns\":[1],\"rows\":[]}",
		"{}",
	};
	cleanup_free char *page = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		cleanup_json json_t *table = json_parse_const(tables[i]);
		struct journal_entry entry = entry_of(i + 1, "python", "df", "");

		entry.value = "the text";
		entry.table = table;
		add(entry);
	}
	assert_drawn();
	page = read_report(&plain);
	assert_null(strstr(page, "<table>"));
	assert_has(page, "the text");
}

static void a_file_that_was_changed_is_an_error(void **state)
{
	cleanup_buf struct buf page = BUF_INIT(BUF_UNBOUNDED);
	cleanup_fd int fd = -1;
	size_t part = 1;

	(void)state;
	add(entry_of(1, "python", "x", "out\n"));
	fd = openat(scratch.fd, "events", O_WRONLY | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, 20), 0);
	assert_int_equal(journal_read_report(journal, &plain, &part, &page, &err), -1);
}

/* The end of a session draws its report: that must not read all cells once more. */
static void a_cell_that_was_drawn_is_not_read_again(void **state)
{
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);
	cleanup_json json_t *before = NULL;
	cleanup_json json_t *after = NULL;
	cleanup_fd int fd = -1;
	uint64_t stable;

	(void)state;
	add(entry_of(1, "python", "x", "out\n"));
	add(entry_of(2, "python", "y", "more\n"));
	assert_int_equal(journal_draw_notebook(journal, &stable, &tail, &err), 0);
	before = journal_draw_report(journal, &plain, &err);
	fd = openat(scratch.fd, "events", O_WRONLY | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, 20), 0);
	after = journal_draw_report(journal, &plain, &err);
	assert_non_null(after);
	assert_true(json_equal(json_object_get(after, "size"), json_object_get(before, "size")));
	assert_true(json_integer_value(json_object_get(after, "size")) > 0);
	assert_true(json_equal(json_object_get(after, "tail"), json_object_get(before, "tail")));
}

static void cells_behind_a_running_one_are_counted_where_they_are_too_long(void **state)
{
	static char code[JOURNAL_TAIL_MAX + 1];
	struct journal_entry entry;
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);
	cleanup_json json_t *parts = NULL;
	uint64_t stable;

	(void)state;
	memset(code, 'x', sizeof(code) - 1);
	journal_free(journal);
	journal = journal_new(scratch.fd, "sales", 16 << 20, 1 << 20, NULL);
	entry = entry_of(1, "python", code, "");
	assert_int_equal(ask(&entry), 0);
	assert_int_equal(journal_begin(journal, 1, &err), 0);
	add(entry_of(2, "bash", "y", ""));
	assert_int_equal(journal_draw_notebook(journal, &stable, &tail, &err), 0);
	parts = journal_draw_report(journal, &plain, &err);
	assert_non_null(parts);
	assert_has(json_string_value(json_object_get(parts, "tail")),
		   "1 more cell follows here when cell 1 has ended.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOURNAL_TEST(without_a_cell_that_ran_there_is_no_report),
		JOURNAL_TEST(the_head_counts_cells_and_names_languages),
		JOURNAL_TEST(the_folder_is_taken_from_the_last_cell_with_results),
		JOURNAL_TEST(a_cell_without_an_end_may_run_in_a_live_session),
		JOURNAL_TEST(a_cell_that_an_earlier_server_left_does_not_run_in_a_live_session),
		JOURNAL_TEST(figures_are_in_the_page),
		JOURNAL_TEST(what_is_no_table_is_not_drawn_as_one),
		JOURNAL_TEST(a_file_that_was_changed_is_an_error),
		JOURNAL_TEST(a_cell_that_was_drawn_is_not_read_again),
		JOURNAL_TEST(cells_behind_a_running_one_are_counted_where_they_are_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
