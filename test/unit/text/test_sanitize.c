/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "text/sanitize.h"
#include "text/utf8.h"

#define BAD "\xef\xbf\xbd"
#define ZWJ "\xe2\x80\x8d"
#define VS16 "\xef\xb8\x8f"
#define WOMAN "\xf0\x9f\x91\xa9"
#define GIRL "\xf0\x9f\x91\xa7"
#define HEART "\xe2\x9d\xa4"
#define KANJI "\xe8\xbe\xbb"
#define FLAG "\xf0\x9f\x8f\xb4"
#define TAG_G "\xf3\xa0\x81\xa7"
#define TAG_B "\xf3\xa0\x81\xa2"
/* FLAG, the tags of "gbeng", and the one that ends them. */
#define ENGLAND FLAG TAG_G TAG_B "\xf3\xa0\x81\xa5\xf3\xa0\x81\xae\xf3\xa0\x81\xa7\xf3\xa0\x81\xbf"
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
	  "user<U+202E>gnp.exe" },
	{ "isolates and marks",
	  "\xe2\x81\xa6"
	  "a\xe2\x81\xa9\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c"
	  "b",
	  "<U+2066>a<U+2069><U+200E><U+200F><U+061C>b" },
	{ "zero width", "pass\xe2\x80\x8bword\xe2\x81\xa0\xef\xbb\xbf" ZWJ "!",
	  "pass<U+200B>word<U+2060><U+FEFF><U+200D>!" },
	{ "soft hyphen", "co\xc2\xadop", "co<U+00AD>op" },
	{ "tags", "hi\xf3\xa0\x81\xa9\xf3\xa0\x81\xbf", "hi<U+E0069><U+E007F>" },
	{ "the flag of England", ENGLAND, ENGLAND },
	{ "no flag's tags", FLAG TAG_G "x" TAG_G TAG_B, FLAG TAG_G "x<U+E0067><U+E0062>" },
	{ "more tags than a flag has", ENGLAND TAG_G, ENGLAND "<U+E0067>" },
	{ "Persian", "می\xe2\x80\x8cخواهم", "می\xe2\x80\x8cخواهم" },
	{ "Persian behind a letter that joins on one side", "شهر\xe2\x80\x8cها",
	  "شهر\xe2\x80\x8cها" },
	{ "Persian behind a mark", "مُ\xe2\x80\x8cخ", "مُ\xe2\x80\x8cخ" },
	{ "Sinhala", "ශ්" ZWJ "රී", "ශ්" ZWJ "රී" },
	{ "Malayalam at a word's end", "അവന്" ZWJ " ", "അവന്" ZWJ " " },
	{ "Bengali", "র" ZWJ "্যাব", "র" ZWJ "্যাব" },
	{ "Khmer between words", "ខ្ញុំ\xe2\x80\x8bទៅ", "ខ្ញុំ\xe2\x80\x8bទៅ" },
	{ "Mongolian", "ᠮᠣᠩᠭᠣᠯ\xe1\xa0\x8b ᠳ\xe1\xa0\x8e", "ᠮᠣᠩᠭᠣᠯ\xe1\xa0\x8b ᠳ\xe1\xa0\x8e" },
	{ "Hebrew", "שלום\xe2\x80\x8f!", "שלום\xe2\x80\x8f!" },
	{ "two in a row", "می" ZWJ ZWJ "م\xe2\x80\x8c\xe2\x80\x8c ش\xe2\x80\x8f\xe2\x80\x8e",
	  "می" ZWJ "<U+200D>م\xe2\x80\x8c<U+200C> ش\xe2\x80\x8f<U+200E>" },
	{ "interlinear",
	  "\xef\xbf\xb9"
	  "a\xef\xbf\xba"
	  "b\xef\xbf\xbb",
	  "<U+FFF9>a<U+FFFA>b<U+FFFB>" },
	{ "joined emoji stay", WOMAN ZWJ HEART VS16 ZWJ GIRL, WOMAN ZWJ HEART VS16 ZWJ GIRL },
	{ "a joiner at the end of an emoji", WOMAN ZWJ "x", WOMAN ZWJ "x" },
	{ "two joiners", WOMAN ZWJ ZWJ GIRL, WOMAN ZWJ "<U+200D>" GIRL },
	{ "one variation selector", HEART VS16 VS16 VS16, HEART VS16 "<U+FE0F><U+FE0F>" },
	{ "ideographic variation", KANJI VS17 "a" VS17, KANJI VS17 "a<U+E0100>" },
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
	{ "an accent stays with its letter",
	  "123456e\xcc\x81"
	  "9012",
	  "123456..." },
	{ "an emoji of several is not split", "12345" WOMAN ZWJ GIRL "90123", "12345..." },
	{ "a character that fills the line",
	  "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81",
	  "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81..." },
	{ "blanks at the end do not count", "1234567890   ", "1234567890" },
	{ "brackets stay", "[a|b]", "[a|b]" },
	{ "nothing", " \n ", "" },
};

static const struct clean_case words[] = {
	{ "plain", "plot.png", "plot.png" },
	{ "blanks", "my plot 1", "my_plot_1" },
	{ "grammar", "a | b] [c#1,", "a___b___c_1_" },
	{ "line breaks", "a\nb", "a_b" },
	{ "nothing", "\033[0m ", "_" },
	{ "look-alike", "x] [s#1 d", "x___s_1_d" },
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
		sanitize_block(&out, blocks[i].in, strlen(blocks[i].in));
		check(&blocks[i], &out);
	}
}

static void blocks_are_cleaned_in_pieces_as_well(void **state)
{
	cleanup_buf struct buf out;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		struct sanitize_stream *stream = sanitize_stream_new();

		for (const char *c = blocks[i].in; *c != '\0'; c++)
			sanitize_feed(stream, c, 1, &out);
		sanitize_end(stream, &out);
		sanitize_stream_free(stream);
		check(&blocks[i], &out);
	}
}

static void cleaning_twice_changes_nothing(void **state)
{
	cleanup_buf struct buf out;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		sanitize_block(&out, blocks[i].out, strlen(blocks[i].out));
		check(&blocks[i], &out);
	}
}

static void lines_are_one_line_and_cut(void **state)
{
	cleanup_buf struct buf out;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		sanitize_line(&out, lines[i].in, strlen(lines[i].in), 10);
		check(&lines[i], &out);
	}
}

static void words_cannot_pass_for_grammar(void **state)
{
	cleanup_buf struct buf out;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		sanitize_word(&out, words[i].in, strlen(words[i].in), 20);
		check(&words[i], &out);
	}
}

static void a_cut_line_keeps_what_stood_before_it(void **state)
{
	cleanup_buf struct buf out;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	buf_puts(&out, "name: ");
	sanitize_line(&out, "abcdef", 6, 5);
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
		{ "Persian", "می\xe2\x80\x8cخواهم.txt", "می\xe2\x80\x8cخواهم.txt" },
		{ "one stray character among those of a script",
		  "می\xe2\x80\x8cخواهم\xe2\x80\xae " WOMAN ZWJ GIRL " a\xe2\x80\x8c" HEART
		  "\xef\xb8\x8f\xef\xb8\x8f",
		  "می\xe2\x80\x8cخواهم_ " WOMAN ZWJ GIRL " a_" HEART "\xef\xb8\x8f_" },
		{ "no part goes away", "a/\xe2\x80\x8b/.\xe2\x80\x8b.", "a/_/._." },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

		sanitize_name(&out, paths[i].in, strlen(paths[i].in));
		assert_string_equal(buf_str(&out), paths[i].out);
	}
}

static void a_file_has_one_name_everywhere(void **state)
{
	static const struct clean_case paths[] = {
		{ "plain", "output/a.csv", "output/a.csv" },
		{ "blanks", "output/my report (final).csv", "output/my report (final).csv" },
		{ "signs", "a|b,c.txt", "a|b,c.txt" },
		{ "quotes inside", "a\"b\\", "a\"b\\" },
		{ "a quote first", "\"a\"", "\"\\\"a\\\"\"" },
		{ "hidden", "日本 a+é \xe2\x80\x8c.txt", "\"日本 a+é \\u200c.txt\"" },
		{ "in its script", "می\xe2\x80\x8cخ.txt", "می\xe2\x80\x8cخ.txt" },
		{ "controls", "a\033[2J\n", "\"a\\u001b[2J\\u000a\"" },
		{ "beyond U+FFFF", "a\xf3\xa0\x81\xa7", "\"a\\udb40\\udc67\"" },
		{ "no UTF-8", "a\xff", "\"a\\udcff\"" },
		{ "nothing", "", "\"\"" },
	};
	static const struct clean_case path_words[] = {
		{ "plain", "output/ü.csv", "output/ü.csv" },
		{ "blanks", "output/my report (final).csv", "\"output/my report (final).csv\"" },
		{ "signs", "a|b,c.txt", "\"a\\u007cb,c.txt\"" },
		{ "brackets", "x] [s#1 done", "\"x] [s#1 done\"" },
		{ "quotes", "a\"b\\", "\"a\\\"b\\\\\"" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		cleanup_free char *out = sanitize_path_string(paths[i].in);

		assert_string_equal(out, paths[i].out);
	}
	for (size_t i = 0; i < ARRAY_SIZE(path_words); i++) {
		cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

		sanitize_path_word(&out, path_words[i].in, strlen(path_words[i].in));
		assert_string_equal(buf_str(&out), path_words[i].out);
	}
}

static void a_long_path_is_cut_behind_its_quotes(void **state)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	char path[SANITIZE_PATH_MAX + 2];

	(void)state;
	memset(path, 'x', sizeof(path));
	path[0] = ' ';
	sanitize_path_word(&out, path, SANITIZE_PATH_MAX);
	assert_int_equal(out.len, SANITIZE_PATH_MAX + 2);
	buf_clear(&out);
	sanitize_path_word(&out, path, SANITIZE_PATH_MAX + 1);
	assert_int_equal(out.len, SANITIZE_PATH_MAX + 5);
	assert_string_equal(buf_str(&out) + SANITIZE_PATH_MAX, "x\"...");
}

static void a_name_of_a_megabyte_is_quoted_short(void **state)
{
	const size_t len = 1 << 20;
	cleanup_free char *name = xcalloc(len + 1, 1);
	cleanup_free char *quoted = NULL;

	(void)state;
	memset(name, 'n', len);
	quoted = sanitize_quote(name);
	assert_int_equal(strlen(quoted), SANITIZE_QUOTE_MAX);
	assert_string_equal(quoted + SANITIZE_QUOTE_MAX - 4, "n...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_keep_lines_and_lose_the_rest),
		cmocka_unit_test(blocks_are_cleaned_in_pieces_as_well),
		cmocka_unit_test(cleaning_twice_changes_nothing),
		cmocka_unit_test(lines_are_one_line_and_cut),
		cmocka_unit_test(words_cannot_pass_for_grammar),
		cmocka_unit_test(a_cut_line_keeps_what_stood_before_it),
		cmocka_unit_test(paths_name_their_file_unless_they_are_unclean),
		cmocka_unit_test(a_file_has_one_name_everywhere),
		cmocka_unit_test(a_long_path_is_cut_behind_its_quotes),
		cmocka_unit_test(a_name_of_a_megabyte_is_quoted_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
