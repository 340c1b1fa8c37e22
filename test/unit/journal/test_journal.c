/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/mem.h"
#include "journal/journal.h"
#include "json/make.h"
#include "json/parse.h"
#include "scratch.h"
#include "text/redact.h"

static struct scratch scratch;
static struct journal *journal;
static struct err err;

static int set_up(void **state)
{
	(void)state;
	scratch_init(&scratch);
	journal = journal_new(scratch.fd, "sales", 1 << 20, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	journal_free(journal);
	scratch_release(&scratch);
	return 0;
}

/* A cell that printed `text`. */
static struct journal_entry entry_of(uint64_t number, const char *language, const char *code,
				     const char *text)
{
	return (struct journal_entry){ .number = number,
				       .language = language,
				       .state = "done",
				       .ran = true,
				       .code = code,
				       .code_len = strlen(code),
				       .text = text,
				       .text_len = strlen(text) };
}

static enum journal_taken add(struct journal_entry entry)
{
	cleanup_json json_t *record = json_pack("{s:i}", "cell", (int)entry.number);
	enum journal_taken taken = JOURNAL_NOT;

	entry.record = record;
	if (journal_add(journal, &entry, &taken, &err) < 0)
		fail_msg("%s", err.msg);
	return taken;
}

static json_t *notebook(void)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	json_t *value;

	assert_int_equal(journal_read_notebook(journal, 0, SIZE_MAX / 4, &text, &err), 0);
	assert_int_equal(text.len, journal_notebook_size(journal));
	value = json_parse(buf_str(&text), text.len, &err);
	if (value == NULL)
		fail_msg("%s", err.msg);
	return value;
}

static json_t *cell_of(json_t *value, size_t index)
{
	return json_array_get(json_object_get(value, "cells"), index);
}

static void assert_script(const char *language, const char *expected)
{
	size_t len = strlen(expected);

	assert_int_equal(journal_script_size(journal, language), len);
	/* Any part of it is the same as that part of the whole. */
	for (size_t step = len + 1; step > 0; step = step / 2) {
		cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

		for (size_t at = 0; at < len; at += step)
			assert_int_equal(
				journal_read_script(journal, language, at, step, &text, &err), 0);
		assert_string_equal(buf_str(&text), expected);
	}
}

static void the_notebook_is_whole_after_every_cell(void **state)
{
	(void)state;
	assert_int_equal(journal_notebook_size(journal), 0);
	for (uint64_t n = 1; n <= 20; n++) {
		cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);
		json_t *value;

		assert_int_equal(add(entry_of(n, "python", "x = 'é'\n1", "out\n")), JOURNAL_WHOLE);
		value = notebook();
		assert_int_equal(json_array_size(json_object_get(value, "cells")), n);
		assert_int_equal(json_integer_value(json_object_get(value, "nbformat")), 4);
		json_decref(value);
		assert_true(journal_notebook_stable(journal, &tail) + tail.len ==
			    journal_notebook_size(journal));
	}
	assert_int_equal(journal_count(journal), 20);
}

static void a_cell_is_read_back_with_its_code_and_outputs(void **state)
{
	struct journal_entry entry = entry_of(7, "python", "a\tb\n", "text");
	size_t index;
	json_t *cell;

	(void)state;
	entry.value = "4\033[31m2";
	entry.traceback = "Traceback\nE: x";
	entry.note = "interrupted";
	add(entry_of(6, "python", "six", ""));
	add(entry);
	assert_int_equal(journal_find(journal, 7, &index, &err), 0);
	cell = journal_read_cell(journal, index, &err);
	assert_string_equal(json_string_value(json_object_get(cell, "code")), "a\tb\n");
	assert_string_equal(json_string_value(json_object_get(cell, "text")), "text");
	assert_string_equal(json_string_value(json_object_get(cell, "value")), "42");
	assert_string_equal(json_string_value(json_object_get(cell, "traceback")),
			    "Traceback\nE: x");
	assert_string_equal(json_string_value(json_object_get(cell, "language")), "python");
	assert_int_equal(json_integer_value(json_object_get(cell, "cell")), 7);
	json_decref(cell);
	assert_int_equal(journal_find(journal, 8, &index, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void code_with_a_nul_is_kept_whole(void **state)
{
	struct journal_entry entry = entry_of(1, "python", "", "");
	json_t *cell;

	(void)state;
	entry.code = "a\0b";
	entry.code_len = 3;
	add(entry);
	cell = journal_read_cell(journal, 0, &err);
	assert_int_equal(json_string_length(json_object_get(cell, "code")), 3);
	json_decref(cell);
}

static void figures_are_read_back_from_the_notebook(void **state)
{
	static const struct journal_image images[] = {
		{ .mime = "image/png", .file = "a.png", .data = "\0\1\2", .len = 3 },
		{ .mime = "image/jpeg", .data = "JPEG", .len = 4 },
	};
	struct journal_entry entry = entry_of(2, "python", "plot()", "[figure]\n");
	cleanup_buf struct buf base64 = BUF_INIT(100);
	const char *mime;

	(void)state;
	entry.images = images;
	entry.image_count = 2;
	add(entry_of(1, "python", "1", ""));
	add(entry);
	assert_int_equal(journal_read_image(journal, 1, 0, &base64, &mime, &err), 0);
	assert_string_equal(buf_str(&base64), "AAEC");
	assert_string_equal(mime, "image/png");
	buf_clear(&base64);
	assert_int_equal(journal_read_image(journal, 1, 1, &base64, &mime, &err), 0);
	assert_string_equal(buf_str(&base64), "SlBFRw==");
	assert_int_equal(journal_read_image(journal, 1, 2, &base64, &mime, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_int_equal(journal_read_image(journal, 0, 0, &base64, &mime, &err), -1);
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
	assert_int_equal(add(entry), JOURNAL_WHOLE);
	assert_int_equal(journal_read_image(journal, 0, 0, &base64, &mime, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	value = notebook();
	text = json_dumps(value, 0);
	assert_non_null(strstr(text, "figures too large for the notebook: 1"));
	free(text);
	json_decref(value);
	free(data);
}

/* The limit's rule: outputs stop at seven eighths, code at the whole, nothing is given up. */
static void outputs_end_before_code_does_and_nothing_passes_the_limit(void **state)
{
	char *text = calloc(1, 1001);
	size_t whole = 0;
	size_t bare = 0;
	size_t none = 0;
	json_t *value;
	char *dump;

	(void)state;
	memset(text, 'o', 1000);
	journal_set_max(journal, 64 << 10);
	for (uint64_t n = 1; n <= 300; n++) {
		enum journal_taken taken = add(entry_of(n, "python", "print('o' * 1000)", text));

		/* One after the other, never back. */
		assert_true(taken != JOURNAL_WHOLE || bare + none == 0);
		assert_true(taken != JOURNAL_WITHOUT_OUTPUTS || none == 0);
		whole += taken == JOURNAL_WHOLE;
		bare += taken == JOURNAL_WITHOUT_OUTPUTS;
		none += taken == JOURNAL_NOT;
		assert_true(journal_bytes(journal) <= 64 << 10);
	}
	assert_true(whole > 10 && bare > 3 && none > 100);
	assert_int_equal(journal_count(journal), whole + bare);
	assert_int_equal(journal_bare_count(journal), bare);
	assert_int_equal(journal_left_out(journal), none);
	value = notebook();
	assert_int_equal(json_array_size(json_object_get(value, "cells")), whole + bare + 1);
	dump = json_dumps(cell_of(value, whole + bare), 0);
	assert_non_null(strstr(dump, "The journal is full"));
	free(dump);
	json_decref(value);
	/* More room: it goes on. */
	journal_set_max(journal, 1 << 20);
	assert_int_equal(add(entry_of(301, "python", "1", text)), JOURNAL_WHOLE);
	json_decref(notebook());
	free(text);
}

/* The sentence on what was left out has its room, wherever the last cell ended. */
static void the_note_of_what_is_missing_passes_no_limit(void **state)
{
	(void)state;
	for (uint64_t max = 3000; max < 3400; max++) {
		journal_free(journal);
		(void)unlinkat(scratch.fd, JOURNAL_NOTEBOOK_FILE, 0);
		(void)unlinkat(scratch.fd, "code", 0);
		(void)unlinkat(scratch.fd, "records", 0);
		journal = journal_new(scratch.fd, "sales", max, NULL);
		for (uint64_t n = 1; n <= 20; n++)
			(void)add(entry_of(n, "python", "print('o')", "o"));
		assert_in_range(journal_left_out(journal), 1, 19);
		assert_in_range(journal_bytes(journal), 1, max);
	}
}

static void a_cell_that_never_ran_is_neither_in_notebook_nor_script(void **state)
{
	struct journal_entry entry = entry_of(1, "", "1", "");
	struct journal_line line;

	(void)state;
	entry.ran = false;
	entry.state = "not_started";
	add(entry);
	assert_int_equal(journal_notebook_size(journal), 0);
	assert_null(journal_language(journal));
	assert_true(journal_at(journal, 0, &line));
	assert_string_equal(line.state, "not_started");
	assert_false(journal_at(journal, 1, &line));
	assert_script("python", "");
}

static void cells_of_other_languages_are_magics_and_comments(void **state)
{
	struct journal_entry failed = entry_of(4, "python", "1/0", "");
	json_t *value;

	(void)state;
	failed.state = "raised";
	add(entry_of(1, "bash", "ls\ncd /", ""));
	add(entry_of(2, "python", "x = 1\n", ""));
	add(entry_of(3, "javascript", "let y", ""));
	add(failed);
	assert_string_equal(journal_language(journal), "python");
	assert_script("python", "# %% cell 1, bash\n# ls\n# cd /\n\n"
				"# %% cell 2\nx = 1\n\n"
				"# %% cell 3, javascript\n# let y\n\n"
				"# %% cell 4, raised\n1/0\n\n");
	assert_script("javascript", "// %% cell 1, bash\n// ls\n// cd /\n\n"
				    "// %% cell 2, python\n// x = 1\n\n"
				    "// %% cell 3\nlet y\n\n"
				    "// %% cell 4, python, raised\n// 1/0\n\n");
	value = notebook();
	assert_string_equal(json_string_value(json_object_get(cell_of(value, 0), "source")),
			    "%%bash\nls\ncd /");
	assert_string_equal(json_string_value(json_object_get(cell_of(value, 1), "source")),
			    "x = 1\n");
	assert_string_equal(json_string_value(json_object_get(cell_of(value, 2), "source")),
			    "%%script node\nlet y");
	json_decref(value);
}

static void no_code_gets_out_of_its_comment(void **state)
{
	(void)state;
	add(entry_of(1, "bash", "a\rimport os\r\nb\342\200\250c\342\200\251d\n\n", ""));
	assert_script("python", "# %% cell 1, bash\n# a\r# import os\r\n# b\342\200\250"
				"# c\342\200\251# d\n# \n\n");
}

static void of_equally_many_cells_the_first_language_counts(void **state)
{
	(void)state;
	add(entry_of(1, "bash", "1", ""));
	add(entry_of(2, "python", "1", ""));
	assert_string_equal(journal_language(journal), "bash");
	add(entry_of(3, "python", "1", ""));
	assert_string_equal(journal_language(journal), "python");
}

static void the_files_are_for_their_owner_alone(void **state)
{
	static const char *const names[] = { JOURNAL_NOTEBOOK_FILE, "code", "records" };

	(void)state;
	add(entry_of(1, "python", "1", ""));
	for (size_t i = 0; i < 3; i++) {
		struct stat st;

		assert_int_equal(fstatat(scratch.fd, names[i], &st, AT_SYMLINK_NOFOLLOW), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
	}
}

static void a_link_in_its_place_is_not_followed(void **state)
{
	struct journal_entry entry = entry_of(1, "python", "1", "");
	cleanup_json json_t *record = json_object();
	enum journal_taken taken;

	(void)state;
	entry.record = record;
	assert_int_equal(symlinkat("elsewhere", scratch.fd, "code"), 0);
	assert_int_equal(journal_add(journal, &entry, &taken, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_false(scratch_exists(scratch.fd, "elsewhere"));
	assert_int_equal(journal_count(journal), 0);
}

static void a_full_disk_leaves_what_was_there(void **state)
{
	struct journal_entry entry = entry_of(2, "python", "2", "");
	cleanup_json json_t *record = json_object();
	struct rlimit before;
	struct rlimit small;
	enum journal_taken taken;
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	char *big = calloc(1, 70001);
	json_t *value;

	(void)state;
	add(entry_of(1, "python", "1", ""));
	memset(big, 'x', 70000);
	entry.record = record;
	entry.text = big;
	entry.text_len = 70000;
	assert_int_equal(sigaction(SIGXFSZ, &ignore, NULL), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	/* The record fits, half of the notebook's cell does not. */
	small.rlim_cur = 70200;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(journal_add(journal, &entry, &taken, &err), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	value = notebook();
	assert_int_equal(json_array_size(json_object_get(value, "cells")), 1);
	json_decref(value);
	add(entry_of(3, "python", "3", ""));
	value = notebook();
	assert_int_equal(json_array_size(json_object_get(value, "cells")), 2);
	json_decref(value);
	free(big);
}

static void a_journal_that_somebody_cut_short_is_an_error(void **state)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	add(entry_of(1, "python", "1", ""));
	scratch_write(scratch.fd, JOURNAL_NOTEBOOK_FILE, "x");
	scratch_write(scratch.fd, "records", "x");
	assert_int_equal(journal_read_notebook(journal, 0, 100, &out, &err), -1);
	assert_null(journal_read_cell(journal, 0, &err));
	assert_int_equal(err.code, ERR_SYSTEM);
}

#define JOURNAL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void holds_no_secret(const char *name)
{
	cleanup_free char *text = scratch_read(scratch.fd, name);

	assert_non_null(strstr(text, "[secret A]"));
	assert_null(strstr(text, "hunter2hunter2"));
}

static void secrets_reach_none_of_the_files(void **state)
{
	struct redact *redact = redact_new();
	struct journal_image image = { .mime = "image/png", .file = "hunter2hunter2.png" };
	cleanup_json json_t *record = json_pack("{s:s}", "names", "hunter2hunter2");
	struct journal_entry entry =
		entry_of(1, "python", "x = 'hunter2hunter2'", "hunter2hunter2\n");
	enum journal_taken taken;

	(void)state;
	redact_add(redact, "A", "hunter2hunter2");
	redact_finish(redact);
	journal_free(journal);
	journal = journal_new(scratch.fd, "sales", 1 << 20, redact);
	entry.value = "'hunter2\xe2\x80\x8bhunter2'"; /* joined by cleaning */
	entry.traceback = "a\nhunter2hunter2";
	entry.error_name = "hunter2hunter2";
	entry.error_text = "hunter2hunter2";
	entry.note = "hunter2hunter2";
	entry.images = &image;
	entry.image_count = 1;
	entry.record = record;
	assert_int_equal(journal_add(journal, &entry, &taken, &err), 0);
	holds_no_secret("notebook.ipynb");
	holds_no_secret("code");
	holds_no_secret("records");
	assert_string_equal(entry.code, "x = 'hunter2hunter2'");
	redact_free(redact);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOURNAL_TEST(secrets_reach_none_of_the_files),
		JOURNAL_TEST(the_notebook_is_whole_after_every_cell),
		JOURNAL_TEST(a_cell_is_read_back_with_its_code_and_outputs),
		JOURNAL_TEST(code_with_a_nul_is_kept_whole),
		JOURNAL_TEST(figures_are_read_back_from_the_notebook),
		JOURNAL_TEST(a_figure_too_large_for_the_notebook_is_left_out_and_said),
		JOURNAL_TEST(outputs_end_before_code_does_and_nothing_passes_the_limit),
		JOURNAL_TEST(the_note_of_what_is_missing_passes_no_limit),
		JOURNAL_TEST(a_cell_that_never_ran_is_neither_in_notebook_nor_script),
		JOURNAL_TEST(cells_of_other_languages_are_magics_and_comments),
		JOURNAL_TEST(no_code_gets_out_of_its_comment),
		JOURNAL_TEST(of_equally_many_cells_the_first_language_counts),
		JOURNAL_TEST(the_files_are_for_their_owner_alone),
		JOURNAL_TEST(a_link_in_its_place_is_not_followed),
		JOURNAL_TEST(a_full_disk_leaves_what_was_there),
		JOURNAL_TEST(a_journal_that_somebody_cut_short_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
