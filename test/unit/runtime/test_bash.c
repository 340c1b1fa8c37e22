/* SPDX-License-Identifier: MIT */
/* The half of bash's driver that runs here: its protocol, names and traps. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "base/mem.h"
#include "runtime/bash/codec.h"
#include "runtime/bash/declaration.h"
#include "runtime/bash/trap_commands.h"
#include "runtime/frame.h"
#include "runtime/language.h"

static void *codec;
static struct buf frames;
static struct frame_reader *reader;

/* The bytes that bash gets for a frame of one or two parts */
static char *sent(const char *type, uint64_t id, const char *name, const void *data, size_t len)
{
	struct frame frame = { .id = id, .part_count = name != NULL };
	struct buf out;

	buf_init(&out, BUF_UNBOUNDED);
	memcpy(frame.type, type, strlen(type));
	if (name != NULL) {
		memcpy(frame.parts[0].name, name, strlen(name));
		frame.parts[0].data = data;
		frame.parts[0].len = len;
	}
	bash_codec.encode(codec, &frame, &out);
	return buf_steal(&out);
}

static int start(void **state)
{
	cleanup_free char *hello = NULL;

	(void)state;
	codec = bash_codec.start();
	buf_init(&frames, BUF_UNBOUNDED);
	reader = frame_reader_new(FRAME_UP_PART_MAX);
	hello = sent("hello", 0, "nonce", "abc", 3);
	assert_string_equal(hello, "hello abc\n");
	return 0;
}

static int stop(void **state)
{
	(void)state;
	bash_codec.end(codec);
	buf_release(&frames);
	frame_reader_free(reader);
	return 0;
}

static const struct frame *told(const char *text)
{
	const struct frame *frame = NULL;
	struct err err = { 0 };

	if (bash_codec.decode(codec, text, strlen(text), &frames, &err) < 0)
		fail_msg("%s", err.msg);
	frame_reader_feed(reader, buf_str(&frames), frames.len);
	buf_clear(&frames);
	return frame_reader_next(reader, &frame, &err) == 1 ? frame : NULL;
}

static void expect_part(const struct frame *frame, const char *name, const char *value)
{
	cleanup_free char *text = frame_text(frame, name);

	assert_non_null(text);
	assert_string_equal(text, value);
}

static void ready(void)
{
	const struct frame *frame = told("@abc ready 5.2\n@abc names\ndeclare -x HOME=\"/h\"\n"
					 "declare -ir UID=\"0\"\n@abc end \n");

	assert_non_null(frame);
	assert_string_equal(frame->type, "ready");
	expect_part(frame, "nonce", "abc");
	expect_part(frame, "version", "5.2");
}

#define DEBUG_START                                                                                \
	"case $-.$BASH_COMMAND in *T*.__ptycell_return*) ;; "                                      \
	"*.__ptycell_return* | *.builtin\\ return*) trap -- "
#define STATUS                                                                                     \
	"__ptycell_return \"$__ptycell_status\" traced \"$__ptycell_arg\" && __ptycell_ready() ((1)); "
#define OURS "trap -- '{ __ptycell_status=$?; }' EXIT\n"

/* The end of cell `n` with these declarations. */
static const struct frame *done(const char *n, const char *names)
{
	cleanup_free char *text =
		xasprintf(OURS "@abc done %s over 0\n@abc names\n%s@abc end \n", n, names);

	return told(text);
}

static void a_cell_is_sent_without_what_no_shell_can_read(void **state)
{
	static const char code[] = "\xef\xbb\xbf"
				   "echo ab\r\necho \r\xef\xbb\xbf\r";
	cleanup_free char *text = sent("exec", 7, "code", code, sizeof(code) - 1);

	(void)state;
	assert_string_equal(text,
			    "@abc exec 7 1 0 0 17\necho ab\necho \r\xef\xbb\xbf__ptycell_next\n");
}

static void a_cell_is_told_that_nuls_are_left_out(void **state)
{
	static const char code[] = "echo a\0b\0";
	cleanup_free char *text = sent("exec", 7, "code", code, sizeof(code) - 1);

	(void)state;
	assert_string_equal(
		text,
		"@abc exec 7 1 1 163 7\n\\builtin printf '%s\\n' 'NUL bytes of the code that were "
		"left out: 2' >&2; " STATUS "echo ab__ptycell_next\n");
}

static void what_bash_need_not_know_is_not_sent(void **state)
{
	cleanup_free char *interrupt = sent("interrupt", 7, NULL, NULL, 0);
	cleanup_free char *ack = sent("ack", 7, NULL, NULL, 0);

	(void)state;
	assert_string_equal(interrupt, "");
	assert_string_equal(ack, "");
}

static void the_end_of_a_cell_has_status_jobs_and_names(void **state)
{
	const struct frame *frame;

	(void)state;
	ready();
	frame = told(OURS "@abc done 3 over 4\n11\n12\n@abc names\ndeclare -- x=\"5\"\n"
			  "declare -f f\n@abc end \n");
	assert_string_equal(frame->type, "done");
	assert_int_equal(frame->id, 3);
	expect_part(frame, "status", "exit");
	expect_part(frame, "code", "4");
	expect_part(frame, "children", "2");
	expect_part(frame, "names", "x string 1\nf function\n-HOME");
	frame = told(OURS "@abc done 4 interrupted 130\n@abc names\n@abc end \n");
	expect_part(frame, "status", "interrupted");
	expect_part(frame, "names", "");
	assert_null(frame_part(frame, "cwd"));
}

static void the_end_of_a_cell_has_the_folder_where_it_is_another(void **state)
{
	(void)state;
	ready();
	expect_part(told(OURS "@abc done 3 over 0 /srv/my data\n@abc names\n@abc end \n"), "cwd",
		    "/srv/my data");
	assert_null(frame_part(told(OURS "@abc done 4 over 0 \n@abc names\n@abc end \n"), "cwd"));
}

static void only_changes_are_told(void **state)
{
	(void)state;
	ready();
	expect_part(done("1", "declare -x HOME=\"/h\"\ndeclare -a a=([0]=\"1\" [1]=\"(\\\"[\")\n"),
		    "names", "a array 2");
	expect_part(done("2", "declare -x HOME=\"/h\"\ndeclare -a a=([0]=\"1\" [1]=\"(\\\"[\")\n"),
		    "names", "");
	expect_part(done("3", "declare -x HOME=\"/other\"\n"), "names", "HOME string 6\n-a");
	/* Too slow to be told: nothing is known, nothing forgotten. */
	expect_part(done("4", ""), "names", "");
	expect_part(done("5", "declare -x HOME=\"/other\"\n"), "names", "");
}

static void traps_come_back_with_the_next_cell(void **state)
{
	cleanup_free char *text = NULL;

	(void)state;
	ready();
	(void)told("trap -- 'echo '\\''a b'\\''' DEBUG\ntrap -- '' SIGINT\ntrap -- - ERR\n"
		   "trap -- 'bye\nbye' EXIT\n@abc done 1 over 0\n@abc names\n@abc end \n");
	text = sent("exec", 2, "code", "x", 1);
	assert_string_equal(
		text, "@abc exec 2 1 1 325 1\n"
		      "\\builtin trap -- '" DEBUG_START
		      "'\\''echo '\\''\\'\\'''\\''a b'\\''\\'\\'''\\'''\\'' DEBUG;; esac' DEBUG; "
		      "\\builtin trap -- '' SIGINT; __ptycell_bye='bye\nbye'; " STATUS
		      "x__ptycell_next\n");
}

/* An interrupt can come before the driver's last command has made it the user's. */
static void a_trap_of_debug_is_put_off_once(void **state)
{
	cleanup_free char *text = NULL;

	(void)state;
	ready();
	(void)told("trap -- '" DEBUG_START
		   "e DEBUG;; esac' DEBUG\n@abc done 1 over 0\n@abc names\n@abc end \n");
	text = sent("exec", 2, "code", "x", 1);
	assert_non_null(strstr(text, "\n\\builtin trap -- '" DEBUG_START
				     "e DEBUG;; esac' DEBUG; __ptycell_bye=; "));
}

static void a_trap_of_exit_that_is_gone_is_forgotten(void **state)
{
	cleanup_free char *text = NULL;

	(void)state;
	(void)told("@abc done 1 over 0\n@abc names\n@abc end \n");
	text = sent("exec", 2, "code", "x", 1);
	assert_string_equal(text,
			    "@abc exec 2 1 1 105 1\n__ptycell_bye=; " STATUS "x__ptycell_next\n");
}

/* The trap that tells how a cell ended belongs to that cell. */
static void a_trap_of_return_that_is_the_drivers_does_not_come_back(void **state)
{
	cleanup_free char *text = NULL;

	(void)state;
	(void)told(OURS
		   "trap -- 'for __ptycell_line in ${__ptycell_void[x]-}; do \\:; done' RETURN\n"
		   "@abc done 1 over 0\n@abc names\n@abc end \n");
	text = sent("exec", 2, "code", "x", 1);
	assert_string_equal(text, "@abc exec 2 1 1 0 1\nx__ptycell_next\n");
}

static void code_that_would_show_the_drivers_trap_runs_without_it(void **state)
{
	static const struct {
		const char *code;
		const char *parts;
	} rows[] = {
		{ "alias ll='ls -l'", " 1 1 " },  { "set -euv", " 0 1 " },
		{ "set -o verbose", " 0 1 " },    { "ls -v", " 1 1 " },
		{ "set -euo pipefail", " 1 1 " }, { "alias for=x", " 0 1 " },
		{ "echo \xc3\xa9", " 0 0 " },     { "", " 0 0 " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_free char *text =
			sent("exec", 2, "code", rows[i].code, strlen(rows[i].code));

		assert_non_null(strstr(text, rows[i].parts));
	}
}

static void traps_are_kept_when_they_could_not_be_looked_at(void **state)
{
	cleanup_free char *text = NULL;

	(void)state;
	(void)told(
		"trap -- 'e' ERR\ntrap -- 'bye' EXIT\n@abc done 1 over 0\n@abc names\n@abc end \n");
	(void)told("kept\n@abc done 2 over 0\n@abc names\n@abc end \n");
	text = sent("exec", 3, "code", "x", 1);
	assert_string_equal(text, "@abc exec 3 1 1 115 1\n\\builtin trap -- 'e' ERR; " STATUS
				  "x__ptycell_next\n");
}

static void traps_stay_the_same_when_nothing_of_the_cell_ran(void **state)
{
	cleanup_free char *text = NULL;

	(void)state;
	(void)told("trap -- 'e' ERR\n@abc done 1 over 0\n@abc names\n@abc end \n");
	(void)told("same\n@abc done 2 over 2\n@abc names\n@abc end \n");
	text = sent("exec", 3, "code", "x", 1);
	assert_string_equal(
		text, "@abc exec 3 1 1 131 1\n\\builtin trap -- 'e' ERR; __ptycell_bye=; " STATUS
		      "x__ptycell_next\n");
}

/* Bash can lose it behind an interrupt. */
static void how_a_cell_ended_is_known_when_the_rest_is_lost(void **state)
{
	cleanup_free char *text = NULL;

	(void)state;
	(void)told("trap -- 'e' ERR\n@abc done 1 over 0\n@abc names\n@abc end done 1 over 0\n");
	expect_part(told("@abc end done 2 interrupted 130\n"), "status", "interrupted");
	text = sent("exec", 3, "code", "x", 1);
	assert_non_null(strstr(text, "trap -- 'e' ERR; "));
}

static void variables_are_rows_by_name(void **state)
{
	cleanup_free char *question = sent("vars", 9, "limit", "2", 1);
	const struct frame *frame;

	(void)state;
	assert_string_equal(question, "@abc vars 9\n");
	ready();
	frame = told(
		"@abc vars 9\n@abc names\ndeclare -x HOME=\"/h\"\n"
		"declare -- t=$'a\\tb\\n\\'c'\ndeclare -A m=([k]=\"v\" )\ndeclare -r zero\n@abc end \n");
	expect_part(frame, "vars", "m\tmap\t1\t10\t\nt\tstring\t6\t12\ta\\tb\\n'c");
	expect_part(frame, "total", "3");
}

/* Which would take the server long: the first ones are looked at. */
static void of_very_many_names_the_first_are_told(void **state)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *names = NULL;

	(void)state;
	ready();
	for (int cell = 1; cell <= 2; cell++) {
		buf_clear(&text);
		buf_putf(&text, "@abc done %d over 0\n@abc names\n", cell);
		for (int i = 0; i < 30000; i++)
			buf_putf(&text, "declare -- v%05d=\"%d\"\n", i, i == 0 ? cell : 0);
		buf_puts(&text, "@abc end \n");
		free(names);
		names = frame_text(told(text.data), "names");
	}
	assert_string_equal(names, "v00000 string 1");
}

static void names_that_a_frame_has_no_room_for_are_only_counted(void **state)
{
	static char text[200000];
	cleanup_free char *question = NULL;
	const struct frame_part *vars;
	size_t len;

	(void)state;
	ready();
	question = sent("vars", 9, "limit", "5000", 4);
	len = (size_t)snprintf(text, sizeof(text), "@abc vars 9\n@abc names\n");
	for (int i = 0; i < 4000; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"declare -- a_long_name_of_%04d=\"x\"\n", i);
	(void)snprintf(text + len, sizeof(text) - len, "@abc end \n");
	vars = frame_part(told(text), "vars");
	assert_in_range(vars->len, 60 << 10, 64 << 10);
	assert_memory_equal(vars->data + vars->len - 2, "\tx", 2); /* the whole line */
	expect_part(told(text), "total", "4000");
}

static void a_message_may_come_in_any_pieces(void **state)
{
	static const char text[] =
		OURS "@abc done 3 over 0\n@abc names\ndeclare -- x=\"\n@abc end\"\n"
		     "@abc end \n";
	struct err err;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(text); i++) {
		assert_int_equal(frames.len, 0);
		assert_int_equal(bash_codec.decode(codec, text + i, 1, &frames, &err), 0);
	}
	assert_non_null(told(""));
}

static void declarations_without_end_are_dropped_not_kept(void **state)
{
	cleanup_free char *megabyte = xcalloc(1, (1 << 20) + 1);

	(void)state;
	ready();
	memset(megabyte, 'x', 1 << 20);
	assert_null(told(OURS "@abc done 1 over 3\n@abc names\ndeclare -- a=\""));
	for (int i = 0; i < 40; i++)
		assert_null(told(megabyte));
	expect_part(told("\"\n@abc end \n"), "code", "3");
	expect_part(done("2", "declare -x HOME=\"/h\"\n"), "names", "");
}

static void what_is_no_message_breaks_the_channel(void **state)
{
	static const char *const texts[] = { "\n@abc end \n", "@abc done 1 over 0\n@abc end \n",
					     "@xyz done\n@abc end \n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		void *other = bash_codec.start();
		struct err err = { 0 };

		void *ours = codec;

		codec = other;
		free(sent("hello", 0, "nonce", "abc", 3));
		assert_int_equal(
			bash_codec.decode(other, texts[i], strlen(texts[i]), &frames, &err), -1);
		assert_int_equal(err.code, ERR_INVALID);
		bash_codec.end(other);
		codec = ours;
	}
}

static void traps_without_end_are_refused(void **state)
{
	cleanup_free char *megabyte = xcalloc(1, (1 << 20) + 1);
	struct err err = { 0 };
	int rc = 0;

	(void)state;
	memset(megabyte, 'x', 1 << 20);
	for (int i = 0; i < 40 && rc == 0; i++)
		rc = bash_codec.decode(codec, megabyte, 1 << 20, &frames, &err);
	assert_int_equal(rc, -1);
	assert_int_equal(err.code, ERR_LIMIT);
}

/* What bash writes where nobody waits; our end is the codec's. */
static int lend_aside(int *ret_ours)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	bash_codec.attach(codec, ends[0]);
	*ret_ours = ends[0];
	return ends[1];
}

static void say(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void a_message_that_lies_aside_is_read_when_its_end_comes(void **state)
{
	cleanup_free char *text = NULL;
	cleanup_fd int ours = -1;
	cleanup_fd int aside = lend_aside(&ours);
	const struct frame *frame;

	(void)state;
	say(aside, "@abc ready 5.2\n@abc names\ndeclare -x HOME=\"/h\"\n");
	frame = told("@abc end \n");
	assert_string_equal(frame->type, "ready");
	say(aside, "trap -- 'echo e' ERR\n" OURS "@abc done 3 over 4\n11\n@abc names\n"
		   "declare -- x=\"5\"\n");
	assert_null(told("@abc en"));
	assert_null(told("d done 3"));
	frame = told(" over 4\n");
	assert_int_equal(frame->id, 3);
	expect_part(frame, "children", "1");
	expect_part(frame, "names", "x string 1\n-HOME");
	text = sent("exec", 4, "code", "x", 1);
	assert_string_equal(text, "@abc exec 4 1 1 120 1\n\\builtin trap -- 'echo e' ERR; " STATUS
				  "x__ptycell_next\n");
}

static void what_did_not_fit_aside_counts_only_where_it_came_whole(void **state)
{
	cleanup_free char *text = NULL;
	cleanup_fd int ours = -1;
	cleanup_fd int aside = lend_aside(&ours);
	const struct frame *frame;

	(void)state;
	say(aside, "trap -- 'echo e' ERR\n" OURS "@abc done 3 over 0\n@abc names\ndeclare -- x=\"");
	frame = told("@abc done 3 over 0\n@abc names\ndeclare -- y=\"5\"\n@abc end \n");
	expect_part(frame, "names", "y string 1");
	text = sent("exec", 4, "code", "x", 1);
	assert_string_equal(text, "@abc exec 4 1 1 120 1\n\\builtin trap -- 'echo e' ERR; " STATUS
				  "x__ptycell_next\n");
}

static void nothing_aside_is_no_message(void **state)
{
	cleanup_fd int ours = -1;
	cleanup_fd int aside = lend_aside(&ours);
	struct err err = { 0 };

	(void)state;
	assert_true(aside >= 0);
	assert_int_equal(bash_codec.decode(codec, "@abc end \n", 10, &frames, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
}

static void a_preview_is_cut_between_characters(void **state)
{
	static const char text[] = "declare -- x=\"a\303\251\303\251\303\251\"\n";
	const char *at = text;
	struct declaration d;
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	assert_true(declaration_next(&at, text + strlen(text), &d));
	declaration_preview(&d, 4, &out);
	assert_string_equal(buf_str(&out), "a\303\251");
	assert_false(declaration_next(&at, text + strlen(text), &d));
}

/* It is written at once, while the shell itself may be telling. */
static void a_line_of_its_own_comes_between_those_of_others(void **state)
{
	const struct frame *frame;

	(void)state;
	ready();
	frame = told(OURS "@abc done 3 over 0\n@abc handles 3 1\n@abc names\n@abc han");
	assert_non_null(frame);
	assert_string_equal(frame->type, "handles");
	frame = told("dles 4 0\n@abc end \n");
	assert_string_equal(frame->type, "handles");
	assert_int_equal(frame->id, 4);
	frame = told("");
	assert_string_equal(frame->type, "done");
	assert_null(told("@abc handles\n @abc handles 1 1\n"));
}

static void a_trap_of_interrupts_is_told(void **state)
{
	const struct frame *frame;

	(void)state;
	ready();
	frame = told("@abc handles 3 1\n");
	assert_non_null(frame);
	assert_string_equal(frame->type, "handles");
	assert_int_equal(frame->id, 3);
	expect_part(frame, "handles", "1");
	frame = told(
		"@abc handles 3 0\ntrap -- 'a' SIGINT\n@abc done 3 over 0\n@abc names\n@abc end \n");
	expect_part(frame, "handles", "0");
	frame = told("");
	assert_string_equal(frame->type, "done");
	expect_part(frame, "handles", "1");
	frame = told(OURS "@abc done 4 over 0\n@abc names\n@abc end \n");
	expect_part(frame, "handles", "0");
}

static void a_command_in_the_notation_of_notebooks_is_marked(void **state)
{
	static const char code[] = "%pip install x";
	cleanup_free char *text = sent("exec", 7, "code", code, sizeof(code) - 1);

	(void)state;
	assert_string_equal(text, "@abc exec 7 1 1 0 51\n" NOTEBOOK_WORD
				  "%pip install x__ptycell_next\n");
}

#define BASH_TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BASH_TEST(a_cell_is_sent_without_what_no_shell_can_read),
		BASH_TEST(a_cell_is_told_that_nuls_are_left_out),
		BASH_TEST(what_bash_need_not_know_is_not_sent),
		BASH_TEST(the_end_of_a_cell_has_status_jobs_and_names),
		BASH_TEST(the_end_of_a_cell_has_the_folder_where_it_is_another),
		BASH_TEST(only_changes_are_told),
		BASH_TEST(traps_come_back_with_the_next_cell),
		BASH_TEST(a_trap_of_debug_is_put_off_once),
		BASH_TEST(a_trap_of_exit_that_is_gone_is_forgotten),
		BASH_TEST(a_trap_of_return_that_is_the_drivers_does_not_come_back),
		BASH_TEST(code_that_would_show_the_drivers_trap_runs_without_it),
		BASH_TEST(traps_are_kept_when_they_could_not_be_looked_at),
		BASH_TEST(traps_stay_the_same_when_nothing_of_the_cell_ran),
		BASH_TEST(how_a_cell_ended_is_known_when_the_rest_is_lost),
		BASH_TEST(variables_are_rows_by_name),
		BASH_TEST(of_very_many_names_the_first_are_told),
		BASH_TEST(names_that_a_frame_has_no_room_for_are_only_counted),
		BASH_TEST(a_message_may_come_in_any_pieces),
		BASH_TEST(declarations_without_end_are_dropped_not_kept),
		BASH_TEST(what_is_no_message_breaks_the_channel),
		BASH_TEST(traps_without_end_are_refused),
		BASH_TEST(a_message_that_lies_aside_is_read_when_its_end_comes),
		BASH_TEST(what_did_not_fit_aside_counts_only_where_it_came_whole),
		BASH_TEST(nothing_aside_is_no_message),
		BASH_TEST(a_line_of_its_own_comes_between_those_of_others),
		BASH_TEST(a_trap_of_interrupts_is_told),
		BASH_TEST(a_command_in_the_notation_of_notebooks_is_marked),
		BASH_TEST(a_preview_is_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
