/* SPDX-License-Identifier: MIT */
/* Which of a cell's files are kept, and what is told of the others. */
#include "fixture.h"

#include "base/buf.h"
#include "base/mem.h"
#include "workspace/beside.h"

enum { MANY = BESIDE_TREE_MAX + 1 };

static struct keeper *new_keeper(struct fixture *f)
{
	return keeper_new(&(struct keeper_spec){ .loop = f->loop,
						 .workspace = f->workspace,
						 .helper = TEST_BUILD "/ptycell-files",
						 .root = f->scratch.path,
						 .notebook = true,
						 .session_id = "s",
						 .data = f });
}

static struct change made(char *path)
{
	return (struct change){ .kind = CHANGE_NEW, .file = { .path = path } };
}

/* The paths that are kept, a blank behind each, and what is told of the others. */
static void expect(struct fixture *f, const struct change *changes, size_t count, const char *kept,
		   const char *told)
{
	struct keeper *keeper = new_keeper(f);
	cleanup_buf struct buf paths = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *left = NULL;
	bool *chosen = beside_choose(keeper, changes, count, &left);

	for (size_t i = 0; i < count; i++)
		if (chosen[i])
			buf_putf(&paths, "%s ", changes[i].file.path);
	assert_string_equal(buf_str(&paths), kept);
	if (told == NULL)
		assert_null(left);
	else
		assert_non_null(strstr(left != NULL ? left : "", told));
	free(chosen);
	keeper_free(keeper);
}

static void results_and_new_files_are_kept(void **state)
{
	char a[] = "a.csv";
	char input[] = "input/i";
	char output[] = "output/o";
	char link[] = "z";
	struct change changes[] = { made(a), made(input), made(output), made(link) };

	changes[3].file.is_link = true;
	expect(*state, changes, 4, "a.csv output/o ", NULL);
	changes[0].kind = CHANGE_DELETED;
	changes[2].kind = CHANGE_CHANGED;
	expect(*state, changes, 4, "output/o ", NULL);
}

static void what_programs_write_for_themselves_is_left_out_in_silence(void **state)
{
	char hidden[] = ".npm/log";
	char deep[] = "a/.x/b";
	char cache[] = "a/__pycache__/m.pyc";
	char modules[] = "node_modules/p/i.js";
	const struct change changes[] = { made(hidden), made(deep), made(cache), made(modules) };

	expect(*state, changes, 4, "", NULL);
}

static void a_hidden_file_is_left_out_and_told(void **state)
{
	char top[] = ".gitignore";
	char deep[] = "a/.env";
	char seen[] = "a/b";
	const struct change changes[] = { made(top), made(deep), made(seen) };

	expect(*state, changes, 3, "a/b ", "'.gitignore' (hidden) and 1 more.");
	expect(*state, changes + 1, 2, "a/b ", "'a/.env' (hidden).");
}

static void what_lies_in_a_marked_folder_is_left_out_and_told(void **state)
{
	static const struct {
		const char *mark;
		const char *why;
	} cases[] = {
		{ ".git", "in a repository" },
		{ "pyvenv.cfg", "in a virtual environment" },
		{ "CACHEDIR.TAG", "in a cache" },
	};
	struct fixture *f = *state;
	char top[] = "top";
	char one[] = "tree/sub/a";
	char two[] = "tree/sub/b";
	const struct change changes[] = { made(top), made(one), made(two) };

	assert_int_equal(mkdirat(f->data, "tree", 0700), 0);
	assert_int_equal(mkdirat(f->data, "tree/sub", 0700), 0);
	expect(f, changes, 3, "top tree/sub/a tree/sub/b ", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *mark = xasprintf("tree/%s", cases[i].mark);
		cleanup_free char *told = xasprintf("'tree/sub/a' (%s) and 1 more.", cases[i].why);

		scratch_write(f->data, mark, "");
		expect(f, changes, 3, "top ", told);
		assert_int_equal(unlinkat(f->data, mark, 0), 0);
	}
	scratch_write(f->data, "tree/HEAD", "");
	expect(f, changes, 3, "top tree/sub/a tree/sub/b ", NULL);
	assert_int_equal(mkdirat(f->data, "tree/objects", 0700), 0);
	expect(f, changes, 3, "top ", "(in a repository) and 1 more.");
}

/* One more than the maximum; with one fewer all are kept. */
static void trees_that_are_too_large_are_left_out_and_told(void **state)
{
	struct change changes[MANY + 1];
	cleanup_buf struct buf all = BUF_INIT(BUF_UNBOUNDED);
	char last[] = "z";

	for (size_t i = 0; i < MANY; i++) {
		changes[i] = made(xasprintf("t/%03zu", i));
		if (i + 1 < MANY)
			buf_putf(&all, "%s ", changes[i].file.path);
	}
	changes[MANY] = made(last);
	expect(*state, changes, MANY + 1, "z ",
	       "'t/000' (too many new files in one cell) and 200 more.");
	expect(*state, changes, MANY - 1, buf_str(&all), NULL);
	for (size_t i = 0; i < MANY; i++)
		free(changes[i].file.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(results_and_new_files_are_kept),
		FIXTURE_TEST(what_programs_write_for_themselves_is_left_out_in_silence),
		FIXTURE_TEST(a_hidden_file_is_left_out_and_told),
		FIXTURE_TEST(what_lies_in_a_marked_folder_is_left_out_and_told),
		FIXTURE_TEST(trees_that_are_too_large_are_left_out_and_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
