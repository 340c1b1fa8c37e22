/* SPDX-License-Identifier: MIT */
/* test_gitindex.c - indexes made by hand; those of git itself are in the corpus of fuzz_gitindex.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/gitindex.h"

static struct buf made = BUF_INIT(BUF_UNBOUNDED);

static void put_number(uint32_t value)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_put_char(&made, (char)(value >> shift & 0xff));
}

static void put_zeros(size_t count)
{
	while (count-- > 0)
		buf_put_char(&made, '\0');
}

static void begin(uint32_t version, uint32_t entries)
{
	buf_release(&made);
	buf_init(&made, BUF_UNBOUNDED);
	buf_puts(&made, "DIRC");
	put_number(version);
	put_number(entries);
}

static void put_entry(const char *path)
{
	size_t len = strlen(path);

	put_zeros(40 + GITINDEX_HASH_SHORT);
	buf_put_char(&made, '\0');
	buf_put_char(&made, (char)len);
	buf_puts(&made, path);
	put_zeros(8 - (40 + GITINDEX_HASH_SHORT + 2 + len) % 8);
}

/* An entry of version 4: `stripped` bytes less of the path before, and `rest`. */
static void put_compressed(char stripped, const char *rest, char len)
{
	put_zeros(40 + GITINDEX_HASH_SHORT);
	buf_put_char(&made, '\0');
	buf_put_char(&made, len);
	buf_put_char(&made, stripped);
	buf_puts(&made, rest);
	buf_put_char(&made, '\0');
}

static bool is_sound(void)
{
	put_zeros(GITINDEX_HASH_SHORT);
	return gitindex_is_sound(buf_str(&made), made.len, GITINDEX_HASH_SHORT);
}

static bool is_path_sound(const char *path)
{
	begin(2, 1);
	put_entry(path);
	return is_sound();
}

static void paths_of_the_work_tree_are_sound(void **state)
{
	(void)state;
	assert_true(is_path_sound("a"));
	assert_true(is_path_sound("a/.gitignore"));
	assert_true(is_path_sound("a/..b/c..."));
	begin(2, 0);
	assert_true(is_sound());
}

static void a_path_that_leads_elsewhere_is_not(void **state)
{
	(void)state;
	assert_false(is_path_sound("../x"));
	assert_false(is_path_sound("a/../../x"));
	assert_false(is_path_sound("/etc/x"));
	assert_false(is_path_sound("./a"));
	assert_false(is_path_sound("a//b"));
	assert_false(is_path_sound(".git/hooks/post-checkout"));
	assert_false(is_path_sound("a/.GIT/config"));
	assert_false(is_path_sound("GIT~1/config"));
	assert_true(is_path_sound("git~2"));
}

static void a_path_is_judged_as_its_parts_make_it(void **state)
{
	(void)state;
	begin(4, 2);
	put_compressed(0, "ab/x", 4);
	put_compressed(2, "c", 3);
	assert_true(is_sound());
	begin(4, 2);
	put_compressed(0, "a/.g", 4);
	put_compressed(0, "it/x", 8);
	assert_false(is_sound());
	begin(4, 1);
	put_compressed(1, "a", 1); /* there is no path before */
	assert_false(is_sound());
	begin(4, 2);
	put_compressed(0, "a/", 2);
	put_compressed(0, "/b", 4);
	assert_false(is_sound());
}

/* An entry of version 4 after a long path is short: without an end they would take long to read. */
static void a_path_that_no_file_has_is_not_sound(void **state)
{
	(void)state;
	for (size_t len = PATH_MAX; len <= PATH_MAX + 1; len++) {
		begin(2, 1);
		put_zeros(40 + GITINDEX_HASH_SHORT);
		buf_puts(&made, "\x0f\xff");
		for (size_t i = 0; i < len; i++)
			buf_put_char(&made, 'a');
		put_zeros(8 - (40 + GITINDEX_HASH_SHORT + 2 + len) % 8);
		assert_int_equal(is_sound(), len == PATH_MAX);
	}
}

static void what_is_cut_short_or_no_index_is_not_sound(void **state)
{
	(void)state;
	assert_true(is_path_sound("a"));
	for (size_t len = 0; len < made.len; len++)
		assert_false(gitindex_is_sound(buf_str(&made), len, GITINDEX_HASH_SHORT));
	begin(5, 0);
	assert_false(is_sound());
	begin(2, 2);
	put_entry("a");
	assert_false(is_sound());
}

static void a_split_index_has_entries_without_a_path(void **state)
{
	(void)state;
	begin(2, 1);
	put_entry("");
	buf_puts(&made, "link");
	put_number(GITINDEX_HASH_SHORT);
	buf_puts(&made, "abcdefghijklmnopqrst");
	assert_true(is_sound());
}

static void threads_begin_where_entries_do(void **state)
{
	(void)state;
	for (uint32_t offset = 12; offset <= 13; offset++) {
		begin(2, 1);
		put_entry("a");
		buf_puts(&made, "IEOT");
		put_number(12);
		put_number(1);
		put_number(offset);
		put_number(1);
		assert_int_equal(is_sound(), offset == 12);
	}
	begin(2, 0);
	buf_puts(&made, "IEOT");
	put_number(0); /* git takes 4 off */
	assert_false(is_sound());
	for (uint32_t more = 0; more <= 8; more += 8) {
		uint32_t end;

		begin(2, 1);
		put_entry("a");
		end = (uint32_t)made.len;
		buf_puts(&made, "EOIE");
		put_number(4 + GITINDEX_HASH_SHORT);
		put_number(end + more);
		put_zeros(GITINDEX_HASH_SHORT);
		assert_int_equal(is_sound(), more == 0);
	}
}

/* git looks for an end of the length that it has with SHA-1. */
static void threads_begin_with_long_hashes_at_such_an_end_too(void **state)
{
	(void)state;
	for (uint32_t more = 0; more <= 8; more += 8) {
		begin(2, 0);
		buf_puts(&made, "EOIE");
		put_number(4 + GITINDEX_HASH_SHORT);
		put_number(12 + more);
		put_zeros(GITINDEX_HASH_SHORT + GITINDEX_HASH_MAX);
		assert_int_equal(gitindex_is_sound(buf_str(&made), made.len, GITINDEX_HASH_MAX),
				 more == 0);
	}
}

#define SHORT "0123456789abcdef0123456789abcdef01234567"
#define LONG SHORT "0123456789abcdef01234567"

static bool are_conflicts_sound(const char *mark, const char *path)
{
	buf_release(&made);
	buf_init(&made, BUF_UNBOUNDED);
	buf_putf(&made, SHORT "\ta b/c%c%s\t%s%c", '\0', mark, path, '\0');
	return gitindex_are_conflicts_sound(buf_str(&made), made.len);
}

static void conflicts_lead_to_files_of_the_work_tree(void **state)
{
	static const char *const odd[] = { SHORT ".-1", SHORT ". 1",         SHORT ".", SHORT "1",
					   "",          SHORT ".4294967295", "1",       SHORT " " };

	(void)state;
	assert_true(gitindex_are_conflicts_sound("", 0));
	assert_true(are_conflicts_sound(SHORT, "a\tb"));
	assert_true(are_conflicts_sound(SHORT ".12", "a"));
	assert_true(are_conflicts_sound(LONG, ".gitignore"));
	assert_false(are_conflicts_sound(SHORT, ""));
	assert_false(are_conflicts_sound(SHORT, "/a"));
	assert_false(are_conflicts_sound(SHORT, "a/../../b"));
	assert_false(are_conflicts_sound(SHORT, ".git/config"));
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		assert_false(are_conflicts_sound(odd[i], "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_of_the_work_tree_are_sound),
		cmocka_unit_test(a_path_that_leads_elsewhere_is_not),
		cmocka_unit_test(a_path_is_judged_as_its_parts_make_it),
		cmocka_unit_test(a_path_that_no_file_has_is_not_sound),
		cmocka_unit_test(what_is_cut_short_or_no_index_is_not_sound),
		cmocka_unit_test(a_split_index_has_entries_without_a_path),
		cmocka_unit_test(threads_begin_where_entries_do),
		cmocka_unit_test(threads_begin_with_long_hashes_at_such_an_end_too),
		cmocka_unit_test(conflicts_lead_to_files_of_the_work_tree),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	buf_release(&made);
	return failed;
}
