/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal_fixture.h"

extern const size_t journal_notebook_setup_source_len;

static void the_notebook_is_whole_after_every_cell(void **state)
{
	(void)state;
	assert_int_equal(notebook_size(), 0);
	for (uint64_t n = 1; n <= 20; n++) {
		json_t *value;

		assert_int_equal(add(entry_of(n, "python", "x = 'é'\n1", "out\n")), JOURNAL_WHOLE);
		value = notebook();
		assert_int_equal(json_array_size(json_object_get(value, "cells")), n);
		assert_int_equal(json_integer_value(json_object_get(value, "nbformat")), 4);
		json_decref(value);
		assert_drawn();
	}
	assert_int_equal(journal_count(journal), 20);
}

static void cells_stand_in_the_order_in_which_they_were_asked_for(void **state)
{
	cleanup_json json_t *record = json_object();
	struct journal_entry slow = entry_of(1, "python", "slow", "slow's\n");
	struct journal_entry waits = entry_of(3, "python", "waits", "");
	enum journal_taken taken;
	struct journal_line line;
	json_t *value;

	(void)state;
	slow.record = waits.record = record;
	assert_int_equal(ask(&slow), 0);
	assert_int_equal(journal_begin(journal, 1, &err), 0);
	add(entry_of(2, "bash", "quick", "quick's\n"));
	assert_int_equal(ask(&waits), 0);
	assert_drawn();
	value = notebook();
	assert_int_equal(json_array_size(json_object_get(value, "cells")), 2);
	assert_cell(value, 0, "slow", "[running]\n");
	assert_cell(value, 1, "%%ptycell bash\nquick", "quick's\n");
	json_decref(value);
	assert_true(journal_at(journal, 0, &line));
	assert_string_equal(line.state, "running");
	assert_true(journal_at(journal, 2, &line));
	assert_string_equal(line.state, "queued");
	assert_false(line.ran);
	assert_int_equal(journal_begin(journal, 3, &err), 0);
	assert_int_equal(journal_end(journal, &waits, &taken, &err), 0);
	assert_int_equal(journal_end(journal, &slow, &taken, &err), 0);
	assert_drawn();
	value = notebook();
	assert_int_equal(json_array_size(json_object_get(value, "cells")), 3);
	assert_cell(value, 0, "slow", "slow's\n");
	assert_cell(value, 1, "%%ptycell bash\nquick", "quick's\n");
	assert_cell(value, 2, "waits", NULL);
	json_decref(value);
}

/* The piece of a cell that was the first once is not the first for ever. */
static void a_cell_that_begins_late_goes_before_those_that_ended(void **state)
{
	cleanup_json json_t *record = json_object();
	struct journal_entry late = entry_of(1, "python", "late", "");
	enum journal_taken taken;
	json_t *value;

	(void)state;
	late.record = record;
	assert_int_equal(ask(&late), 0);
	add(entry_of(2, "bash", "quick", ""));
	value = notebook();
	assert_int_equal(json_array_size(json_object_get(value, "cells")), 1);
	json_decref(value);
	assert_drawn();
	assert_int_equal(journal_begin(journal, 1, &err), 0);
	assert_int_equal(journal_end(journal, &late, &taken, &err), 0);
	value = notebook();
	assert_cell(value, 0, "late", NULL);
	json_decref(value);
	assert_drawn();
}

static void any_range_of_the_notebook_is_that_part_of_it(void **state)
{
	cleanup_buf struct buf whole = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	for (uint64_t n = 1; n <= 5; n++)
		add(entry_of(n, "python", "x", "out\n"));
	assert_int_equal(journal_read_notebook(journal, 0, SIZE_MAX / 4, &whole, &err), 0);
	for (size_t at = 0; at <= whole.len + 1; at++) {
		cleanup_buf struct buf part = BUF_INIT(BUF_UNBOUNDED);
		size_t len = at < whole.len ? size_min(100, whole.len - at) : 0;

		assert_int_equal(journal_read_notebook(journal, at, 100, &part, &err), 0);
		assert_int_equal(part.len, len);
		if (len > 0)
			assert_memory_equal(part.data, whole.data + at, len);
	}
}

static void the_end_of_a_cell_that_was_not_asked_for_is_not_taken(void **state)
{
	struct journal_entry entry = entry_of(4, "python", "x", "");
	cleanup_json json_t *record = json_object();
	enum journal_taken taken = JOURNAL_WHOLE;

	(void)state;
	entry.record = record;
	assert_int_equal(journal_begin(journal, 4, &err), 0);
	assert_int_equal(journal_end(journal, &entry, &taken, &err), 0);
	assert_int_equal(taken, JOURNAL_NOT);
	assert_int_equal(journal_count(journal), 0);
}

static void a_figure_too_large_for_the_notebook_is_left_out_and_said(void **state)
{
	size_t len = (size_t)9 << 20;
	char *data = calloc(1, len);
	const struct journal_image image = { .mime = "image/png", .data = data, .len = len };
	struct journal_entry entry = entry_of(1, "python", "plot()", "");
	cleanup_buf struct buf base64 = BUF_INIT(100);
	const char *mime;
	char *text;
	json_t *value;

	(void)state;
	entry.images = &image;
	entry.image_count = 1;
	journal_set_max(journal, 32 << 20);
	assert_int_equal(add(entry), JOURNAL_WHOLE);
	assert_int_equal(journal_read_image(journal, 0, 0, &base64, &mime, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	value = notebook();
	text = json_dumps(value, 0);
	assert_non_null(strstr(text, "figures too large or too many for the notebook: 1"));
	free(text);
	json_decref(value);
	free(data);
}

/* The journal as the next server finds it. */
static void load_again(void)
{
	journal_free(journal);
	journal = journal_load(scratch.fd, &err);
	if (journal == NULL)
		fail_msg("%s", err.msg);
}

static void a_journal_is_read_again_as_it_was(void **state)
{
	static const struct journal_image image = {
		.mime = "image/png", .file = "a.png", .data = "\0\1\2", .len = 3
	};
	struct journal_entry figure = entry_of(2, "r", "plot(1)", "");
	struct journal_entry never = entry_of(3, "bash", "never", "");
	cleanup_buf struct buf before = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf after = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	figure.images = &image;
	figure.image_count = 1;
	never.ran = false;
	never.state = "not_started";
	add(entry_of(1, "python", "print(1)", "1\n"));
	add(figure);
	add(never);
	assert_int_equal(journal_read_notebook(journal, 0, SIZE_MAX / 4, &before, &err), 0);
	load_again();
	assert_int_equal(journal_count(journal), 3);
	assert_int_equal(journal_read_notebook(journal, 0, SIZE_MAX / 4, &after, &err), 0);
	assert_string_equal(buf_str(&after), buf_str(&before));
	assert_string_equal(journal_language(journal), "python");
	assert_drawn();
}

static void a_cell_that_a_killed_server_ran_stands_there_with_what_was_shown_of_it(void **state)
{
	struct journal_entry ran = entry_of(1, "python", "ran", "");
	struct journal_entry queued = entry_of(2, "python", "queued", "");
	struct journal_line line;
	json_t *value;
	json_t *cell;

	(void)state;
	assert_int_equal(ask(&ran), 0);
	assert_int_equal(journal_begin(journal, 1, &err), 0);
	assert_int_equal(journal_show(journal, 1, "so ", 3, &err), 0);
	assert_int_equal(journal_show(journal, 1, "far\n", 4, &err), 0);
	assert_int_equal(ask(&queued), 0);
	value = notebook();
	assert_cell(value, 0, "ran", "so far\n");
	json_decref(value);
	load_again();
	value = notebook();
	assert_int_equal(json_array_size(json_object_get(value, "cells")), 1);
	assert_cell(value, 0, "ran", "so far\n");
	json_decref(value);
	assert_true(journal_at(journal, 0, &line));
	assert_string_equal(line.state, "killed");
	cell = journal_read_cell(journal, 0, &err);
	assert_string_equal(json_string_value(json_object_get(cell, "text")), "so far\n");
	assert_string_equal(json_string_value(json_object_get(cell, "state")), "killed");
	json_decref(cell);
	assert_drawn();
}

static size_t image_count(size_t index)
{
	struct journal_line line;

	assert_true(journal_at(journal, index, &line));
	return line.image_count;
}

/* A disk that takes no more than so many bytes of a file. */
static void limit_files(rlim_t bytes)
{
	const struct rlimit limit = { .rlim_cur = bytes, .rlim_max = RLIM_INFINITY };
	const struct sigaction ignored = { .sa_handler = SIG_IGN };

	assert_int_equal(sigaction(SIGXFSZ, &ignored, NULL), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_cell_whose_outputs_a_full_disk_does_not_take_ends_without_them(void **state)
{
	static const char data[4000];
	const struct journal_image images[] = {
		{ .mime = "image/png", .data = data, .len = 100 },
		{ .mime = "image/png", .data = data, .len = sizeof(data) },
	};
	struct journal_entry entry = entry_of(1, "python", "plot()", "plotted\n");
	cleanup_json json_t *record = json_object();
	enum journal_taken taken;
	json_t *value;

	(void)state;
	entry.record = record;
	entry.images = images;
	entry.image_count = ARRAY_SIZE(images);
	limit_files(2000);
	assert_int_equal(end(&entry, &taken), -1);
	limit_files(RLIM_INFINITY);
	assert_int_equal(taken, JOURNAL_WITHOUT_OUTPUTS);
	add(entry_of(2, "python", "next", ""));
	load_again();
	assert_int_equal(image_count(1), 0);
	value = notebook();
	assert_non_null(strstr(first_text(value, 0), "the outputs were left out"));
	json_decref(value);
}

static void what_is_shown_of_a_cell_that_goes_on_is_bounded(void **state)
{
	static char text[10000];
	struct journal_entry entry = entry_of(1, "python", "train()", "");
	uint64_t before;

	(void)state;
	memset(text, 'x', sizeof(text));
	journal_set_max(journal, 32 << 20);
	assert_int_equal(ask(&entry), 0);
	assert_int_equal(journal_begin(journal, 1, &err), 0);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(journal_show(journal, 1, text, sizeof(text), &err), 0);
	before = journal_bytes(journal);
	assert_in_range(before, 900000, 1100000);
}

static void a_copy_of_the_notebook_is_known_when_the_journal_is_loaded(void **state)
{
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);
	struct journal_entry entry = entry_of(2, "python", "slow", "");
	struct journal_copy copy;
	uint64_t stable;

	(void)state;
	add(entry_of(1, "bash", "quick", "out\n"));
	assert_int_equal(ask(&entry), 0);
	assert_int_equal(journal_begin(journal, 2, &err), 0);
	assert_int_equal(journal_draw_notebook(journal, &stable, &tail, &err), 0);
	assert_int_equal(journal_add_copy(journal, &tail, &err), 0);
	copy = journal_drawn(journal, &tail);
	assert_int_equal(copy.size, stable + tail.len);
	load_again();
	assert_true(journal_has_copy(journal, &copy));
	copy.crc ^= 1;
	assert_false(journal_has_copy(journal, &copy));
}

static void cells_behind_one_that_goes_on_are_not_all_held(void **state)
{
	static char text[1 << 20];
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);
	struct journal_entry entry = entry_of(1, "python", "slow", "");
	uint64_t stable;

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	journal_set_max(journal, 32 << 20);
	assert_int_equal(ask(&entry), 0);
	assert_int_equal(journal_begin(journal, 1, &err), 0);
	for (uint64_t n = 2; n <= 9; n++)
		add(entry_of(n, "bash", "cat", text));
	assert_int_equal(journal_draw_notebook(journal, &stable, &tail, &err), 0);
	assert_int_equal(stable, 0);
	assert_in_range(tail.len, JOURNAL_TAIL_MAX, JOURNAL_TAIL_MAX + (2 << 20));
	assert_non_null(strstr(buf_str(&tail), "4 more cells are not in this copy: they come when "
					       "cell 1 has ended."));
}

static void cells_that_are_over_are_drawn_one_at_a_time(void **state)
{
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);
	struct journal_entry entry = entry_of(4, "python", "slow", "");
	uint64_t drawn = 0;
	uint64_t whole;
	bool more;

	(void)state;
	for (uint64_t n = 1; n <= 3; n++)
		add(entry_of(n, "bash", "quick", "out\n"));
	assert_int_equal(ask(&entry), 0);
	assert_int_equal(journal_begin(journal, 4, &err), 0);
	for (uint64_t n = 1; n <= 3; n++) {
		assert_int_equal(journal_draw_cell(journal, &more, &err), 0);
		assert_true(more);
		assert_true(journal_drawn(journal, &tail).size > drawn);
		drawn = journal_drawn(journal, &tail).size;
	}
	assert_int_equal(journal_draw_cell(journal, &more, &err), 0);
	assert_false(more);
	assert_int_equal(journal_draw_notebook(journal, &whole, &tail, &err), 0);
	assert_int_equal(whole, drawn);
	assert_int_equal(journal_notebook_size(journal, &whole, &err), 0);
	assert_int_equal(whole, drawn + tail.len);
}

/* Makes a spool file beside the journal's folder, which lies in the scratch folder. */
static int make_spool(const char *name, const char *text)
{
	int dir;

	assert_int_equal(mkdirat(scratch.fd, "journal", 0700), 0);
	assert_int_equal(mkdirat(scratch.fd, "spool", 0700), 0);
	dir = openat(scratch.fd, "spool", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	scratch_write(dir, name, text);
	close(dir);
	return openat(scratch.fd, "journal", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void a_long_output_is_drawn_in_steps(void **state)
{
	static char text[1 << 20];
	struct journal_entry entry = entry_of(1, "python", "print()", "cut");
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf read = BUF_INIT(BUF_UNBOUNDED);
	int dir;
	size_t head = journal_notebook_setup_source_len + (4 << 10); /* as JSON, with the cell */
	size_t steps = 0;
	uint64_t before = 0;
	bool more = true;

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	dir = make_spool("1.txt", text);
	journal_free(journal);
	journal = journal_new(dir, "sales", 8 << 20, 1 << 20, NULL);
	entry.spool_path = "/spool/1.txt";
	entry.spooled = sizeof(text) - 1;
	add(entry);
	for (; more; steps++) {
		uint64_t now;

		assert_int_equal(journal_draw_cell(journal, &more, &err), 0);
		now = journal_drawn(journal, &tail).size;
		assert_in_range(now - before, 0, 256 << 10);
		before = now;
		if (steps == 1) /* who reads it meanwhile gets all of it */
			assert_int_equal(journal_read_notebook(journal, 0, 4 << 20, &read, &err),
					 0);
	}
	assert_in_range(read.len, sizeof(text), sizeof(text) + head);
	assert_in_range(steps, 16 + 8, 16 + 13);
	assert_in_range(before, sizeof(text), sizeof(text) + head);
	assert_int_equal(journal_draw_notebook(journal, &before, &tail, &err), 0);
	assert_int_equal(notebook_size(), before + tail.len);
	close(dir);
}

static void a_cell_names_the_file_with_all_of_its_output(void **state)
{
	struct journal_entry entry = entry_of(1, "bash", "seq 9", "cut");
	static const char note[] = "[all of this output, up to its limit, is in "
				   "outputs/cell-1.txt beside this notebook, or in a numbered "
				   "folder where a result has that name]\n";
	const json_t *outputs;
	struct journal_line line;
	json_t *value;

	(void)state;
	assert_false(journal_cuts(journal, &entry));
	entry.spool_path = "/spool/cell-1-bash.txt";
	entry.spooled = 1 << 20;
	assert_false(journal_cuts(journal, &entry));
	entry.spooled++;
	assert_true(journal_cuts(journal, &entry));
	entry.whole = "outputs/cell-1.txt";
	assert_int_equal(add(entry), JOURNAL_WHOLE);
	assert_true(journal_at(journal, 0, &line) && line.whole);
	value = notebook();
	outputs = json_object_get(cell_of(value, 0), "outputs");
	assert_int_equal(json_array_size(outputs), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(outputs, 1), "text")),
			    note);
	json_decref(value);
	assert_drawn();
	value = journal_read_cell(journal, 0, &err);
	assert_string_equal(json_string_value(json_object_get(value, "whole_output")),
			    "outputs/cell-1.txt");
	json_decref(value);
}

static void a_long_value_is_cut_although_the_output_is_short(void **state)
{
	static char value[20002];
	struct journal_entry entry = entry_of(1, "python", "v", "");

	(void)state;
	memset(value, 'x', sizeof(value) - 1);
	entry.spool_path = "/spool/cell-1-python.txt";
	entry.value = value;
	assert_true(journal_cuts(journal, &entry));
	value[20000] = '\0';
	assert_false(journal_cuts(journal, &entry));
}

static void a_killed_cell_has_the_output_that_it_left(void **state)
{
	cleanup_json json_t *record = json_object();
	struct journal_entry entry = entry_of(1, "bash", "seq 9", "");
	struct journal_left left = { .file = "1.txt", .bytes = 14, .whole = "outputs/1.txt" };
	const json_t *outputs;
	struct journal_line line;
	json_t *value;
	int dir = make_spool("1.txt", "shown and left");

	(void)state;
	journal_free(journal);
	journal = journal_new(dir, "sales", 8 << 20, 1 << 20, NULL);
	entry.record = record;
	assert_int_equal(ask(&entry), 0);
	assert_int_equal(journal_begin(journal, 1, &err), 0);
	assert_int_equal(journal_show(journal, 1, "shown", 5, &err), 0);
	journal_free(journal);
	journal = journal_load(dir, &err);
	assert_non_null(journal);
	/* What answers showed is not replaced by less. */
	left.bytes = 5;
	journal_set_left(journal, 0, &left);
	assert_true(journal_at(journal, 0, &line) && !line.whole);
	left.bytes = 14;
	journal_set_left(journal, 0, &left);
	assert_true(journal_at(journal, 0, &line) && line.whole);
	value = notebook();
	outputs = json_object_get(cell_of(value, 0), "outputs");
	assert_int_equal(json_array_size(outputs), 3);
	assert_string_equal(first_text(value, 0), "shown and left");
	json_decref(value);
	value = journal_read_cell(journal, 0, &err);
	assert_string_equal(json_string_value(json_object_get(value, "text")), "shown and left");
	json_decref(value);
	close(dir);
}

static void check_unaudited(size_t count)
{
	struct journal *loaded = journal_load(scratch.fd, &err);
	struct journal_line line;

	assert_non_null(loaded);
	for (size_t i = 0; journal_at(loaded, i, &line); i++)
		assert_int_equal(line.unaudited, i + count >= journal_count(loaded));
	journal_free(loaded);
}

static void cells_that_ended_after_the_last_audited_end_may_not_be_in_the_audit(void **state)
{
	(void)state;
	add(entry_of(1, "python", "1", ""));
	check_unaudited(1);
	assert_int_equal(journal_audited(journal, 1, &err), 0);
	check_unaudited(0);
	add(entry_of(2, "python", "2", ""));
	add(entry_of(3, "python", "3", ""));
	check_unaudited(2);
	assert_int_equal(journal_audited(journal, 3, &err), 0);
	check_unaudited(0);
	add(entry_of(4, "python", "4", ""));
	assert_int_equal(journal_add_late(journal, "python", "x", 1, &err), 0);
	check_unaudited(1);
}

static void where_there_is_no_journal_none_is_loaded(void **state)
{
	(void)state;
	assert_null(journal_load(scratch.fd, &err));
	assert_int_equal(err.code, ERR_SYSTEM);
	scratch_write(scratch.fd, "events", "something else\n   ");
	assert_null(journal_load(scratch.fd, &err));
	assert_int_equal(err.code, ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOURNAL_TEST(the_notebook_is_whole_after_every_cell),
		JOURNAL_TEST(cells_stand_in_the_order_in_which_they_were_asked_for),
		JOURNAL_TEST(a_cell_that_begins_late_goes_before_those_that_ended),
		JOURNAL_TEST(any_range_of_the_notebook_is_that_part_of_it),
		JOURNAL_TEST(the_end_of_a_cell_that_was_not_asked_for_is_not_taken),
		JOURNAL_TEST(a_journal_is_read_again_as_it_was),
		JOURNAL_TEST(
			a_cell_that_a_killed_server_ran_stands_there_with_what_was_shown_of_it),
		JOURNAL_TEST(a_cell_whose_outputs_a_full_disk_does_not_take_ends_without_them),
		JOURNAL_TEST(what_is_shown_of_a_cell_that_goes_on_is_bounded),
		JOURNAL_TEST(a_copy_of_the_notebook_is_known_when_the_journal_is_loaded),
		JOURNAL_TEST(cells_behind_one_that_goes_on_are_not_all_held),
		JOURNAL_TEST(cells_that_are_over_are_drawn_one_at_a_time),
		JOURNAL_TEST(a_long_output_is_drawn_in_steps),
		JOURNAL_TEST(a_cell_names_the_file_with_all_of_its_output),
		JOURNAL_TEST(a_long_value_is_cut_although_the_output_is_short),
		JOURNAL_TEST(a_killed_cell_has_the_output_that_it_left),
		JOURNAL_TEST(cells_that_ended_after_the_last_audited_end_may_not_be_in_the_audit),
		JOURNAL_TEST(where_there_is_no_journal_none_is_loaded),
		JOURNAL_TEST(a_figure_too_large_for_the_notebook_is_left_out_and_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
