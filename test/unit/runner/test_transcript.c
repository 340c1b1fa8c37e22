/* SPDX-License-Identifier: MIT */
/* test_transcript.c - head, tail and spool at their edges; counts are exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fd.h"
#include "redact/redact.h"
#include "text/utf8.h"

enum { SPOOL_MAX = 1 << 20 };

#include "transcript_fixture.h"

enum { BOTH = TRANSCRIPT_HEAD_MAX + TRANSCRIPT_TAIL_MAX };

/* Feeds numbered lines of 16 characters, `total` bytes together. */
static void feed_lines(size_t total, size_t at_once)
{
	char *text = xcalloc(1, total + 32);
	size_t fed = 0;

	for (size_t i = 0; i * 16 < total; i++)
		(void)snprintf(text + i * 16, 32, "line %010zu\n", i);
	while (fed < total) {
		size_t len = size_min(at_once, total - fed);

		transcript_feed(t, text + fed, len);
		fed += len;
	}
	free(text);
}

static struct transcript_text render(size_t max_chars)
{
	buf_clear(&out);
	return transcript_render(t, max_chars, NULL, &out, NULL);
}

/* Returns the content of the spool's file, freed by the caller; NULL when there is none. */
static char *spooled(size_t *ret_len)
{
	const char *path = transcript_spool_path(t);
	struct err err;

	return path != NULL ? fd_read_file(AT_FDCWD, path, SPOOL_MAX, ret_len, &err) : NULL;
}

static void a_short_output_is_shown_whole_and_not_spooled(void **state)
{
	struct transcript_text text;

	(void)state;
	assert_true(transcript_empty(t));
	feed("one\ntwo \xc3\xa9\n");
	assert_false(transcript_empty(t));
	text = render(100);
	assert_string_equal(buf_str(&out), "one\ntwo \xc3\xa9\n");
	assert_int_equal(text.shown, 10);
	assert_int_equal(text.total, 10);
	assert_false(text.spooled);
	assert_null(transcript_spool_path(t));
	assert_int_equal(transcript_spool_dropped(t), 0);
}

static void nothing_is_nothing(void **state)
{
	struct transcript_text text = render(100);

	(void)state;
	feed("");
	assert_int_equal(text.shown + text.total, 0);
	assert_int_equal(out.len, 0);
	transcript_last_line(t, &out);
	assert_int_equal(out.len, 0);
	transcript_free(NULL);
}

static void the_budget_itself_fits_and_one_more_does_not(void **state)
{
	struct transcript_text text;

	(void)state;
	feed("0123456789");
	text = render(10);
	assert_int_equal(text.shown, 10);
	assert_false(text.spooled);
	feed("x");
	text = render(10);
	assert_int_equal(text.total, 11);
	assert_true(text.shown <= 10);
	assert_true(text.spooled);
}

static void what_does_not_fit_is_spooled_whole(void **state)
{
	static const size_t chunks[] = { 1, 4095, BOTH + 1 };
	struct transcript_text text;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(chunks); i++) {
		char *whole;
		size_t len = 0;

		transcript_free(t);
		t = transcript_new(spool_new(workspace, i + 2, "fake", SPOOL_MAX), NULL);
		feed_lines(2 * BOTH, chunks[i]);
		text = render(8000);
		whole = spooled(&len);
		assert_true(text.spooled);
		assert_int_equal(text.total, 2 * BOTH);
		assert_int_equal(len, 2 * BOTH);
		for (size_t at = 0; at < len; at += 16)
			assert_int_equal(strtoul(whole + at + 5, NULL, 10), at / 16);
		free(whole);
	}
}

/* Exactly what head and tail hold: nothing is lost, in chunks of any size. */
static void head_and_tail_hold_what_they_say(void **state)
{
	static const size_t chunks[] = { 1, 1000, TRANSCRIPT_HEAD_MAX, BOTH };
	struct transcript_text text;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(chunks); i++) {
		transcript_free(t);
		t = transcript_new(spool_new(workspace, i + 2, "fake", SPOOL_MAX), NULL);
		feed_lines(BOTH, chunks[i]);
		text = render(BOTH);
		assert_int_equal(text.total, BOTH);
		assert_int_equal(text.shown, BOTH);
		assert_int_equal(out.len, BOTH);
		assert_false(text.spooled);
		transcript_feed(t, "!", 1);
		text = render(8000);
		assert_int_equal(text.total, BOTH + 1);
		assert_true(text.spooled);
	}
}

static void head_and_tail_are_shown_with_the_exact_count_between(void **state)
{
	struct transcript_text text;
	const char *note;
	size_t omitted;

	(void)state;
	feed_lines(10 * BOTH, 4000);
	text = render(6000);
	assert_true(text.shown <= 6000);
	assert_true(text.shown > 5900);
	assert_memory_equal(out.data, "line 0000000000\n", 16);
	note = strstr(out.data, "\n[... ");
	assert_non_null(note);
	assert_int_equal(sscanf(note, "\n[... %zu characters left out ...]\n", &omitted), 1);
	assert_int_equal(omitted + text.shown, 10 * BOTH);
	assert_memory_equal(out.data + out.len - 11, "0000040959\n", 11);
}

static void characters_are_counted_not_bytes(void **state)
{
	struct transcript_text text;

	(void)state;
	for (size_t i = 0; i < 50000; i++)
		transcript_feed(t, "\xe2\x82\xac", 3); /* 150,000 bytes */
	text = render(3000);
	assert_int_equal(text.total, 50000);
	assert_int_equal(text.shown, 3000);
	assert_true(utf8_valid(out.data, out.len));
	assert_null(strstr(out.data, "\xef\xbf\xbd"));
}

/* The ring begins within a character; with a large budget that place is shown. */
static void a_character_cut_by_head_or_tail_is_not_shown_broken(void **state)
{
	struct transcript_text text;

	(void)state;
	transcript_feed(t, "x", 1); /* so that 32 KB is no border */
	for (size_t i = 0; i < 50000; i++)
		transcript_feed(t, "\xe2\x82\xac", 3);
	text = render(40000);
	assert_true(utf8_valid(out.data, out.len));
	assert_null(strstr(out.data, "\xef\xbf\xbd"));
	assert_int_equal(text.total, 50001);
	assert_true(text.shown < text.total);
}

static void a_character_fed_in_pieces_is_one(void **state)
{
	struct transcript_text text;

	(void)state;
	transcript_feed(t, "\xe2", 1);
	transcript_feed(t, "\x82", 1);
	transcript_feed(t, "\xac\n", 2);
	text = render(10);
	assert_string_equal(buf_str(&out), "\xe2\x82\xac\n");
	assert_int_equal(text.total, 2);
}

static void a_progress_bar_is_shown_as_a_person_saw_it(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		char line[32];

		(void)snprintf(line, sizeof(line), "\rstep %d", i);
		feed(line);
	}
	(void)render(100);
	assert_string_equal(buf_str(&out), "step 99");
}

static void an_output_that_collapses_discards_its_spool(void **state)
{
	struct transcript_text text;
	char *path;

	(void)state;
	for (size_t i = 0; i < BOTH / 8 + 10; i++)
		feed("\r1234567");
	path = xstrdup(transcript_spool_path(t));
	assert_int_equal(access(path, F_OK), 0);
	text = render(8000);
	assert_true(text.spooled || access(path, F_OK) != 0);
	free(path);
}

static void the_spools_limit_is_counted(void **state)
{
	(void)state;
	transcript_free(t);
	t = transcript_new(spool_new(workspace, 9, "fake", 1000), NULL);
	feed_lines(2 * BOTH, 1000);
	assert_int_equal(transcript_spool_dropped(t), 2 * BOTH - 1000);
	assert_true(render(8000).spooled);
}

static void inserted_text_has_lines_of_its_own(void **state)
{
	(void)state;
	transcript_insert(t, "", 0);
	assert_true(transcript_empty(t));
	feed("a");
	assert_true(transcript_has_open_line(t));
	transcript_insert(t, "[figure]", 8);
	assert_false(transcript_has_open_line(t));
	feed("\033[?25h"); /* as R's cli does before each plot */
	transcript_insert(t, "two\n", 4);
	feed("b\n");
	(void)render(100);
	assert_string_equal(buf_str(&out), "a\n[figure]\ntwo\nb\n");
}

static void the_last_line_is_the_unfinished_one(void **state)
{
	(void)state;
	feed("first\nname? ");
	transcript_last_line(t, &out);
	assert_string_equal(buf_str(&out), "name?");
	buf_clear(&out);
	feed_lines(2 * BOTH, 1000);
	feed("more?");
	transcript_last_line(t, &out);
	assert_string_equal(buf_str(&out), "more?");
}

/* ---- what a terminal would answer ---- */

static const char *answers(void)
{
	buf_clear(&out);
	transcript_take_answers(t, &out);
	return buf_str(&out);
}

static void a_query_is_answered_once(void **state)
{
	(void)state;
	feed("ab\033[6n");
	assert_string_equal(answers(), "\033[1;3R");
	assert_string_equal(answers(), "");
	feed("c");
	assert_string_equal(answers(), "");
	feed("\n\033[6n");
	assert_string_equal(answers(), "\033[2;1R");
}

static void a_short_query_is_not_found_twice(void **state)
{
	const char *first;

	(void)state;
	feed("\033[c");
	first = answers();
	assert_memory_equal(first, "\033[?", 3);
	assert_null(strstr(first + 1, "\033"));
	feed("x");
	assert_string_equal(answers(), "");
}

static void a_query_in_pieces_is_found(void **state)
{
	(void)state;
	for (const char *c = "\033[6n"; *c != '\0'; c++)
		transcript_feed(t, c, 1);
	assert_string_equal(answers(), "\033[1;1R");
	feed("abc\033[");
	assert_string_equal(answers(), "");
	feed("6n");
	assert_string_equal(answers(), "\033[1;4R");
}

static void a_query_behind_a_long_output_is_answered(void **state)
{
	(void)state;
	feed_lines(2 * BOTH, 1000);
	assert_string_equal(answers(), "");
	feed("\033[6n");
	assert_memory_equal(answers(), "\033[", 2);
}

#define TEXT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static const char *take(void)
{
	buf_clear(&out);
	(void)transcript_take(t, 8000, &out);
	return buf_str(&out);
}

static void each_take_has_what_is_new(void **state)
{
	(void)state;
	feed("one\n");
	assert_string_equal(take(), "one\n");
	assert_string_equal(take(), "");
	feed("two");
	assert_string_equal(take(), "two");
	feed(" three\n");
	assert_string_equal(take(), " three\n");
}

static void a_take_cuts_no_character_and_no_escape_sequence(void **state)
{
	(void)state;
	feed("a\xe2\x82");
	assert_string_equal(take(), "a");
	feed("\xac\033[3");
	assert_string_equal(take(), "\xe2\x82\xac");
	feed("1mred\033");
	assert_string_equal(take(), "red");
	feed("[0m.");
	assert_string_equal(take(), ".");
}

static void a_take_of_much_cuts_none_either(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++)
		feed("line\n");
	feed("\xe2\x82");
	(void)take();
	assert_null(strstr(buf_str(&out), "\xef\xbf\xbd"));
	assert_non_null(strstr(buf_str(&out), "characters left out"));
	feed("\xac\n");
	assert_string_equal(take(), "\xe2\x82\xac\n");
}

static void the_prompt_is_known_after_it_was_taken(void **state)
{
	cleanup_buf struct buf prompt = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	feed("text\nname? ");
	(void)take();
	transcript_last_line(t, &prompt);
	assert_string_equal(buf_str(&prompt), "name?");
}

/* ---- what is answered behind the output ---- */

/* Renders with a result of which answers show less than there is. */
static struct transcript_text render_short(const char *text, const char *whole, size_t max_chars,
					   struct buf *ret_result)
{
	struct transcript_result result = { .shown = strlen(text) };
	struct transcript_text all;

	buf_init(&result.text, BUF_UNBOUNDED);
	buf_init(&result.whole, BUF_UNBOUNDED);
	buf_puts(&result.text, text);
	buf_puts(&result.whole, whole);
	buf_clear(&out);
	all = transcript_render(t, max_chars, &result, &out, ret_result);
	buf_release(&result.text);
	buf_release(&result.whole);
	return all;
}

static struct transcript_text render_with(const char *text, size_t max_chars,
					  struct buf *ret_result)
{
	return render_short(text, text, max_chars, ret_result);
}

static char *long_text(char letter, size_t len)
{
	char *text = xcalloc(1, len + 1);

	memset(text, letter, len);
	return text;
}

static void a_result_that_is_cut_lies_whole_in_the_spool(void **state)
{
	cleanup_buf struct buf result = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *value = long_text('v', 3000);
	cleanup_free char *whole = NULL;
	struct transcript_text text;
	size_t len = 0;

	(void)state;
	feed("printed");
	text = render_with(value, 500, &result);
	assert_int_equal(text.total, 3007);
	assert_int_equal(text.shown, 500);
	assert_true(text.spooled);
	assert_string_equal(buf_str(&out), "printed");
	whole = spooled(&len);
	assert_int_equal(len, 3008);
	assert_memory_equal(whole, "printed\nvvv", 11);
}

static void a_result_that_is_shown_in_part_lies_whole_in_the_spool(void **state)
{
	cleanup_buf struct buf result = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *whole = NULL;
	struct transcript_text text;
	size_t len = 0;

	(void)state;
	feed("printed");
	text = render_short("the [2 words] end", "the one long end", 500, &result);
	assert_int_equal(text.total, 7 + 16);
	assert_int_equal(text.shown, 7 + 15);
	assert_true(text.spooled);
	assert_string_equal(buf_str(&result), "the [2 words] end");
	whole = spooled(&len);
	assert_int_equal(len, 8 + 16);
	assert_memory_equal(whole, "printed\nthe one long end", len);
}

static void a_result_has_at_least_half_of_the_room(void **state)
{
	cleanup_buf struct buf result = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *value = long_text('v', 250);
	struct transcript_text text;

	(void)state;
	feed_lines(2000, 100);
	text = render_with(value, 500, &result);
	assert_string_equal(result.data, value);
	assert_in_range(text.shown, 400, 500);
	assert_int_equal(text.total, 2250);
	assert_true(text.spooled);
}

static void what_fits_together_leaves_no_spool(void **state)
{
	cleanup_buf struct buf result = BUF_INIT(BUF_UNBOUNDED);
	struct transcript_text text;

	(void)state;
	feed("12345\n");
	text = render_with("1234", 10, &result);
	assert_int_equal(text.shown, 10);
	assert_int_equal(text.total, 10);
	assert_false(text.spooled);
	assert_string_equal(buf_str(&result), "1234");
}

static void a_secret_is_neither_shown_nor_spooled(void **state)
{
	struct redact *redact = redact_new();
	cleanup_free char *whole = NULL;
	size_t len;

	(void)state;
	redact_add(redact, "A", "hunter2hunter2");
	redact_finish(redact);
	transcript_free(t);
	t = transcript_new(spool_new(workspace, 7, "fake", SPOOL_MAX), redact);
	feed("a hunter2hun");
	assert_true(transcript_has_open_line(t));
	(void)transcript_take(t, 1000, &out);
	feed("ter2 b hunt");
	transcript_settle(t);
	(void)transcript_take(t, 1000, &out);
	feed("er2hunter2!");
	(void)transcript_render(t, 1000, NULL, &out, NULL);
	assert_string_equal(buf_str(&out), "a[secret A] b hunt[secret A]!");
	whole = spooled(&len);
	assert_string_equal(whole, "a [secret A] b hunt[secret A]!");
	transcript_free(t);
	t = NULL;
	redact_free(redact);
}

#define SCREEN_AT(line, column)                                                                    \
	"[the screen of a full-screen program; the cursor is in line " line ", column " column "]\n"

static void a_full_screen_program_shows_its_screen_while_it_has_one(void **state)
{
	(void)state;
	feed("begin\n\033[?1049h\033[2;1Hone");
	(void)transcript_take(t, 1000, &out);
	assert_string_equal(buf_str(&out), "begin\n" SCREEN_AT("2", "4") "\none\n");
	buf_clear(&out);
	(void)transcript_take(t, 1000, &out);
	assert_string_equal(buf_str(&out), ""); /* nothing has changed */
	feed("\033[1;1Htwo\033[");
	(void)transcript_take(t, 1000, &out);
	assert_string_equal(buf_str(&out), SCREEN_AT("1", "4") "two\none\n");
	buf_clear(&out);
	feed("2;1H\033[2K\033[?1049lend\n");
	(void)transcript_render(t, 1000, NULL, &out, NULL);
	assert_string_equal(buf_str(&out), "end\n");
}

static void a_full_screen_program_that_nobody_saw_is_noted(void **state)
{
	(void)state;
	feed("begin\n\033[?1049hone\033[?1049lend\n");
	(void)transcript_render(t, 1000, NULL, &out, NULL);
	assert_non_null(strstr(buf_str(&out),
			       "[a full-screen program ran; its screen is left out]\nend\n"));
}

static void the_last_screen_of_a_program_that_was_ended_is_shown(void **state)
{
	struct transcript_text shown;

	(void)state;
	feed("\033[?1049hlast words");
	shown = transcript_render(t, 1000, NULL, &out, NULL);
	assert_string_equal(buf_str(&out), SCREEN_AT("1", "11") "last words\n");
	assert_int_equal(shown.shown, shown.total);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEXT_TEST(a_short_output_is_shown_whole_and_not_spooled),
		TEXT_TEST(nothing_is_nothing),
		TEXT_TEST(each_take_has_what_is_new),
		TEXT_TEST(a_take_cuts_no_character_and_no_escape_sequence),
		TEXT_TEST(a_take_of_much_cuts_none_either),
		TEXT_TEST(the_prompt_is_known_after_it_was_taken),
		TEXT_TEST(the_budget_itself_fits_and_one_more_does_not),
		TEXT_TEST(what_does_not_fit_is_spooled_whole),
		TEXT_TEST(head_and_tail_hold_what_they_say),
		TEXT_TEST(head_and_tail_are_shown_with_the_exact_count_between),
		TEXT_TEST(characters_are_counted_not_bytes),
		TEXT_TEST(a_character_cut_by_head_or_tail_is_not_shown_broken),
		TEXT_TEST(a_character_fed_in_pieces_is_one),
		TEXT_TEST(a_progress_bar_is_shown_as_a_person_saw_it),
		TEXT_TEST(an_output_that_collapses_discards_its_spool),
		TEXT_TEST(the_spools_limit_is_counted),
		TEXT_TEST(inserted_text_has_lines_of_its_own),
		TEXT_TEST(the_last_line_is_the_unfinished_one),
		TEXT_TEST(a_query_is_answered_once),
		TEXT_TEST(a_short_query_is_not_found_twice),
		TEXT_TEST(a_query_in_pieces_is_found),
		TEXT_TEST(a_query_behind_a_long_output_is_answered),
		TEXT_TEST(a_result_that_is_cut_lies_whole_in_the_spool),
		TEXT_TEST(a_result_that_is_shown_in_part_lies_whole_in_the_spool),
		TEXT_TEST(a_result_has_at_least_half_of_the_room),
		TEXT_TEST(what_fits_together_leaves_no_spool),
		TEXT_TEST(a_secret_is_neither_shown_nor_spooled),
		TEXT_TEST(a_full_screen_program_shows_its_screen_while_it_has_one),
		TEXT_TEST(a_full_screen_program_that_nobody_saw_is_noted),
		TEXT_TEST(the_last_screen_of_a_program_that_was_ended_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
