/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "redact/redact.h"

#define VALUE "tk-\"9\\a/B+\xc3\xa9 z\n5%41"

static struct redact *new_redact(const char *name, const char *value)
{
	struct redact *redact = redact_new();

	redact_add(redact, name, value);
	redact_finish(redact);
	return redact;
}

/* In pieces of `step` bytes; the caller frees it. */
static char *redacted(const struct redact *redact, const char *text, size_t step)
{
	struct redact_stream *stream = redact_stream_new(redact);
	struct buf out;
	size_t len = strlen(text);

	buf_init(&out, BUF_UNBOUNDED);
	for (size_t i = 0; i < len; i += step)
		redact_feed(stream, text + i, size_min(step, len - i), &out);
	redact_end(stream, &out);
	assert_int_equal(redact_held(stream), 0);
	redact_stream_free(stream);
	return buf_steal(&out);
}

static void assert_redacts(const char *value, const char *text, const char *expected)
{
	struct redact *redact = new_redact("A", value);

	for (size_t step = 1; step <= strlen(text) + 1; step++) {
		cleanup_free char *out = redacted(redact, text, step);

		assert_string_equal(out, expected);
	}
	redact_free(redact);
}

static void a_value_is_taken_out_as_it_is(void **state)
{
	(void)state;
	assert_redacts("hunter2hunter2", "a hunter2hunter2 b", "a [secret A] b");
	assert_redacts("hunter2hunter2", "hunter2hunter2", "[secret A]");
	assert_redacts("hunter2hunter2", "hunter2hunter2hunter2hunter2", "[secret A]");
	assert_redacts("hunter2hunter3", "hunter2hunter2hunter3", "hunter2[secret A]");
	assert_redacts(VALUE, "<" VALUE ">", "<[secret A]>");
}

static void what_only_resembles_it_stays(void **state)
{
	(void)state;
	assert_redacts("hunter2hunter2", "a hunter2hunter b\\", "a hunter2hunter b\\");
	assert_redacts("hunter2hunter2", "HUNTER2HUNTER2 %68 \\u12 \033[1",
		       "HUNTER2HUNTER2 %68 \\u12 \033[1");
	assert_redacts("\\\\server", "the server", "the server");
	assert_redacts("ab\\cd\\ef", "abcdef abcdefghij", "abcdef abcdefghij");
	assert_redacts("\033[1mstring", "a string b", "a string b");
	assert_redacts(".\\admin1", "user.admin1", "user.admin1");
	assert_redacts("\\x73\\x65\\x72\\x76\\x65\\x72", "the server", "the server");
	assert_redacts(VALUE, "", "");
}

static void every_json_spelling_is_found(void **state)
{
	(void)state;
	assert_redacts(VALUE, "\"tk-\\\"9\\\\a/B+\xc3\xa9 z\\n5%41\"", "\"[secret A]\"");
	assert_redacts(VALUE, "\"tk-\\\"9\\\\a\\/B+\\u00E9 z\\n5%41\"", "\"[secret A]\"");
	assert_redacts(VALUE, "\"\\u0074k-\\u00229\\u005ca/B\\u002b\\u00e9 z\\u000a5%41\"",
		       "\"[secret A]\"");
}

static void json_within_json_is_found(void **state)
{
	(void)state;
	assert_redacts(VALUE, "{\\\"k\\\": \\\"tk-\\\\\\\"9\\\\\\\\a/B+\\\\u00e9 z\\\\n5%41\\\"}",
		       "{\\\"k\\\": \\\"[secret A]\\\"}");
}

static void literals_of_programs_are_found(void **state)
{
	(void)state;
	assert_redacts(VALUE, "b'tk-\"9\\\\a/B+\\xc3\\xa9 z\\n5%41'", "b'[secret A]'");
	assert_redacts(VALUE, "'tk-\"9\\\\a/B+\\xe9 z\\n5%41'", "'[secret A]'");
	assert_redacts(VALUE, "$'tk-\"9\\\\a/B+\\303\\251 z\\n5%41'", "$'[secret A]'");
	assert_redacts("pass\xf0\x9f\x98\x80word", "pass\\ud83d\\ude00word", "[secret A]");
	assert_redacts("pass\xf0\x9f\x98\x80word", "pass\\U0001f600word", "[secret A]");
}

static void other_spellings_of_letters_are_found(void **state)
{
	(void)state;
	assert_redacts("pa\xc3\xbcword99", "p<U+0061><U+00FC>word99", "[secret A]");
	assert_redacts("pa\xc3\xbcword99", "p&#97;&#xFC;word99 &#252", "[secret A] &#252");
	assert_redacts("\xe6\x97\xa5word-99", "?k=%u65E5word-99&", "?k=[secret A]&");
	assert_redacts("pa\xc3\xbcword99", "pau\xcc\x88word99", "[secret A]");
	assert_redacts("hunter2hunter2", "<U+110000> &#; &#0; <U+>", "<U+110000> &#; &#0; <U+>");
	assert_redacts("hunter2hunter2", "hunter2\xe2\x80\x8bhunter<U+00AD>2", "[secret A]");
}

static void literals_in_several_parts_are_found(void **state)
{
	static const char value[] = "hunter2\nhunter3 hunter4";

	(void)state;
	assert_redacts(value, "['hunter2\\n'\n 'hunter3 '\r\n  'hunter4']", "['[secret A]']");
	assert_redacts(value, "'hunter2\\n' +\n  \"hunter3 hunter4\"", "'[secret A]\"");
	assert_redacts(value, "(b'hunter2\\n'\n b'hunter3 hunter4')", "(b'[secret A]')");
	assert_redacts(value, "aHVudGVyMgpo'\n 'dW50ZXIzIGh1bnRlcjQ=", "[secret A]Q=");
	assert_redacts(value, "'hunter2\\n' 'hunter3 hunter4'", "'hunter2\\n' 'hunter3 hunter4'");
	assert_redacts("hunter2'\n'hunter3", "hunter2'\n'hunter3", "[secret A]");
	assert_redacts("hunter2hunter3", "'\n'hunter2hunter3' +", "'\n'[secret A]' +");
}

static void percent_encoding_is_found_whatever_it_spares(void **state)
{
	(void)state;
	assert_redacts(VALUE, "?k=tk-%229%5Ca/B%2B%C3%A9+z%0A5%2541&", "?k=[secret A]&");
	assert_redacts(VALUE, "?k=tk-%229%5ca%2fB+%c3%a9%20z%0a5%2541&", "?k=[secret A]&");
	assert_redacts(VALUE, "tk-%229%5Ca/B+%E9%20z%0A5%2541", "[secret A]");
	assert_redacts(VALUE, "%74%6B%2D%22%39%5C%61%2F%42%2B%C3%A9%20%7A%0A%35%25%34%31",
		       "[secret A]");
}

static void hexadecimal_is_found_in_both_cases(void **state)
{
	(void)state;
	assert_redacts("hunter2z", "x68756e746572327ay", "x[secret A]y");
	assert_redacts("hunter2z", "68756E746572327A", "[secret A]");
	assert_redacts("hunter2z", "68:75:6E:74 65 72\n32-7A", "[secret A]");
	assert_redacts("hunter2z", "068756e746572327a0", "0[secret A]0");
	assert_redacts("hunter2z", "\"68756e74\\n6572327a\\n\"", "\"[secret A]\\n\"");
}

/* Python's base64 of 0 to 2 bytes, "hunter2hunter2~?" and two bytes. */
static void base64_is_found_at_each_alignment(void **state)
{
	const char *value = "hunter2hunter2~?";

	(void)state;
	assert_redacts(value, "aHVudGVyMmh1bnRlcjJ+P3h4", "[secret A]3h4");
	assert_redacts(value, "eGh1bnRlcjJodW50ZXIyfj94eA==", "eG[secret A]94eA==");
	assert_redacts(value, "eHhodW50ZXIyaHVudGVyMn4/eHg=", "eHh[secret A]eHg=");
	assert_redacts(value, "aHVudGVyMmh1bnRlcjJ-P3h4", "[secret A]3h4");
	assert_redacts(value, "eHhodW50ZXIyaHVudGVyMn4_eHg=", "eHh[secret A]eHg=");
	assert_redacts(value, "eHhodW50ZXIy\r\naHVu\ndGVyMn4/eHg=", "eHh[secret A]eHg=");
	assert_redacts(value, "eHhodW50ZXIy\\naHVudGVyMn4\\/eHg=", "eHh[secret A]eHg=");
	assert_redacts(value, "eHhodW50ZXIyaHVudGVyMn4%2FeHg%3D", "eHh[secret A]eHg%3D");
}

static void colours_and_a_terminal_s_line_ends_hide_nothing(void **state)
{
	(void)state;
	assert_redacts("hunter2\nhunter2", "hunter2\r\nhunter2\r\n", "[secret A]\r\n");
	assert_redacts("hunter2hunter2", "a \033[1mhunter\033[0;31m2\033[mhunter2\033[0m b",
		       "a \033[1m[secret A]\033[0m b");
	assert_redacts("hunter2hunter2", "hunter2\033[6nhunter2", "hunter2\033[6nhunter2");
}

/* The value is there as it is, however a terminal would read it. */
static void a_value_that_ends_or_begins_a_colour_is_found(void **state)
{
	(void)state;
	assert_redacts("maaaaaaaa", "b \033[0maaaaaaaaa", "b \033[0[secret A]a");
	assert_redacts("maaaaaaaa", "ma\033[0maaa\r\n\033[0maaaaaaaa",
		       "ma\033[0maaa\r\n\033[0[secret A]");
	assert_redacts("4;31mred-or-not", "\033[4;31mred-or-not\033[m", "\033[[secret A]\033[m");
	assert_redacts("[31mred-or-not", "\033[31mred-or-not", "\033[secret A]");
	assert_redacts("red-or-not\033[3", "red-or-not\033[31m", "[secret A]1m");
	assert_redacts("\033[1m\033[2mabc", "<\033[1m\033[2mabc>", "<[secret A]>");
	assert_redacts("maaaa\nbbbb", "\033[0maaaa\r\nbbbb", "\033[0[secret A]");
	assert_redacts("00000000", "\033[00000000m", "\033[[secret A]m");
	assert_redacts("[1;31;42", "\033[1;31;42m", "\033[secret A]m");
}

static void a_colour_of_digits_is_held_as_the_start_of_a_value(void **state)
{
	static const char value[] = "61616161;;abc";
	struct redact *redact = new_redact("A", value);
	struct redact_stream *stream = redact_stream_new(redact);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	redact_feed(stream, "\033[", 2, &out);
	for (size_t i = 0; i < strlen(value); i++) {
		redact_feed(stream, value + i, 1, &out);
		if (i + 1 >= REDACT_CHARS_MIN)
			redact_settle(stream, &out);
	}
	redact_end(stream, &out);
	assert_string_equal(buf_str(&out), "\033[[secret A]");
	redact_stream_free(stream);
	redact_free(redact);
}

/* Encoders escape a value that itself looks like an escape. */
static void escapes_in_a_value_are_found_escaped(void **state)
{
	(void)state;
	assert_redacts("\"abc\"\n\"defghi", "\\\"abc\\\"\\n\\\"defghi", "[secret A]");
	assert_redacts("hunter2\033[1mhunter3", "\"hunter2\\u001b[1mhunter3\"", "\"[secret A]\"");
	assert_redacts("hunter2\\\nhunter3", "\"hunter2\\\\\\nhunter3\"", "\"[secret A]\"");
	assert_redacts("hunter2\\\xc3\xa9hunter3", "\"hunter2\\\\\\u00e9hunter3\"",
		       "\"[secret A]\"");
	assert_redacts("aaaa\\\\\\\\\\bbbb\"c", "\"aaaa\\\\\\\\\\\\\\\\\\\\bbbb\\\"c\"",
		       "\"[secret A]\"");
	assert_redacts("pa\\nss12", "\"pa\\\\nss12\"", "\"[secret A]\"");
	assert_redacts("ab\\cd\\ef", "\"ab\\\\cd\\\\ef\"", "\"[secret A]\"");
	assert_redacts("\t\\\"\na\\\"\\c", "\"\\\\\\\"\\na\\\\\\\"\\\\c\"", "\"[secret A]\"");
	assert_redacts("caf\xc3\xa9-\"one\"\n\"two\"-x", "'caf\\xe9-\\\"one\\\"\\n\\\"two\\\"-x'",
		       "'[secret A]'");
}

static void blanks_around_a_value_are_not_part_of_it(void **state)
{
	(void)state;
	assert_redacts(" hunter2z\n", "(hunter2z)", "([secret A])");
}

static void a_value_full_of_escapes_hides_no_escapes(void **state)
{
	(void)state;
	assert_redacts("\\\\\\\\\\\\\\\\", "C:\\dir\\\\ \\\\\\\\\\\\\\\\",
		       "C:\\dir\\\\ [secret A]");
	assert_redacts("\\u0041\\u0042", "AB \\u0041\\u0042", "AB [secret A]");
}

static void values_shorter_than_eight_characters_are_not_taken(void **state)
{
	char *longest = xcalloc(1, REDACT_BYTES_MAX + 2);

	(void)state;
	assert_false(redact_takes("hunter2"));
	assert_false(redact_takes(" hunter2 \n"));
	assert_false(redact_takes("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"));
	assert_false(redact_takes("hunt\rer2"));
	assert_true(redact_takes("hunter2z"));
	memset(longest, 'x', REDACT_BYTES_MAX);
	assert_true(redact_takes(longest));
	longest[REDACT_BYTES_MAX] = 'x';
	assert_false(redact_takes(longest));
	free(longest);
}

static void of_values_within_values_nothing_is_left(void **state)
{
	struct redact *redact = redact_new();
	static const char *const rows[][2] = {
		{ "abcdefghijkl", "[secret LONG]" },
		{ "abcdefghijk", "[secret SHORT]ijk" },
		{ "xabcdefgh", "x[secret SHORT]" },
		{ "abcdefghijklmnop", "[secret LONG]mnop" },
		{ "abcdefghijklmnopqr", "[secret LONG]" },
		{ "ijklmnopqr", "ij[secret END]" },
	};

	(void)state;
	redact_add(redact, "SHORT", "abcdefgh");
	redact_add(redact, "LONG", "abcdefghijkl");
	redact_add(redact, "END", "klmnopqr");
	redact_finish(redact);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (size_t step = 1; step < 20; step++) {
			cleanup_free char *out = redacted(redact, rows[i][0], step);

			assert_string_equal(out, rows[i][1]);
		}
	redact_free(redact);
}

static void nothing_is_held_that_begins_no_value(void **state)
{
	struct redact *redact = new_redact("A", "hunter2hunter2");
	struct redact_stream *stream = redact_stream_new(redact);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	redact_feed(stream, "Name: ", 6, &out);
	assert_string_equal(buf_str(&out), "Name: ");
	redact_feed(stream, "hun", 3, &out);
	assert_int_equal(redact_held(stream), 3);
	redact_feed(stream, "gry", 3, &out);
	assert_string_equal(buf_str(&out), "Name: hungry");
	redact_stream_free(stream);
	redact_free(redact);
}

static void where_a_text_rests_only_long_beginnings_are_held(void **state)
{
	struct redact *redact = new_redact("A", "hunter2hunter2");
	struct redact_stream *stream = redact_stream_new(redact);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	redact_feed(stream, "who? hunt", 9, &out);
	redact_settle(stream, &out);
	assert_string_equal(buf_str(&out), "who? hunt");
	redact_feed(stream, "er2hu", 5, &out);
	redact_settle(stream, &out);
	assert_string_equal(buf_str(&out), "who? hunt");
	redact_feed(stream, "nter2 ok", 8, &out);
	assert_string_equal(buf_str(&out), "who? hunt[secret A] ok");
	redact_stream_free(stream);
	redact_free(redact);
}

static void an_endless_run_of_letters_is_not_held(void **state)
{
	struct redact *redact = new_redact("A", "aaaaaaaaaaaaaaaaaaaa");
	struct redact_stream *stream = redact_stream_new(redact);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	for (size_t i = 0; i < 10000; i++) {
		redact_feed(stream, "aaaaaaaaaaaaaaaa", 16, &out);
		assert_true(redact_held(stream) <= 20);
	}
	redact_end(stream, &out);
	assert_string_equal(buf_str(&out), "[secret A]");
	redact_stream_free(stream);
	redact_free(redact);
}

static void what_means_nothing_is_held_for_a_while_only(void **state)
{
	struct redact *redact = new_redact("A", "hunter2hunter2");
	struct redact_stream *stream = redact_stream_new(redact);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	redact_feed(stream, "hunter2hun", 10, &out);
	for (size_t i = 0; i < 1000; i++) {
		redact_feed(stream, "\r\r\r\033[m\033[1m", 10, &out);
		assert_true(redact_held(stream) <= 512);
	}
	assert_true(out.len >= 10000);
	redact_stream_free(stream);
	redact_free(redact);
}

static void a_string_is_replaced_only_when_something_is_found(void **state)
{
	struct redact *redact = new_redact("A", "hunter2hunter2");
	char *same = xstrdup("nothing");
	char *other = xstrdup("hunter2hunter2");
	char *none = NULL;
	const char *before = same;

	(void)state;
	redact_string(redact, &same);
	redact_string(redact, &other);
	redact_string(redact, &none);
	redact_string(NULL, &same);
	assert_ptr_equal(same, before);
	assert_string_equal(other, "[secret A]");
	assert_null(none);
	free(same);
	free(other);
	redact_free(redact);
}

static void assert_cut(const char *value, const char *text, const char *expected)
{
	struct redact *redact = new_redact("A", value);
	char *out = xstrdup(text);

	redact_cut_string(redact, &out);
	assert_string_equal(out, expected);
	free(out);
	redact_free(redact);
}

static void of_a_text_that_was_cut_the_start_of_a_value_goes(void **state)
{
	static const char value[] = "hunter2-hunter3\nhunter4\xc3\xb6hunter5 hunter6";

	(void)state;
	assert_cut(value, "v hunter2-hunter3", "v [secret A]");
	assert_cut(value, "v hunter2-hunt", "v [secret A]");
	assert_cut(value, "v hunter2-hun", "v hunter2-hun");
	assert_cut(value, "'hunter2-hunter3\\", "'[secret A]\\");
	assert_cut(value, "'hunter2-hunter3\\nhunter4\\u00", "'[secret A]\\u00");
	assert_cut(value, "aHVudGVyMi1odW50ZXIz", "[secret A]");
	assert_cut(value, "68756e746572322d68756e74", "[secret A]");
	assert_cut(value, "hunter2-hunter3!", "hunter2-hunter3!");
	assert_cut(value, "hunter2-hunter3'", "[secret A]'");
	assert_cut("hunter2-hunter3", "hunter2-hunter3 hunter2-hunte", "[secret A] [secret A]");
}

static void a_text_may_be_cut_within_an_escape(void **state)
{
	(void)state;
	assert_cut("hunter2-hunter\xf0\x9f\x98\x80x", "hunter2-hunter%F", "[secret A]%F");
	assert_cut("hunter2-hunter\xc3\xbfx", "hunter2-hunter\\u00F...", "[secret A]\\u00F...");
	assert_cut("hunter2-hunter\xf0\x9f\x98\x80x", "hunter2-hunter\\ud83d\\ude0",
		   "[secret A]\\ud83d\\ude0");
	assert_cut("hunter2-hunter\xf0\x9f\x98\x80x", "hunter2-hunter\\\\ud83d\\\\ude0...",
		   "[secret A]\\\\ud83d\\\\ude0...");
	assert_cut("hunter2-hunter3x", "hunter2-hunter\033[3", "[secret A]\033[3");
	assert_cut("hunter2-hunter3x", "hunter2-hunter\033...", "[secret A]\033...");
	assert_cut("hunter2-hunter%x", "hunter2-hunter%2", "[secret A]2");
	assert_cut("hunter2-huntuuuuu", "hunter2-hunt\\\\u0", "[secret A]0");
	assert_cut("hunter2-hunter3x", "\\...hunter2-hunterx y", "\\...hunter2-hunterx y");
}

/* The beginning of many values is no secret, and is in every manual. */
static void what_is_everybodys_is_no_start_of_a_value(void **state)
{
	static const char key[] = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA";

	(void)state;
	assert_cut("postgresql://me:hunter2@db", "use postgresql://... here",
		   "use postgresql://... here");
	assert_cut("postgresql://me:hunter2@db", "postgresql://m... x", "[secret A]... x");
	assert_cut(key, "-----BEGIN RSA PRIVATE KEY-----\n...",
		   "-----BEGIN RSA PRIVATE KEY-----\n...");
	assert_cut(key, "-----BEGIN RSA PRIVATE KEY-----\nM...", "[secret A]...");
	assert_cut("https://a.test/x-----and-so-on-with-many-more-----hunter2",
		   "https://a.test/x-----and-so-on-with-many-more-----...", "[secret A]...");
}

static void a_value_may_be_cut_before_a_dot_of_its_own(void **state)
{
	static const char token[] = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.c2lnbmF0dXJl";

	(void)state;
	assert_cut(token, "eyJhbGciOiJIUzI1NiJ9... x", "[secret A].. x");
	assert_cut(token, "eyJhbGciOiJIUzI1NiJ9. x", "eyJhbGciOiJIUzI1NiJ9. x");
	assert_cut(token, "x eyJhbGciOiJIUzI1NiJ9.", "x [secret A]");
	assert_cut("hunter2-hunter...mnop", "hunter2-hunter... x", "[secret A] x");
	assert_cut("hunter2-hunter.\xc3\xa9x", "hunter2-hunter.\\u00...", "[secret A]\\u00...");
}

static void dots_behind_the_start_of_a_value_say_that_it_was_cut(void **state)
{
	static const char value[] = "hunter2-hunter3\nhunter4\xc3\xb6hunter5 hunter6";
	static const char *const rows[][2] = {
		{ "No session 'hunter2-hunter3...'.", "No session '[secret A]...'." },
		{ "hunter2-hunter3\n... [9 characters left out] ...\n", "[secret A]... [9" },
		{ "'hunter2-hunter3' ... 'x'", "'[secret A]' ... 'x'" },
		{ "hunter2-hunter3\n[...]\nx", "[secret A][...]\nx" },
		{ "0  hunter2-hunter3\xe2\x80\xa6", "0  [secret A]\xe2\x80\xa6" },
		{ "hunter2-hunter3\\...", "[secret A]\\..." },
		{ "aHVudGVyMi1odW50ZXIz...", "[secret A]..." },
		{ "... [9 characters left out] ...\n2-hunter3\nhunter4\xc3\xb6hunter5 hunter6 x",
		  "... [9 characters left out] ...\n[secret A] x" },
		{ "'x' ... 'hunter5 hunter6' (", "'x' ... '[secret A]' (" },
		{ "b'x' ... b'xb6hunter5 hunter6'", "b'x' ... b'[secret A]'" },
		{ "x\n[...]\n7465723520 68756e746572360a", "x\n[...]\n[secret A]0a" },
		{ "x ... hunter6", "x ... hunter6" },
		{ "... another hunter5 hunter6", "... another hunter5 hunter6" },
		{ "hunter2...", "hunter2..." },
		{ "hunter2-hunter3. hunter2-hunter3", "hunter2-hunter3. hunter2-hunter3" },
	};
	struct redact *redact = new_redact("A", value);
	struct redact_stream *stream;

	(void)state;
	stream = redact_stream_new(redact);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

		if (!redact_text(stream, rows[i][0], strlen(rows[i][0]), &out))
			buf_puts(&out, rows[i][0]);
		assert_memory_equal(buf_str(&out), rows[i][1], strlen(rows[i][1]));
	}
	redact_stream_free(stream);
	redact_free(redact);
}

/* Marks of one spelling between those of another: in order, and none takes long. */
static void values_in_several_spellings_are_taken_out_of_long_texts(void **state)
{
	static const char row[] = "hunter2/hunter3 hunter2%2fhunter3 hunter2\\/hunter3\n";
	static const char clean[] = "[secret A] [secret A] [secret A]\n";
	enum { ROWS = 100000 };
	struct redact *redact = new_redact("A", "hunter2/hunter3");
	struct redact_stream *stream = redact_stream_new(redact);
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf expected = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		buf_puts(&text, row);
		buf_puts(&expected, clean);
	}
	assert_true(redact_text(stream, text.data, text.len, &out));
	assert_string_equal(out.data, expected.data);
	redact_stream_free(stream);
	redact_free(redact);
}

/* Each of them could be where the text was cut. */
static void blanks_that_spell_letters_of_a_value_take_no_long(void **state)
{
	enum { BLANKS = 1 << 18 };
	struct redact *redact = new_redact("A", "++++++++++++++++x");
	char *text = xcalloc(1, BLANKS + 1);

	(void)state;
	memset(text, ' ', BLANKS);
	redact_string(redact, &text);
	assert_int_equal(strlen(text), BLANKS);
	redact_cut_string(redact, &text);
	assert_non_null(strstr(text, "[secret A]"));
	free(text);
	redact_free(redact);
}

static void where_nothing_is_found_nothing_is_appended(void **state)
{
	struct redact *redact = new_redact("A", "hunter2-hunter3");
	struct redact_stream *stream = redact_stream_new(redact);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	buf_puts(&out, "before");
	assert_false(redact_text(stream, "hunter2", 7, &out));
	assert_string_equal(buf_str(&out), "before");
	assert_true(redact_text(stream, "hunter2-hunter3", 15, &out));
	assert_string_equal(buf_str(&out), "before[secret A]");
	redact_stream_free(stream);
	redact_free(redact);
}

static void parts_of_a_text_make_the_whole(void **state)
{
	static const char text[] = "ab hunter2-hunter3 cd \\u0068unter2-hunter3 ef";
	struct redact *redact = new_redact("A", "hunter2-hunter3");

	(void)state;
	for (size_t step = 1; step <= sizeof(text); step++) {
		cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

		for (size_t at = 0; at < strlen(text); at += step)
			redact_range(redact, text, strlen(text), at,
				     size_min(at + step, strlen(text)), &out);
		assert_string_equal(buf_str(&out), "ab [secret A] cd [secret A] ef");
	}
	assert_true(redact_reach(redact) >= strlen("\\u0068") * strlen("hunter2-hunter3"));
	redact_free(redact);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_taken_out_as_it_is),
		cmocka_unit_test(what_only_resembles_it_stays),
		cmocka_unit_test(every_json_spelling_is_found),
		cmocka_unit_test(json_within_json_is_found),
		cmocka_unit_test(literals_of_programs_are_found),
		cmocka_unit_test(other_spellings_of_letters_are_found),
		cmocka_unit_test(literals_in_several_parts_are_found),
		cmocka_unit_test(percent_encoding_is_found_whatever_it_spares),
		cmocka_unit_test(hexadecimal_is_found_in_both_cases),
		cmocka_unit_test(base64_is_found_at_each_alignment),
		cmocka_unit_test(colours_and_a_terminal_s_line_ends_hide_nothing),
		cmocka_unit_test(a_value_that_ends_or_begins_a_colour_is_found),
		cmocka_unit_test(a_colour_of_digits_is_held_as_the_start_of_a_value),
		cmocka_unit_test(escapes_in_a_value_are_found_escaped),
		cmocka_unit_test(a_text_may_be_cut_within_an_escape),
		cmocka_unit_test(values_in_several_spellings_are_taken_out_of_long_texts),
		cmocka_unit_test(blanks_that_spell_letters_of_a_value_take_no_long),
		cmocka_unit_test(where_nothing_is_found_nothing_is_appended),
		cmocka_unit_test(blanks_around_a_value_are_not_part_of_it),
		cmocka_unit_test(a_value_full_of_escapes_hides_no_escapes),
		cmocka_unit_test(values_shorter_than_eight_characters_are_not_taken),
		cmocka_unit_test(of_values_within_values_nothing_is_left),
		cmocka_unit_test(nothing_is_held_that_begins_no_value),
		cmocka_unit_test(where_a_text_rests_only_long_beginnings_are_held),
		cmocka_unit_test(an_endless_run_of_letters_is_not_held),
		cmocka_unit_test(what_means_nothing_is_held_for_a_while_only),
		cmocka_unit_test(a_string_is_replaced_only_when_something_is_found),
		cmocka_unit_test(parts_of_a_text_make_the_whole),
		cmocka_unit_test(of_a_text_that_was_cut_the_start_of_a_value_goes),
		cmocka_unit_test(what_is_everybodys_is_no_start_of_a_value),
		cmocka_unit_test(a_value_may_be_cut_before_a_dot_of_its_own),
		cmocka_unit_test(dots_behind_the_start_of_a_value_say_that_it_was_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
