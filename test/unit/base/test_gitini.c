/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/gitini.h"
#include "base/util.h"

static void add(void *data, const struct gitini_entry *entry)
{
	struct buf *entries = data;

	if (entry->odd != NULL)
		buf_putf(entries, "?%s|", entry->odd);
	else
		buf_putf(entries, "%s %s %s=%s|", entry->section, entry->subsection, entry->name,
			 entry->value);
}

static void assert_entries(const char *text, const char *expected)
{
	cleanup_buf struct buf entries = BUF_INIT(BUF_UNBOUNDED);

	gitini_each(text, strlen(text), add, &entries);
	assert_string_equal(buf_str(&entries), expected);
}

static void entries_have_section_subsection_name_and_value(void **state)
{
	(void)state;
	assert_entries("[Core]\n\tHooksPath = .githooks # x\r\n; y\n",
		       "core  hookspath=.githooks|");
	assert_entries("[includeIf \"gitdir:/a.b/\"]\npath=\"x \\\"y\"\n",
		       "includeif. gitdir:/a.b/ path=x \"y|");
	assert_entries("[a]\nb\nc =\n", "a  b=|a  c=|");
}

static void an_entry_in_the_line_of_its_section_is_read_and_odd(void **state)
{
	(void)state;
	assert_entries("[include] path = x\n[a] # b\n[c] d\n",
		       "include  path=x|?[include] path = x|c  d=|?[c] d|");
	assert_entries("[include] [core]\n", "?[include] [core]|");
}

static void the_last_line_needs_no_end(void **state)
{
	(void)state;
	assert_entries("[a]\nb = c", "a  b=c|");
	assert_entries("[a]\nb = c \\", "?b = c \\|");
}

static void a_path_from_home_is_one_below_a_folder_there(void **state)
{
	(void)state;
	assert_string_equal(gitini_below_home("~/work/p/a/b", "/home/u/work/p"), "a/b");
	assert_string_equal(gitini_below_home("~u/p/a", "/home/u/p"), "a");
	assert_null(gitini_below_home("~/p2/a", "/home/u/p"));
	assert_string_equal(gitini_below_home("~/p", "/home/u/p"), "");
	assert_null(gitini_below_home("~/other/a", "/home/u/p"));
	assert_null(gitini_below_home("p/a", "/home/u/p"));
	assert_null(gitini_below_home("~", "/home/u/p"));
}

static void assert_command(const char *section, const char *name, bool expected)
{
	const struct gitini_entry entry = {
		.section = section, .subsection = "x", .name = name, .value = "x"
	};

	assert_int_equal(gitini_is_command(&entry), expected);
}

static void commands_that_git_runs_by_itself_are_known(void **state)
{
	(void)state;
	assert_command("core", "fsmonitor", true);
	assert_command("core", "monitor", false);
	assert_command("core", "hookspath", false);
	assert_command("filter.", "clean", true);
	assert_command("filter", "clean", false);
	assert_command("diff.", "textconv", true);
	assert_command("pager", "log", true);
	assert_command("alias", "st", false);
	assert_command("branch.", "description", false);
}

static void add_word(void *data, const char *word)
{
	buf_putf(data, "%s|", word);
}

static void words_of_a_command_are_cut_as_a_shell_does_or_shorter(void **state)
{
	cleanup_buf struct buf words = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	gitini_each_word(" python3 'tools/a b'/c.py --f=\"x\" %f; !y$(z) ", add_word, &words);
	assert_string_equal(buf_str(&words), "python3|tools/a|b|/c.py|c.py|~/c.py|--f|x|%f|y|z|");
	gitini_each_word("", add_word, &words);
	gitini_each_word(" ;", add_word, &words);
	assert_string_equal(buf_str(&words), "python3|tools/a|b|/c.py|c.py|~/c.py|--f|x|%f|y|z|");
}

static void what_follows_an_expansion_is_a_word_below_the_folder_and_home(void **state)
{
	cleanup_buf struct buf words = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	gitini_each_word("sh $PWD/t/x", add_word, &words);
	assert_string_equal(buf_str(&words), "sh|PWD/t/x|t/x|~/t/x|");
	buf_clear(&words);
	gitini_each_word("\"${HOME}//x\"", add_word, &words);
	assert_string_equal(buf_str(&words), "HOME|//x|x|~/x|");
	buf_clear(&words);
	gitini_each_word("$(top)/x `top`/y \"$(top)\"/z", add_word, &words);
	assert_string_equal(buf_str(&words), "top|/x|x|~/x|top|/y|y|~/y|top|/z|z|~/z|");
	buf_clear(&words);
	gitini_each_word("/bin/x a/b --c=/d $(top)/ $x", add_word, &words);
	assert_string_equal(buf_str(&words), "/bin/x|a/b|--c|/d|top|/|x|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_have_section_subsection_name_and_value),
		cmocka_unit_test(an_entry_in_the_line_of_its_section_is_read_and_odd),
		cmocka_unit_test(the_last_line_needs_no_end),
		cmocka_unit_test(a_path_from_home_is_one_below_a_folder_there),
		cmocka_unit_test(commands_that_git_runs_by_itself_are_known),
		cmocka_unit_test(words_of_a_command_are_cut_as_a_shell_does_or_shorter),
		cmocka_unit_test(what_follows_an_expansion_is_a_word_below_the_folder_and_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
