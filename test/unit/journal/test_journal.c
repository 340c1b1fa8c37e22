/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <sys/resource.h>

#include "journal_fixture.h"
#include "redact/redact.h"

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

static void figures_are_read_back(void **state)
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

/* The limit's rule: outputs stop at seven eighths, code at the whole, nothing is given up. */
static void code_that_keeps_a_script_from_running_is_a_comment(void **state)
{
	struct journal_entry failed = entry_of(2, "python", "x =\n!", "");
	struct journal_entry died = entry_of(3, "python", "os._exit(1)", "");
	struct journal_entry raised = entry_of(4, "python", "1/0", "");

	(void)state;
	failed.state = raised.state = "raised";
	failed.error_name = "SyntaxError";
	raised.error_name = "ZeroDivisionError";
	died.state = "died";
	add(entry_of(1, "python", "%pip list", ""));
	add(failed);
	add(died);
	add(raised);
	assert_script("python", "# %% cell 1\nget_ipython().run_line_magic('pip', 'list')\n\n"
				"# %% cell 2, raised, left out: it does not run\n# x =\n# !\n\n"
				"# %% cell 3, died, left out: it does not run\n# os._exit(1)\n\n"
				"# %% cell 4, raised\n1/0\n\n");
}

static void a_cell_that_bash_cannot_parse_is_a_comment(void **state)
{
	struct journal_entry failed =
		entry_of(2, "bash", "if then",
			 "cell 2: line 1: syntax error near unexpected token `then'\n");
	struct journal_entry open =
		entry_of(3, "bash", "echo '",
			 "a\ncell 3: line 1: unexpected EOF while looking for matching `''\n");
	struct journal_entry shown =
		entry_of(4, "bash", "cat log",
			 " cell 4: line 1: syntax error\ncell 3: line 1: syntax "
			 "error\ncell 4: line 1: no such file\n");

	(void)state;
	add(entry_of(1, "bash", "x=1", ""));
	add(failed);
	add(open);
	add(shown);
	assert_script("bash", "# %% cell 1\nx=1\n\n"
			      "# %% cell 2, left out: it does not run\n# if then\n\n"
			      "# %% cell 3, left out: it does not run\n# echo '\n\n"
			      "# %% cell 4\ncat log\n\n");
}

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

static void a_later_life_knows_how_many_cells_were_left_out(void **state)
{
	uint64_t left_out = 0;

	(void)state;
	journal_set_max(journal, 64 << 10);
	for (unsigned life = 1; life <= 3; life++) {
		const struct journal_spec spec = { .session_id = "sales",
						   .max_bytes = 64 << 10,
						   .output_max = 1 << 20 };

		for (uint64_t n = 1; n <= 300; n++)
			(void)add(entry_of(life * 1000 + n, "python", "print(1)", "1"));
		assert_true(journal_left_out(journal) > left_out);
		left_out = journal_left_out(journal);
		assert_int_equal(journal_add_end(journal, "session_ended",
						 json_pack("{s:s}", "why", "its server ended"),
						 &err),
				 0);
		assert_in_range(journal_bytes(journal), 1, 64 << 10);
		journal_free(journal);
		journal = journal_resume(scratch.fd, &spec, &err);
		assert_non_null(journal);
		assert_int_equal(journal_left_out(journal), left_out);
	}
}

static void a_table_without_room_leaves_the_text_and_the_value(void **state)
{
	cleanup_free char *long_text = xasprintf("%*s", 5000, "x");
	cleanup_json json_t *table =
		json_pack("{s:[s],s:[[s]]}", "columns", "a", "rows", long_text);
	struct journal_entry entry = entry_of(1, "python", "df", "printed");
	json_t *cell;

	(void)state;
	entry.value = "a\n0";
	entry.table = table;
	journal_set_max(journal, 6000);
	assert_int_equal(add(entry), JOURNAL_WHOLE);
	assert_int_equal(journal_bare_count(journal), 0);
	assert_in_range(journal_bytes(journal), 1, 6000);
	cell = journal_read_cell(journal, 0, &err);
	assert_string_equal(json_string_value(json_object_get(cell, "text")), "printed");
	assert_string_equal(json_string_value(json_object_get(cell, "value")), "a\n0");
	json_decref(cell);
}

static void no_limit_is_passed_wherever_the_last_cell_ended(void **state)
{
	(void)state;
	for (uint64_t max = 4000; max < 5500; max += 3) {
		journal_free(journal);
		(void)unlinkat(scratch.fd, "events", 0);
		journal = journal_new(scratch.fd, "sales", max, 1 << 20, NULL);
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
	assert_int_equal(notebook_size(), 0);
	assert_false(journal_has_run(journal));
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
			    "%%ptycell bash\nls\ncd /");
	assert_string_equal(json_string_value(json_object_get(cell_of(value, 1), "source")),
			    "x = 1\n");
	assert_string_equal(json_string_value(json_object_get(cell_of(value, 2), "source")),
			    "%%ptycell javascript\nlet y");
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
	static const char *const names[] = { JOURNAL_NOTEBOOK_FILE, "events" };

	(void)state;
	add(entry_of(1, "python", "1", ""));
	assert_drawn();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct stat st;

		assert_int_equal(fstatat(scratch.fd, names[i], &st, AT_SYMLINK_NOFOLLOW), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
	}
}

static void a_link_in_its_place_is_not_followed(void **state)
{
	struct journal_entry entry = entry_of(1, "python", "1", "");

	(void)state;
	assert_int_equal(symlinkat("elsewhere", scratch.fd, "events"), 0);
	assert_int_equal(ask(&entry), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(journal_left_out(journal), 1);
	assert_script("javascript",
		      "// %% The journal is full: 1 cells after this point are not in "
		      "it (PTYCELL_JOURNAL_MAX).\n");
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
	/* The beginning fits, the end does not. */
	small.rlim_cur = 2000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(end(&entry, &taken), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	add(entry_of(3, "python", "3", "three's\n"));
	value = notebook();
	assert_int_equal(json_array_size(json_object_get(value, "cells")), 3);
	assert_cell(value, 0, "1", NULL);
	assert_non_null(strstr(first_text(value, 1), "the outputs were left out"));
	assert_cell(value, 2, "3", "three's\n");
	json_decref(value);
	assert_drawn();
	free(big);
}

static void cells_that_ran_on_a_full_disk_are_loaded_once_it_has_room(void **state)
{
	struct journal_entry entry = entry_of(2, "python", "2", "two");
	const struct journal_asked asked = {
		.number = 2, .language = "python", .code = "2", .code_len = 1, .begins = true
	};
	struct rlimit before;
	struct rlimit small;
	enum journal_taken taken;
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct journal *loaded;
	json_t *cell;

	(void)state;
	add(entry_of(1, "python", "1", ""));
	assert_int_equal(sigaction(SIGXFSZ, &ignore, NULL), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(journal_ask(journal, &asked, &err), 0);
	assert_int_equal(journal_begin(journal, 2, &err), -1);
	assert_int_equal(journal_end(journal, &entry, &taken, &err), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	add(entry_of(3, "python", "3", ""));
	loaded = journal_load(scratch.fd, &err);
	assert_int_equal(journal_count(loaded), 3);
	cell = journal_read_cell(loaded, 1, &err);
	assert_string_equal(json_string_value(json_object_get(cell, "code")), "2");
	assert_string_equal(json_string_value(json_object_get(cell, "state")), "done");
	json_decref(cell);
	journal_free(loaded);
}

static void a_journal_that_somebody_cut_short_is_an_error(void **state)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	add(entry_of(1, "python", "1", ""));
	scratch_write(scratch.fd, "events", "x");
	assert_int_equal(journal_read_notebook(journal, 0, 100, &out, &err), -1);
	assert_null(journal_read_cell(journal, 0, &err));
	assert_int_equal(err.code, ERR_SYSTEM);
}

static void a_cell_that_begins_at_once_is_written_with_its_beginning(void **state)
{
	const struct journal_asked asked = {
		.number = 1, .language = "python", .code = "1+1", .code_len = 3, .begins = true
	};
	struct journal *left;
	json_t *cell;

	(void)state;
	assert_int_equal(journal_ask(journal, &asked, &err), 0);
	cell = journal_read_cell(journal, 0, &err);
	assert_string_equal(json_string_value(json_object_get(cell, "code")), "1+1");
	json_decref(cell);
	left = journal_load(scratch.fd, &err);
	assert_int_equal(journal_count(left), 0);
	journal_free(left);
	assert_int_equal(journal_begin(journal, 1, &err), 0);
	left = journal_load(scratch.fd, &err);
	assert_true(journal_has_run(left));
	journal_free(left);
}

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
	journal = journal_new(scratch.fd, "sales", 1 << 20, 1 << 20, redact);
	entry.value = "'hunter2\xe2\x80\x8bhunter2'"; /* joined by cleaning */
	entry.traceback = "a\nhunter2hunter2";
	entry.error_name = "hunter2hunter2";
	entry.error_text = "hunter2hunter2";
	entry.note = "hunter2hunter2";
	entry.images = &image;
	entry.image_count = 1;
	entry.record = record;
	assert_int_equal(end(&entry, &taken), 0);
	assert_drawn();
	holds_no_secret("notebook.ipynb");
	holds_no_secret("events");
	assert_string_equal(entry.code, "x = 'hunter2hunter2'");
	redact_free(redact);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOURNAL_TEST(secrets_reach_none_of_the_files),
		JOURNAL_TEST(a_cell_is_read_back_with_its_code_and_outputs),
		JOURNAL_TEST(code_with_a_nul_is_kept_whole),
		JOURNAL_TEST(figures_are_read_back),
		JOURNAL_TEST(code_that_keeps_a_script_from_running_is_a_comment),
		JOURNAL_TEST(a_cell_that_bash_cannot_parse_is_a_comment),
		JOURNAL_TEST(outputs_end_before_code_does_and_nothing_passes_the_limit),
		JOURNAL_TEST(a_table_without_room_leaves_the_text_and_the_value),
		JOURNAL_TEST(a_later_life_knows_how_many_cells_were_left_out),
		JOURNAL_TEST(no_limit_is_passed_wherever_the_last_cell_ended),
		JOURNAL_TEST(a_cell_that_never_ran_is_neither_in_notebook_nor_script),
		JOURNAL_TEST(cells_of_other_languages_are_magics_and_comments),
		JOURNAL_TEST(no_code_gets_out_of_its_comment),
		JOURNAL_TEST(of_equally_many_cells_the_first_language_counts),
		JOURNAL_TEST(the_files_are_for_their_owner_alone),
		JOURNAL_TEST(a_link_in_its_place_is_not_followed),
		JOURNAL_TEST(a_full_disk_leaves_what_was_there),
		JOURNAL_TEST(cells_that_ran_on_a_full_disk_are_loaded_once_it_has_room),
		JOURNAL_TEST(a_journal_that_somebody_cut_short_is_an_error),
		JOURNAL_TEST(a_cell_that_begins_at_once_is_written_with_its_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
