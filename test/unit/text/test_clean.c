/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "text/clean.h"
#include "text/utf8.h"

#define BAD "\xef\xbf\xbd"
#define ZWJ "\xe2\x80\x8d"
#define VS16 "\xef\xb8\x8f"
#define WOMAN "\xf0\x9f\x91\xa9"
#define GIRL "\xf0\x9f\x91\xa7"
#define HEART "\xe2\x9d\xa4"
#define KANJI "\xe8\xbe\xbb"
#define VS17 "\xf3\xa0\x84\x80"

struct clean_case {
	const char *name;
	const char *in;
	const char *out;
};

static const struct clean_case blocks[] = {
	{ "lines and tabs stay", "a\n\tb\n", "a\n\tb\n" },
	{ "cr lf and cr are lf", "a\r\nb\rc\r\r\nd", "a\nb\nc\n\nd" },
	{ "other line breaks",
	  "a\vb\fc\xc2\x85"
	  "d\xe2\x80\xa8"
	  "e\xe2\x80\xa9"
	  "f",
	  "a\nb\nc\nd\ne\nf" },
	{ "colours", "\033[1;31mred\033[0m", "red" },
	{ "window title ended by bel", "\033]0;title\007text", "text" },
	{ "hyperlink ended by st", "\033]8;;http://x\033\\link\033]8;;\033\\", "link" },
	{ "an open string ends with its line", "\033]0;never closed\nnext", "\nnext" },
	{ "controls", "a\001\b\033\177b",
	  "a"
	  "b" },
	{ "c1 controls",
	  "a\xc2\x80"
	  "b\xc2\x9b"
	  "31mc",
	  "ab31mc" },
	{ "ill-formed",
	  "a\xff"
	  "b\xe2\x82",
	  "a" BAD "b" BAD },
	{ "a sequence cuts a character", "\xe2\x82\033[0mz", BAD "z" },
	{ "bidi override",
	  "user\xe2\x80\xae"
	  "gnp.exe",
	  "usergnp.exe" },
	{ "isolates and marks",
	  "\xe2\x81\xa6"
	  "a\xe2\x81\xa9\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c"
	  "b",
	  "ab" },
	{ "zero width", "pass\xe2\x80\x8bword\xe2\x81\xa0\xef\xbb\xbf" ZWJ "!", "password!" },
	{ "tags", "hi\xf3\xa0\x81\xa9\xf3\xa0\x81\xbf", "hi" },
	{ "interlinear",
	  "\xef\xbf\xb9"
	  "a\xef\xbf\xba"
	  "b\xef\xbf\xbb",
	  "ab" },
	{ "joined emoji stay", WOMAN ZWJ HEART VS16 ZWJ GIRL, WOMAN ZWJ HEART VS16 ZWJ GIRL },
	{ "a joiner at the end of an emoji", WOMAN ZWJ "x", WOMAN "x" },
	{ "one variation selector", HEART VS16 VS16 VS16, HEART VS16 },
	{ "ideographic variation", KANJI VS17 "a" VS17, KANJI VS17 "a" },
	{ "combining marks stay", "e\xcc\x81", "e\xcc\x81" },
};

static const struct clean_case lines[] = {
	{ "blanks become one",
	  "  a \t\n b\xc2\xa0\xe3\x80\x80"
	  "c  ",
	  "a b c" },
	{ "just fits", "1234567890", "1234567890" },
	{ "too long", "12345678901", "1234567..." },
	{ "too long in other letters",
	  "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
	  "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9..." },
	{ "blanks at the end do not count", "1234567890   ", "1234567890" },
	{ "brackets stay", "[a|b]", "[a|b]" },
	{ "nothing", " \n ", "" },
};

static const struct clean_case words[] = {
	{ "plain", "plot.png", "plot.png" },           { "blanks", "my plot 1", "my_plot_1" },
	{ "grammar", "a | b] [c#1,", "a___b___c_1_" }, { "line breaks", "a\nb", "a_b" },
	{ "nothing", "\033[0m \xe2\x80\x8b", "_" },    { "look-alike", "x] [s#1 d", "x___s_1_d" },
};

static void check(const struct clean_case *row, struct buf *out)
{
	print_message("%s\n", row->name);
	assert_string_equal(buf_str(out), row->out);
	buf_clear(out);
}

static void blocks_keep_lines_and_lose_the_rest(void **state)
{
	cleanup_buf struct buf out;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		clean_block(&out, blocks[i].in, strlen(blocks[i].in));
		check(&blocks[i], &out);
	}
}

static void cleaning_twice_changes_nothing(void **state)
{
	cleanup_buf struct buf out;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		clean_block(&out, blocks[i].out, strlen(blocks[i].out));
		check(&blocks[i], &out);
	}
}

static void lines_are_one_line_and_cut(void **state)
{
	cleanup_buf struct buf out;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		clean_line(&out, lines[i].in, strlen(lines[i].in), 10);
		check(&lines[i], &out);
	}
}

static void words_cannot_pass_for_grammar(void **state)
{
	cleanup_buf struct buf out;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		clean_word(&out, words[i].in, strlen(words[i].in), 20);
		check(&words[i], &out);
	}
}

static void a_cut_line_keeps_what_stood_before_it(void **state)
{
	cleanup_buf struct buf out;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	buf_puts(&out, "name: ");
	clean_line(&out, "abcdef", 6, 5);
	assert_string_equal(buf_str(&out), "name: ab...");
	assert_int_equal(out.len, strlen(buf_str(&out)));
}

static void paths_name_their_file_unless_they_are_unclean(void **state)
{
	static const struct clean_case paths[] = {
		{ "plain", "output/a  b.csv", "output/a  b.csv" },
		{ "blanks at the ends", " a ", " a " },
		{ "an emoji", HEART "\xef\xb8\x8f", HEART "\xef\xb8\x8f" },
		{ "bidi", "user\xe2\x80\xaegnp.exe", "user_gnp.exe" },
		{ "escapes", "a\033[2J/b\n", "a_[2J/b_" },
		{ "c1 and separators", "a\xc2\x85\xe2\x80\xa8", "a__" },
		{ "ill-formed", "a\xff", "a" BAD },
		{ "no part goes away", "a/\xe2\x80\x8b/.\xe2\x80\x8b.", "a/_/._." },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

		clean_name(&out, paths[i].in, strlen(paths[i].in));
		assert_string_equal(buf_str(&out), paths[i].out);
	}
}

static void a_name_of_a_megabyte_is_quoted_short(void **state)
{
	const size_t len = 1 << 20;
	cleanup_free char *name = xcalloc(len + 1, 1);
	cleanup_free char *quoted = NULL;

	(void)state;
	memset(name, 'n', len);
	quoted = clean_quote(name);
	assert_int_equal(strlen(quoted), CLEAN_QUOTE_MAX);
	assert_string_equal(quoted + CLEAN_QUOTE_MAX - 4, "n...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_keep_lines_and_lose_the_rest),
		cmocka_unit_test(cleaning_twice_changes_nothing),
		cmocka_unit_test(lines_are_one_line_and_cut),
		cmocka_unit_test(words_cannot_pass_for_grammar),
		cmocka_unit_test(a_cut_line_keeps_what_stood_before_it),
		cmocka_unit_test(paths_name_their_file_unless_they_are_unclean),
		cmocka_unit_test(a_name_of_a_megabyte_is_quoted_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
