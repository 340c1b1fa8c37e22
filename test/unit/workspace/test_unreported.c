/* SPDX-License-Identifier: MIT */
/* test_unreported.c - what inspections found and no answer has said. */
#include "fixture.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "workspace/home.h"
#include "workspace/unreported.h"

static const char *const paths[] = { "/srv/one", "/srv/two\nlines" };

static struct unreported *make(const struct fixture *f)
{
	struct unreported *unreported = unreported_new(f->home, "sales", paths, ARRAY_SIZE(paths));

	assert_non_null(unreported);
	return unreported;
}

static void assert_taken(const struct fixture *f, const char *text)
{
	cleanup_free char *told = unreported_take(f->home);

	if (text == NULL) {
		assert_null(told);
		return;
	}
	if (told == NULL || strstr(told, text) == NULL)
		fail_msg("no '%s' in '%s'", text, told == NULL ? "" : told);
}

static int folder(const struct fixture *f)
{
	return openat(home_fd(f->home), UNREPORTED_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void what_a_living_owner_holds_is_not_taken(void **state)
{
	struct unreported *unreported = make(*state);

	unreported_add(unreported, "one");
	assert_taken(*state, NULL);
	unreported_free(unreported);
	assert_taken(*state, "Of the session 'sales', which has ended: one\n"
			     "Of the session 'sales', which has ended: It ended before ptycell had "
			     "looked a last time through the shared folder '/srv/one', '/srv/two "
			     "lines'. ");
	assert_taken(*state, NULL);
}

static void nothing_is_left_of_what_was_looked_through_and_told(void **state)
{
	struct unreported *unreported = make(*state);
	cleanup_fd int fd = -1;

	assert_false(unreported_is_empty(unreported));
	unreported_complete(unreported);
	assert_true(unreported_is_empty(unreported));
	unreported_add(unreported, "one");
	assert_false(unreported_is_empty(unreported));
	unreported_clear(unreported);
	assert_true(unreported_is_empty(unreported));
	unreported_clear(unreported);
	unreported_free(unreported);
	unreported_free(NULL);
	assert_taken(*state, NULL);
	fd = folder(*state);
	assert_true(fd >= 0);
	assert_int_equal(unlinkat(home_fd(((struct fixture *)*state)->home), UNREPORTED_FOLDER,
				  AT_REMOVEDIR),
			 0);
	assert_taken(*state, NULL);
}

static void sentences_beyond_the_limit_are_counted(void **state)
{
	struct unreported *unreported = make(*state);
	cleanup_free char *told = NULL;

	unreported_complete(unreported);
	for (int i = 1; i <= UNREPORTED_TEXTS_MAX + 2; i++) {
		cleanup_free char *text = xasprintf("sentence %d.", i);

		unreported_add(unreported, text);
	}
	unreported_free(unreported);
	told = unreported_take(((struct fixture *)*state)->home);
	assert_non_null(told);
	assert_non_null(strstr(told, "sentence 32."));
	assert_null(strstr(told, "sentence 33."));
	assert_non_null(strstr(told, ": 2 more messages of this kind are left out."));
}

static void files_beyond_the_limit_wait_for_the_next_answer(void **state)
{
	const struct fixture *f = *state;

	for (int i = 0; i <= UNREPORTED_TAKEN_MAX; i++)
		unreported_free(make(f));
	assert_taken(f, "It ended before");
	assert_taken(f, "It ended before");
	assert_taken(f, NULL);
}

static void a_file_that_is_no_record_is_removed_without_a_word(void **state)
{
	const struct fixture *f = *state;
	struct unreported *unreported = make(f);
	cleanup_fd int fd = folder(f);
	const char *odd[] = { "look-aaaaaaaaaaaaaaaa", "look-bbbbbbbbbbbbbbbb",
			      "look-cccccccccccccccc" };

	unreported_complete(unreported);
	unreported_free(unreported);
	scratch_write(fd, odd[0], "{\"texts\":");
	scratch_write(fd, odd[1], "");
	scratch_write(fd, odd[2], "{\"texts\":[\"of whom\", 1, \"lost\"]}");
	scratch_write(fd, "other", "");
	assert_int_equal(mkfifoat(fd, "look-dddddddddddddddd", 0600), 0);
	assert_int_equal(symlinkat("other", fd, "look-eeeeeeeeeeeeeeee"), 0);
	assert_taken(f, "Of the session '', which has ended: of whom");
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		assert_false(scratch_exists(fd, odd[i]));
	assert_true(scratch_exists(fd, "other"));
	assert_taken(f, NULL);
}

static void a_folder_that_is_open_to_others_is_not_used(void **state)
{
	const struct fixture *f = *state;

	assert_int_equal(mkdirat(home_fd(f->home), UNREPORTED_FOLDER, 0700), 0);
	assert_int_equal(fchmodat(home_fd(f->home), UNREPORTED_FOLDER, 0777, 0), 0);
	assert_null(unreported_new(f->home, "sales", paths, 1));
	assert_taken(f, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(what_a_living_owner_holds_is_not_taken),
		FIXTURE_TEST(nothing_is_left_of_what_was_looked_through_and_told),
		FIXTURE_TEST(sentences_beyond_the_limit_are_counted),
		FIXTURE_TEST(files_beyond_the_limit_wait_for_the_next_answer),
		FIXTURE_TEST(a_file_that_is_no_record_is_removed_without_a_word),
		FIXTURE_TEST(a_folder_that_is_open_to_others_is_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
