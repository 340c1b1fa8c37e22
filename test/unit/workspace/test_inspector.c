/* SPDX-License-Identifier: MIT */
/* Inspections of shared folders, by the helper itself or by a script that answers in its place. */
#include "inspector_fixture.h"

#include <arpa/inet.h>
#include <time.h>

#include "base/fd.h"
#include "base/gitindex.h"
#include "sandbox/rootfs/protect_config.h"
#include "workspace/home.h"

enum {
	INDEX_MAX = 128 << 20, /* FILE_MAX of cmd/files/indexfile.c */
	INDEX_HEAD = 20,
	INDEX_SUM = GITINDEX_HASH_SHORT,
};

static uint64_t later_ms;

static uint64_t shifted_ms(void)
{
	return clock_ms() + later_ms;
}

static void an_empty_share_has_nothing_to_report(void **state)
{
	struct watch w;
	uint64_t number;

	make_shares(&w, *state, 1);
	start(&w, HELPER);
	assert_false(inspector_has_ended(w.inspector, 1));
	wait_for(&w, 1);
	assert_int_equal(w.ended, 1);
	number = inspector_request(w.inspector);
	assert_int_equal(number, 2);
	assert_false(inspector_has_ended(w.inspector, number));
	wait_for(&w, number);
	assert_int_equal(w.ended, 2);
	assert_int_equal(w.notice_count, 0);
	release(&w);
}

static void a_hook_and_a_config_that_code_wrote_are_renamed_and_reported(void **state)
{
	struct watch w;

	make_shares(&w, *state, 1);
	start_and_learn(&w, HELPER);
	make_repository(w.fds[0]);
	make_hook(w.fds[0], "post-commit");
	scratch_write(w.fds[0], "repo/.git/config", "[core]\n\tfsmonitor = ./evil\n");
	look(&w);
	assert_held(w.fds[0]);
	assert_false(scratch_exists(w.fds[0], "repo/.git/config"));
	assert_true(scratch_exists(w.fds[0], "repo/.git/config" HELD));
	assert_int_equal(w.notice_count, 1);
	assert_noticed(&w, "Renamed in the shared folder: ");
	assert_noticed(&w, "/share-0/repo/.git/hooks/post-commit' to 'post-commit" HELD "'");
	assert_noticed(&w, "/share-0/repo/.git/config' to 'config" HELD "'");
	/* It is reported once. */
	look(&w);
	assert_int_equal(w.notice_count, 1);
	release(&w);
}

static void a_request_during_an_inspection_starts_another_one(void **state)
{
	struct watch w;
	uint64_t number;

	make_shares(&w, *state, 1);
	start(&w, HELPER);
	number = inspector_request(w.inspector);
	assert_int_equal(number, 2);
	assert_int_equal(inspector_request(w.inspector), number);
	wait_for(&w, 1);
	assert_false(inspector_has_ended(w.inspector, number));
	make_repository(w.fds[0]);
	make_hook(w.fds[0], "post-commit");
	assert_int_equal(inspector_request(w.inspector), 3);
	wait_for(&w, 3);
	assert_int_equal(w.ended, 3);
	assert_held(w.fds[0]);
	assert_int_equal(w.notice_count, 1);
	release(&w);
}

static int64_t in_ns(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* What has been made is old from then on, also where times are in steps of 10 ms. */
static void pass_the_time_of(int share, const char *path)
{
	struct timespec now = { 0 };
	struct stat st;

	assert_int_equal(fstatat(share, path, &st, 0), 0);
	while (in_ns(now) <= in_ns(st.st_ctim) + 10000000)
		assert_int_equal(clock_gettime(CLOCK_REALTIME_COARSE, &now), 0);
}

static void what_a_config_contained_before_may_be_written_again(void **state)
{
	const char *own = "[core]\n\tfsmonitor = ./own\n";
	struct watch w;

	make_shares(&w, *state, 1);
	make_repository(w.fds[0]);
	scratch_write(w.fds[0], "repo/.git/config", own);
	pass_the_time_of(w.fds[0], "repo/.git/config");
	start_and_learn(&w, HELPER);
	scratch_write(w.fds[0], "repo/.git/config", own);
	look(&w);
	assert_true(scratch_exists(w.fds[0], "repo/.git/config"));
	assert_int_equal(w.notice_count, 0);
	scratch_write(w.fds[0], "repo/.git/config", "[core]\n\tfsmonitor = ./evil\n");
	look(&w);
	assert_false(scratch_exists(w.fds[0], "repo/.git/config"));
	assert_int_equal(w.notice_count, 1);
	release(&w);
}

static void replace_hook(int share)
{
	make_hook(share, "new");
	assert_int_equal(
		renameat(share, "repo/.git/hooks/new", share, "repo/.git/hooks/post-commit"), 0);
}

/* As installers of hooks do at every "npm install": husky's writes it, lefthook's replaces it. */
static void a_hook_that_is_written_again_and_is_the_same_stays(void **state)
{
	struct watch w;

	make_shares(&w, *state, 1);
	make_repository(w.fds[0]);
	make_hook(w.fds[0], "post-commit");
	pass_the_time_of(w.fds[0], "repo/.git/hooks/post-commit");
	start_and_learn(&w, HELPER);
	make_hook(w.fds[0], "post-commit");
	look(&w);
	assert_true(has_hook(w.fds[0], "post-commit"));
	replace_hook(w.fds[0]);
	look(&w);
	assert_true(has_hook(w.fds[0], "post-commit"));
	assert_int_equal(w.notice_count, 0);
	scratch_write(w.fds[0], "repo/.git/hooks/post-commit", "#!/bin/sh\nid\n");
	look(&w);
	assert_held(w.fds[0]);
	assert_int_equal(w.notice_count, 1);
	release(&w);
}

/* Writes a config of this length, which has nothing else to object to. */
static void write_long(int share, off_t size)
{
	cleanup_free char *text = xcalloc(1, (size_t)size + 1);

	(void)memset(text, '#', (size_t)size);
	scratch_write(share, "repo/.git/config", text);
}

/* Checks that a file of `max` bytes stays, and that one with a byte more is renamed. */
static void check_largest(void **state, const char *name, void (*make)(int share, off_t size),
			  off_t max)
{
	cleanup_free char *path = xasprintf("repo/.git/%s", name);
	cleanup_free char *notice = xasprintf("/share-0/%s' to '%s" HELD "'", path, name);
	struct watch w;

	make_shares(&w, *state, 1);
	start_and_learn(&w, HELPER);
	make_repository(w.fds[0]);
	make(w.fds[0], max);
	look(&w);
	assert_true(scratch_exists(w.fds[0], path));
	assert_int_equal(w.notice_count, 0);
	make(w.fds[0], max + 1);
	look(&w);
	assert_false(scratch_exists(w.fds[0], path));
	assert_noticed(&w, notice);
	release(&w);
}

static void a_config_that_is_too_long_is_renamed(void **state)
{
	check_largest(state, "config", write_long, PROTECT_CONFIG_MAX);
}

/* Starts an inspector of another session over the same shares, which learns from the first one. */
static void start_another(const struct watch *w, struct watch *other)
{
	*other = *w;
	other->inspector = NULL;
	other->notice_count = 0;
	buf_init(&other->notices, BUF_UNBOUNDED);
	start(other, HELPER);
}

static void end_another(struct watch *other)
{
	inspector_free(other->inspector);
	buf_release(&other->notices);
}

/* Makes an index without entries. It has an extension of zeros, and a sum that the inspection does
 * not check. */
static void make_index(int share, off_t size)
{
	uint32_t len = htonl((uint32_t)(size - INDEX_HEAD - INDEX_SUM));
	cleanup_fd int fd =
		openat(share, "repo/.git/index", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, "DIRC\0\0\0\2\0\0\0\0TREE", INDEX_HEAD - 4), INDEX_HEAD - 4);
	assert_int_equal(write(fd, &len, sizeof(len)), sizeof(len));
	assert_int_equal(ftruncate(fd, size), 0);
}

static void an_index_that_is_too_large_is_renamed(void **state)
{
	check_largest(state, "index", make_index, INDEX_MAX);
}

static void what_code_of_another_session_made_is_not_learned(void **state)
{
	const char *evil = "[core]\n\tfsmonitor = ./evil\n";
	struct watch w;
	struct watch other;

	make_shares(&w, *state, 1);
	start_and_learn(&w, HELPER);
	inspector_note_run(w.inspector);
	make_repository(w.fds[0]);
	scratch_write(w.fds[0], "repo/.git/config", evil);
	pass_the_time_of(w.fds[0], "repo/.git/config");
	start_another(&w, &other);
	look(&w);
	assert_int_equal(w.notice_count, 1);
	scratch_write(w.fds[0], "repo/.git/config", evil);
	look(&other);
	assert_int_equal(other.notice_count, 1);
	assert_true(scratch_exists(w.fds[0], "repo/.git/config" HELD "-2"));
	end_another(&other);
	/* What an inspection left has been inspected. */
	scratch_write(w.fds[0], "repo/.git/config", "[core]\n");
	pass_the_time_of(w.fds[0], "repo/.git/config");
	look(&w);
	start_another(&w, &other);
	make_hook(w.fds[0], "post-commit");
	look(&other);
	assert_int_equal(other.notice_count, 1);
	end_another(&other);
	release(&w);
}

static void what_another_session_makes_a_repository_of_is_not_learned(void **state)
{
	const char *evil = "[core]\n\tfsmonitor = ./evil\n";
	struct watch w;
	struct watch other;

	make_shares(&w, *state, 1);
	make_repository(w.fds[0]);
	scratch_write(w.fds[0], "repo/.git/config", evil);
	assert_int_equal(unlinkat(w.fds[0], "repo/.git/refs", AT_REMOVEDIR), 0);
	pass_the_time_of(w.fds[0], "repo/.git/config");
	start_and_learn(&w, HELPER);
	inspector_note_run(w.inspector);
	assert_int_equal(mkdirat(w.fds[0], "repo/.git/refs", 0700), 0);
	start_another(&w, &other);
	look(&w);
	assert_int_equal(w.notice_count, 1);
	scratch_write(w.fds[0], "repo/.git/config", evil);
	look(&other);
	assert_int_equal(other.notice_count, 1);
	assert_true(scratch_exists(w.fds[0], "repo/.git/config" HELD "-2"));
	end_another(&other);
	release(&w);
}

static void what_another_session_learned_is_the_user_s(void **state)
{
	const char *own = "[core]\n\tfsmonitor = ./own\n";
	struct watch w;
	struct watch other;

	make_shares(&w, *state, 1);
	make_repository(w.fds[0]);
	make_hook(w.fds[0], "post-commit");
	scratch_write(w.fds[0], "repo/.git/config", own);
	pass_the_time_of(w.fds[0], "repo/.git/config");
	start_and_learn(&w, HELPER);
	inspector_note_run(w.inspector);
	/* As `git switch` does. */
	scratch_write(w.fds[0], "repo/.git/HEAD", "ref: refs/heads/other\n");
	pass_the_time_of(w.fds[0], "repo/.git/HEAD");
	start_another(&w, &other);
	scratch_write(w.fds[0], "repo/.git/config", own);
	look(&other);
	assert_int_equal(other.notice_count, 0);
	assert_true(has_hook(w.fds[0], "post-commit"));
	end_another(&other);
	release(&w);
}

static void what_cannot_be_renamed_is_reported_until_the_list_is_the_same(void **state)
{
	char name[LONG_NAME + 1];
	struct watch w;

	(void)memset(name, 'x', LONG_NAME);
	name[LONG_NAME] = '\0';
	make_shares(&w, *state, 1);
	start_and_learn(&w, HELPER);
	make_repository(w.fds[0]);
	make_hook(w.fds[0], name);
	look(&w);
	assert_true(has_hook(w.fds[0], name));
	assert_int_equal(w.notice_count, 1);
	assert_noticed(&w, "could not be renamed; tell the user to remove it");
	look(&w);
	assert_int_equal(w.notice_count, 1);
	name[0] = 'y';
	make_hook(w.fds[0], name);
	look(&w);
	assert_int_equal(w.notice_count, 2);
	assert_noticed(&w, "/hooks/yxxx");
	release(&w);
}

static void of_many_names_some_are_reported_and_the_others_counted(void **state)
{
	struct watch w;

	make_shares(&w, *state, 1);
	start_and_learn(&w, HELPER);
	make_repository(w.fds[0]);
	for (int i = 0; i < 25; i++) {
		cleanup_free char *name = xasprintf("hook-%d", i);

		make_hook(w.fds[0], name);
	}
	look(&w);
	assert_int_equal(w.notice_count, 1);
	assert_noticed(&w, HELD "' and 20 more. ");
	release(&w);
}

static void a_link_into_the_home_is_removed(void **state)
{
	struct watch w;

	make_shares(&w, *state, 1);
	start_and_learn(&w, HELPER);
	assert_int_equal(symlinkat(home_path(w.f->home), w.fds[0], "way"), 0);
	look(&w);
	assert_false(scratch_exists(w.fds[0], "way"));
	assert_noticed(&w, "/share-0/way' (removed). ");
	release(&w);
}

static void more_folders_than_a_helper_takes_are_all_inspected(void **state)
{
	struct watch w;

	make_shares(&w, *state, SHARES_MAX);
	start_and_learn(&w, HELPER);
	assert_int_equal(w.ended, 1);
	make_repository(w.fds[1]);
	make_hook(w.fds[1], "post-commit");
	make_repository(w.fds[SHARES_MAX - 1]);
	make_hook(w.fds[SHARES_MAX - 1], "post-commit");
	look(&w);
	assert_int_equal(w.ended, 2);
	assert_held(w.fds[1]);
	assert_held(w.fds[SHARES_MAX - 1]);
	assert_int_equal(w.notice_count, 2);
	assert_noticed(&w, "/share-1/repo/");
	assert_noticed(&w, "/share-9/repo/");
	release(&w);
}

static void a_limit_is_reported_once_and_a_whole_inspection_follows(void **state)
{
	cleanup_free char *helper = NULL;
	struct watch w;

	make_shares(&w, *state, 1);
	helper = write_limited(&w, "\"entries\":50000,", "entries");
	start_and_learn(&w, helper);
	assert_int_equal(w.notice_count, 1);
	assert_noticed(&w, "has more than 50000 entries");
	make_repository(w.fds[0]);
	make_hook(w.fds[0], "post-commit");
	look(&w);
	/* No answer waits for the whole one. */
	assert_true(w.hook_at_end);
	assert_int_equal(w.notices_at_end, 1);
	while (w.notice_count < 2)
		loop_turn(w.loop, -1);
	assert_held(w.fds[0]);
	assert_noticed(&w, "/share-0/repo/.git/hooks/post-commit' to ");
	/* The next one is planned, and freed with the inspector. */
	look(&w);
	assert_int_equal(w.notice_count, 2);
	release(&w);
}

static void a_limit_of_time_is_reported_as_one(void **state)
{
	cleanup_free char *helper = NULL;
	struct watch w;

	make_shares(&w, *state, 1);
	helper = write_limited(&w, "\"entries\":50000,", "time");
	start_and_learn(&w, helper);
	look(&w);
	assert_int_equal(w.notice_count, 1);
	assert_noticed(&w, "takes long to look through");
	release(&w);
}

static void a_whole_inspection_with_a_limit_is_reported_and_not_repeated(void **state)
{
	cleanup_free char *helper = NULL;
	struct watch w;

	make_shares(&w, *state, 1);
	helper = write_limited(&w, "", "entries");
	start_and_learn(&w, helper);
	look(&w);
	while (w.notice_count < 2)
		loop_turn(w.loop, -1);
	assert_noticed(&w, "too many entries to look at all of them");
	look_for_the_last_time(&w);
	assert_int_equal(w.notice_count, 2);
	release(&w);
}

static void a_folder_that_could_not_be_read_is_looked_at_again(void **state)
{
	cleanup_free char *helper = NULL;
	struct watch w;

	make_shares(&w, *state, 1);
	helper = write_limited(&w, "\"entries\":50000,", "unread");
	start_and_learn(&w, helper);
	assert_int_equal(w.notice_count, 1); /* what was there is not known */
	assert_noticed(&w, "could not be read to its end");
	make_repository(w.fds[0]);
	make_hook(w.fds[0], "post-commit");
	look(&w);
	while (w.notice_count < 2)
		loop_turn(w.loop, -1);
	assert_held(w.fds[0]);
	release(&w);
}

static void nothing_waits_for_a_helper_that_is_missing(void **state)
{
	struct watch w;

	make_shares(&w, *state, 1);
	start(&w, "/nonexistent/ptycell-files");
	assert_true(inspector_has_ended(w.inspector, 1));
	assert_true(inspector_has_ended(w.inspector, inspector_request(w.inspector)));
	assert_int_equal(w.notice_count, 0);
	look_for_the_last_time(&w);
	release(&w);
}

static void a_helper_that_fails_ends_the_inspection(void **state)
{
	cleanup_free char *helper = NULL;
	struct watch w;

	make_shares(&w, *state, 1);
	helper = write_script(&w, SCRIPT "exit 1\n");
	start_and_learn(&w, helper);
	look(&w);
	assert_int_equal(w.ended, 2);
	assert_int_equal(w.notice_count, 0);
	release(&w);
}

/* Begins an inspection and lets the clock run on, without waiting, for so long. */
static bool ends_after(struct watch *w, uint64_t ms)
{
	uint64_t number = inspector_request(w->inspector);

	later_ms += ms;
	loop_turn(w->loop, 0);
	return inspector_has_ended(w->inspector, number);
}

/* While there is a file "hangs", the script does. */
static char *write_hanging(struct watch *w)
{
	const char *folder = w->f->scratch.path;
	cleanup_free char *text = xasprintf(SCRIPT "[ -e '%s/hangs' ] && exec sleep 1000\n"
						   "echo '{\"result\":{}}'\n",
					    folder);

	scratch_write(w->f->scratch.fd, "hangs", "");
	return write_script(w, text);
}

static void a_helper_that_hangs_is_given_up_and_the_next_one_sooner(void **state)
{
	cleanup_free char *helper = NULL;
	struct err err;
	struct watch w;

	make_shares(&w, *state, 1);
	w.loop = loop_new(shifted_ms, &err);
	assert_non_null(w.loop);
	helper = write_hanging(&w);
	start(&w, helper);
	later_ms += 5001;
	wait_for(&w, 1);
	assert_true(ends_after(&w, 501));
	/* One that answers gets its time again. */
	assert_int_equal(unlinkat(w.f->scratch.fd, "hangs", 0), 0);
	look(&w);
	scratch_write(w.f->scratch.fd, "hangs", "");
	assert_false(ends_after(&w, 501));
	assert_int_equal(w.ended, 3);
	assert_int_equal(w.notice_count, 0);
	release(&w);
	loop_free(w.loop);
}

static void a_inspector_that_is_missing_can_be_silenced_and_freed(void **state)
{
	struct watch w;

	inspector_quiet(NULL);
	inspector_free(NULL);
	/* One that is under way as well. */
	make_shares(&w, *state, 1);
	start(&w, HELPER);
	inspector_quiet(w.inspector);
	assert_int_equal(w.ended, 0);
	release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(an_empty_share_has_nothing_to_report),
		FIXTURE_TEST(a_hook_and_a_config_that_code_wrote_are_renamed_and_reported),
		FIXTURE_TEST(a_request_during_an_inspection_starts_another_one),
		FIXTURE_TEST(what_a_config_contained_before_may_be_written_again),
		FIXTURE_TEST(a_hook_that_is_written_again_and_is_the_same_stays),
		FIXTURE_TEST(a_config_that_is_too_long_is_renamed),
		FIXTURE_TEST(an_index_that_is_too_large_is_renamed),
		FIXTURE_TEST(what_code_of_another_session_made_is_not_learned),
		FIXTURE_TEST(what_another_session_makes_a_repository_of_is_not_learned),
		FIXTURE_TEST(what_another_session_learned_is_the_user_s),
		FIXTURE_TEST(what_cannot_be_renamed_is_reported_until_the_list_is_the_same),
		FIXTURE_TEST(of_many_names_some_are_reported_and_the_others_counted),
		FIXTURE_TEST(a_link_into_the_home_is_removed),
		FIXTURE_TEST(more_folders_than_a_helper_takes_are_all_inspected),
		FIXTURE_TEST(a_limit_is_reported_once_and_a_whole_inspection_follows),
		FIXTURE_TEST(a_limit_of_time_is_reported_as_one),
		FIXTURE_TEST(a_folder_that_could_not_be_read_is_looked_at_again),
		FIXTURE_TEST(a_whole_inspection_with_a_limit_is_reported_and_not_repeated),
		FIXTURE_TEST(nothing_waits_for_a_helper_that_is_missing),
		FIXTURE_TEST(a_helper_that_fails_ends_the_inspection),
		FIXTURE_TEST(a_helper_that_hangs_is_given_up_and_the_next_one_sooner),
		FIXTURE_TEST(a_inspector_that_is_missing_can_be_silenced_and_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
