/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "workspace/keeptree.h"

static int setup(void **state)
{
	*state = keeptree_new();
	return 0;
}

static int teardown(void **state)
{
	keeptree_free(*state);
	return 0;
}

static void assert_place(const struct place *place, const char *expected)
{
	cleanup_free char *path = keeptree_path(place);

	assert_string_equal(path, expected);
}

/* As a helper that found the name free. */
static void put(struct keeptree *tree, struct place *place)
{
	cleanup_free char *path = keeptree_path(place);

	keeptree_put(tree, place, path);
}

static void assert_move(struct keeptree *tree, const char *at, const char *to)
{
	struct keepmove *move;

	assert_false(list_empty(keeptree_moves(tree)));
	move = list_entry(keeptree_moves(tree)->next, struct keepmove, node);
	assert_string_equal(move->at, at);
	assert_string_equal(move->to, to);
	keeptree_moved(move, move->to);
}

static void results_are_called_what_they_are_and_others_lie_in_files(void **state)
{
	assert_place(keeptree_file(*state, "output/a"), "a");
	assert_place(keeptree_file(*state, "output/d/a"), "d/a");
	assert_place(keeptree_file(*state, "d/a"), "files/d/a");
	assert_place(keeptree_notebook(*state), "notebook.ipynb");
	assert_place(keeptree_report(*state), "report.html");
	assert_ptr_equal(keeptree_file(*state, "output/d/a"), keeptree_file(*state, "output/d/a"));
}

static void our_names_step_aside_whichever_came_first(void **state)
{
	struct place *notebook = keeptree_notebook(*state);
	struct place *report = keeptree_report(*state);
	struct place *beside = keeptree_file(*state, "x");

	put(*state, notebook);
	put(*state, report);
	put(*state, beside);
	assert_place(keeptree_file(*state, "output/notebook.ipynb"), "notebook.ipynb");
	assert_move(*state, "notebook.ipynb", "ptycell.ipynb");
	assert_place(keeptree_file(*state, "output/report.html"), "report.html");
	assert_move(*state, "report.html", "ptycell.html");
	assert_place(keeptree_file(*state, "output/files/x"), "files/x");
	assert_move(*state, "files", "files-2");
	assert_place(notebook, "ptycell.ipynb");
	assert_place(beside, "files-2/x");
	assert_place(keeptree_file(*state, "output/ptycell.ipynb"), "ptycell.ipynb");
	assert_move(*state, "ptycell.ipynb", "ptycell-2.ipynb");
	assert_true(list_empty(keeptree_moves(*state)));
}

static void what_was_not_put_yet_is_not_moved(void **state)
{
	struct place *head = keeptree_file(*state, "output/HEAD");

	assert_place(head, "_HEAD");
	assert_int_equal(keeptree_reason(head), KEEPNAME_RUNS);
	assert_place(keeptree_file(*state, "output/.ptycell"), "_.ptycell");
	assert_place(keeptree_file(*state, "output/.PTYCELL/x"), "_.PTYCELL/x");
	assert_place(keeptree_file(*state, "output/.ptycell-1"), ".ptycell-1");
	assert_int_equal(keeptree_reason(keeptree_file(*state, "output/.ptycell")), KEEPNAME_NOTED);
	assert_place(keeptree_file(*state, "output/_HEAD"), "_HEAD");
	assert_place(head, "_HEAD-2");
	assert_true(list_empty(keeptree_moves(*state)));
	/* What a copy under way found is then moved after it. */
	keeptree_put(*state, head, "_HEAD");
	assert_move(*state, "_HEAD", "_HEAD-2");
}

static void folders_whose_names_are_altered_alike_are_two(void **state)
{
	assert_place(keeptree_file(*state, "output/a\x01"
					   "b/x"),
		     "a_b/x");
	assert_place(keeptree_file(*state, "output/a\x02"
					   "b/x"),
		     "a_b-2/x");
	assert_place(keeptree_file(*state, "output/a_b/x"), "a_b/x");
	assert_place(keeptree_file(*state, "output/a\x01"
					   "b/y"),
		     "a_b-3/y");
	assert_place(keeptree_file(*state, "output/.VSCode/x"), "_.VSCode/x");
	assert_place(keeptree_file(*state, "output/HEAD/x"), "HEAD/x");
}

static void a_folder_and_a_file_of_one_name_are_two(void **state)
{
	assert_place(keeptree_file(*state, "output/a.d"), "a.d");
	assert_place(keeptree_file(*state, "output/a.d/x"), "a-2.d/x");
	/* Who truly has that name gets it. */
	assert_place(keeptree_file(*state, "output/a-2.d"), "a-2.d");
	assert_place(keeptree_file(*state, "output/a.d/x"), "a-3.d/x");
}

static void where_case_is_nothing_names_that_differ_in_it_are_two(void **state)
{
	struct place *lower = keeptree_file(*state, "output/a/x");
	struct place *upper = keeptree_file(*state, "output/A/x");
	struct place *composed = keeptree_file(*state, "output/\xc3\xbc");
	struct place *other = keeptree_file(*state, "output/u\xcc\x88");

	assert_place(upper, "A/x");
	keeptree_fold(*state);
	assert_place(lower, "a/x");
	assert_place(upper, "A-2/x");
	assert_place(composed, "\xc3\xbc");
	assert_place(other, "u\xcc\x88-2");
	assert_place(keeptree_file(*state, "output/NOTEBOOK.ipynb"), "NOTEBOOK.ipynb");
	assert_place(keeptree_notebook(*state), "ptycell.ipynb");
}

static void a_name_of_the_persons_is_told_by_who_found_it(void **state)
{
	struct place *one = keeptree_file(*state, "output/d/x");
	struct place *other = keeptree_file(*state, "output/d/y");

	keeptree_put(*state, one, "d-2/x");
	assert_place(other, "d-2/y");
	keeptree_put(*state, other, "d-2/y-2");
	assert_place(other, "d-2/y-2");
	assert_true(list_empty(keeptree_moves(*state)));
}

static void each_version_of_an_input_is_kept_beside_the_results(void **state)
{
	struct place *first = keeptree_input(*state, "a.csv");

	assert_place(first, "input/a.csv");
	put(*state, first);
	assert_place(keeptree_input(*state, "a.csv"), "input/a-2.csv");
	assert_place(keeptree_input(*state, ".envrc"), "input/_.envrc");
	/* A result has its true name. */
	assert_place(keeptree_file(*state, "output/input/a.csv"), "input/a.csv");
	assert_place(first, "input-2/a.csv");
	assert_move(*state, "input", "input-2");
}

static void whole_outputs_have_a_folder_that_gives_its_name_up(void **state)
{
	struct place *whole = keeptree_output(*state, "cell-3.txt");

	assert_place(whole, "outputs/cell-3.txt");
	put(*state, whole);
	assert_place(keeptree_file(*state, "output/outputs/cell-3.txt"), "outputs/cell-3.txt");
	assert_place(whole, "outputs-2/cell-3.txt");
	assert_move(*state, "outputs", "outputs-2");
}

static void a_result_is_not_put_into_the_folder_of_whole_outputs(void **state)
{
	assert_place(keeptree_file(*state, "output/outputs"), "outputs");
	assert_place(keeptree_output(*state, "cell-3.txt"), "outputs-2/cell-3.txt");
}

#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(results_are_called_what_they_are_and_others_lie_in_files),
		TREE_TEST(our_names_step_aside_whichever_came_first),
		TREE_TEST(what_was_not_put_yet_is_not_moved),
		TREE_TEST(folders_whose_names_are_altered_alike_are_two),
		TREE_TEST(a_folder_and_a_file_of_one_name_are_two),
		TREE_TEST(where_case_is_nothing_names_that_differ_in_it_are_two),
		TREE_TEST(a_name_of_the_persons_is_told_by_who_found_it),
		TREE_TEST(each_version_of_an_input_is_kept_beside_the_results),
		TREE_TEST(whole_outputs_have_a_folder_that_gives_its_name_up),
		TREE_TEST(a_result_is_not_put_into_the_folder_of_whole_outputs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
