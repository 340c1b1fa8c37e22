/* SPDX-License-Identifier: MIT */
/* Inspections of shared folders, by the helper itself or by a script that answers in its place. */
#include "fixture.h"

#include <sched.h>
#include <time.h>

#include "base/buf.h"
#include "base/mem.h"
#include "workspace/home.h"
#include "workspace/lookout.h"

#define HELPER TEST_BUILD "/ptycell-files"
#define HELD ".held-by-ptycell"
#define SCRIPT "#!/bin/sh\nread -r order\n"

enum { SHARES_MAX = 10, LONG_NAME = 250 /* too long for a new name */ };

/* Some shares and what a lookout said of them. */
struct watch {
	struct fixture *f;
	struct loop *loop;
	struct lookout *lookout;
	char *paths[SHARES_MAX];
	int fds[SHARES_MAX];
	size_t count;
	struct buf notices;
	size_t notice_count;
	size_t ended;
	bool hook_at_end; /* what there was when an inspection ended */
	size_t notices_at_end;
	bool last_is_done;
};

static uint64_t later_ms;

static uint64_t shifted_ms(void)
{
	return clock_ms() + later_ms;
}

static void on_notice(void *data, const char *text)
{
	struct watch *w = data;

	w->notice_count++;
	buf_putf(&w->notices, "%s\n", text);
}

static void on_last_done(void *data)
{
	struct watch *w = data;

	w->last_is_done = true;
}

/* ---- the shares ---- */

static void make_shares(struct watch *w, struct fixture *f, size_t count)
{
	*w = (struct watch){ .f = f, .loop = f->loop, .count = count };
	buf_init(&w->notices, BUF_UNBOUNDED);
	for (size_t i = 0; i < count; i++) {
		w->paths[i] = xasprintf("%s/share-%zu", f->scratch.path, i);
		assert_int_equal(mkdir(w->paths[i], 0700), 0);
		w->fds[i] = open(w->paths[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(w->fds[i] >= 0);
	}
}

static void release(struct watch *w)
{
	lookout_free(w->lookout);
	buf_release(&w->notices);
	for (size_t i = 0; i < w->count; i++) {
		(void)close(w->fds[i]);
		free(w->paths[i]);
	}
}

static void wait_for(struct watch *w, uint64_t number)
{
	while (!lookout_has_ended(w->lookout, number))
		loop_turn(w->loop, -1);
}

static void look(struct watch *w)
{
	wait_for(w, lookout_ask(w->lookout));
}

static void look_for_the_last_time(struct watch *w)
{
	struct lookout *lookout = w->lookout;

	w->lookout = NULL;
	lookout_quiet(lookout);
	lookout_last(lookout, on_last_done, w);
	assert_false(w->last_is_done);
	while (!w->last_is_done)
		loop_turn(w->loop, -1);
}

static void make_repository(int share)
{
	assert_int_equal(mkdirat(share, "repo", 0700), 0);
	assert_int_equal(mkdirat(share, "repo/.git", 0700), 0);
	assert_int_equal(mkdirat(share, "repo/.git/refs", 0700), 0);
	assert_int_equal(mkdirat(share, "repo/.git/hooks", 0700), 0);
	scratch_write(share, "repo/.git/HEAD", "ref: refs/heads/main\n");
}

static void make_hook(int share, const char *name)
{
	cleanup_free char *path = xasprintf("repo/.git/hooks/%s", name);

	scratch_write(share, path, "#!/bin/sh\n");
	assert_int_equal(fchmodat(share, path, 0700, 0), 0);
}

static bool has_hook(int share, const char *name)
{
	cleanup_free char *path = xasprintf("repo/.git/hooks/%s", name);

	return scratch_exists(share, path);
}

/* A whole inspection that follows begins later, from the loop. */
static void on_inspected(void *data)
{
	struct watch *w = data;

	w->ended++;
	w->hook_at_end = has_hook(w->fds[0], "post-commit");
	w->notices_at_end = w->notice_count;
}

static void start(struct watch *w, const char *helper)
{
	w->lookout = lookout_new(&(struct lookout_spec){ .loop = w->loop,
							 .home = w->f->home,
							 .helper = helper,
							 .paths = (const char *const *)w->paths,
							 .fds = w->fds,
							 .count = w->count,
							 .who = "sales",
							 .notice = on_notice,
							 .inspected = on_inspected,
							 .data = w });
}

static void start_and_learn(struct watch *w, const char *helper)
{
	start(w, helper);
	wait_for(w, 1);
}

static void assert_held(int share)
{
	assert_false(has_hook(share, "post-commit"));
	assert_true(has_hook(share, "post-commit" HELD));
}

static void assert_noticed(struct watch *w, const char *text)
{
	if (strstr(buf_str(&w->notices), text) == NULL)
		fail_msg("no '%s' in '%s'", text, buf_str(&w->notices));
}

/* ---- a script in place of the helper ---- */

static char *write_script(struct watch *w, const char *text)
{
	char *path = xasprintf("%s/helper", w->f->scratch.path);

	scratch_write(AT_FDCWD, path, text);
	assert_int_equal(chmod(path, 0700), 0);
	return path;
}

/* Where `pattern` is in the request, the script answers with the limit, else the helper answers. */
static char *write_limited(struct watch *w, const char *pattern, const char *limit)
{
	cleanup_free char *text = xasprintf(
		SCRIPT "case \"$order\" in\n"
		       "*'%s'*) echo '{\"result\":{\"held\":[],\"count\":0,\"more\":\"%s\"}}';;\n"
		       "*) printf '%%s\\n' \"$order\" | " HELPER " \"$@\";;\n"
		       "esac\n",
		pattern, limit);

	return write_script(w, text);
}

/* ---- the tests ---- */

static void an_empty_share_has_nothing_to_report(void **state)
{
	struct watch w;
	uint64_t number;

	make_shares(&w, *state, 1);
	start(&w, HELPER);
	assert_false(lookout_has_ended(w.lookout, 1));
	wait_for(&w, 1);
	assert_int_equal(w.ended, 1);
	number = lookout_ask(w.lookout);
	assert_int_equal(number, 2);
	assert_false(lookout_has_ended(w.lookout, number));
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
	number = lookout_ask(w.lookout);
	assert_int_equal(number, 2);
	assert_int_equal(lookout_ask(w.lookout), number);
	wait_for(&w, 1);
	assert_false(lookout_has_ended(w.lookout, number));
	make_repository(w.fds[0]);
	make_hook(w.fds[0], "post-commit");
	assert_int_equal(lookout_ask(w.lookout), 3);
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
	/* The next one is planned, and freed with the lookout. */
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

static void the_last_inspection_holds_names_and_reports_nothing(void **state)
{
	struct watch w;

	make_shares(&w, *state, SHARES_MAX);
	start_and_learn(&w, HELPER);
	make_repository(w.fds[SHARES_MAX - 1]);
	make_hook(w.fds[SHARES_MAX - 1], "post-commit");
	(void)lookout_ask(w.lookout);
	look_for_the_last_time(&w);
	assert_held(w.fds[SHARES_MAX - 1]);
	assert_int_equal(w.ended, 1);
	assert_int_equal(w.notice_count, 0);
	release(&w);
}

/* The end of the server waits for it, and lets a slow one run on. */
static void the_last_inspection_outlives_the_home(void **state)
{
	struct fixture *f = *state;
	struct watch w;
	struct lookout *lookout;

	make_shares(&w, f, 1);
	start_and_learn(&w, HELPER);
	make_repository(w.fds[0]);
	make_hook(w.fds[0], "post-commit");
	lookout = w.lookout;
	w.lookout = NULL;
	lookout_quiet(lookout);
	lookout_last(lookout, on_last_done, &w);
	workspace_free(f->workspace);
	f->workspace = NULL;
	home_close(f->home);
	f->home = NULL;
	assert_false(w.last_is_done);
	while (has_hook(w.fds[0], "post-commit"))
		(void)sched_yield();
	assert_held(w.fds[0]);
	release(&w);
}

static void nothing_waits_for_a_helper_that_is_missing(void **state)
{
	struct watch w;

	make_shares(&w, *state, 1);
	start(&w, "/nonexistent/ptycell-files");
	assert_true(lookout_has_ended(w.lookout, 1));
	assert_true(lookout_has_ended(w.lookout, lookout_ask(w.lookout)));
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
	uint64_t number = lookout_ask(w->lookout);

	later_ms += ms;
	loop_turn(w->loop, 0);
	return lookout_has_ended(w->lookout, number);
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

static void a_lookout_that_is_missing_can_be_silenced_and_freed(void **state)
{
	struct watch w;

	lookout_quiet(NULL);
	lookout_free(NULL);
	/* One that is under way as well. */
	make_shares(&w, *state, 1);
	start(&w, HELPER);
	lookout_quiet(w.lookout);
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
		FIXTURE_TEST(what_cannot_be_renamed_is_reported_until_the_list_is_the_same),
		FIXTURE_TEST(of_many_names_some_are_reported_and_the_others_counted),
		FIXTURE_TEST(a_link_into_the_home_is_removed),
		FIXTURE_TEST(more_folders_than_a_helper_takes_are_all_inspected),
		FIXTURE_TEST(a_limit_is_reported_once_and_a_whole_inspection_follows),
		FIXTURE_TEST(a_limit_of_time_is_reported_as_one),
		FIXTURE_TEST(a_whole_inspection_with_a_limit_is_reported_and_not_repeated),
		FIXTURE_TEST(the_last_inspection_holds_names_and_reports_nothing),
		FIXTURE_TEST(the_last_inspection_outlives_the_home),
		FIXTURE_TEST(nothing_waits_for_a_helper_that_is_missing),
		FIXTURE_TEST(a_helper_that_fails_ends_the_inspection),
		FIXTURE_TEST(a_helper_that_hangs_is_given_up_and_the_next_one_sooner),
		FIXTURE_TEST(a_lookout_that_is_missing_can_be_silenced_and_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
