/* SPDX-License-Identifier: MIT */
/* test_shares.c - which folders may be shared, and which files are opened in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "config/settings.h"
#include "confinement/shares.h"
#include "scratch.h"

/* A user's home with a folder, a link and a file in it, and the folders of sessions beside it. */
struct fixture {
	struct scratch scratch;
	char *env[2];
	struct settings settings;
	struct settings_share list[4];
};

static void make_folder(const struct fixture *f, const char *name)
{
	assert_int_equal(mkdirat(f->scratch.fd, name, 0700), 0);
	assert_int_equal(fchmodat(f->scratch.fd, name, 0755, 0), 0);
}

static void write_text(const struct fixture *f, const char *name, const char *text)
{
	cleanup_fd int fd =
		openat(f->scratch.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct err err;

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text), &err), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	scratch_init(&f->scratch);
	make_folder(f, "me");
	make_folder(f, "me/data");
	make_folder(f, "me/data/deep");
	make_folder(f, "me/ptycell");
	make_folder(f, "cache");
	write_text(f, "me/data/a.csv", "1,2\n");
	assert_int_equal(symlinkat("data", f->scratch.fd, "me/link"), 0);
	f->env[0] = xasprintf("HOME=%s/me", f->scratch.path);
	f->settings.environment = f->env;
	f->settings.home = xasprintf("%s/cache", f->scratch.path);
	f->settings.keep = xasprintf("%s/me/ptycell", f->scratch.path);
	f->settings.shares = f->list;
	/* For the rules of ordinary users; root has one more. */
	f->settings.unconfined = true;
	*state = f;
	return 0;
}

static void forget_list(struct fixture *f)
{
	for (size_t i = 0; i < f->settings.share_count; i++)
		mem_cleanup(&f->list[i].path);
	f->settings.share_count = 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	forget_list(f);
	free(f->env[0]);
	free(f->settings.home);
	free(f->settings.keep);
	scratch_release(&f->scratch);
	free(f);
	return 0;
}

/* Adds a share: below the scratch folder, or absolute. */
static struct settings_share *want(struct fixture *f, const char *path, bool writable)
{
	struct settings_share *share = &f->list[f->settings.share_count++];

	*share = (struct settings_share){
		.path = path[0] == '/' ? xstrdup(path) : xasprintf("%s/%s", f->scratch.path, path),
		.writable = writable,
	};
	return share;
}

static struct shares *open_all(struct fixture *f)
{
	struct err err = { 0 };
	struct shares *shares = shares_open(&f->settings, &err);

	if (shares == NULL)
		fail_msg("%s", err.msg);
	return shares;
}

/* Returns the error with which the list is refused, and empties the list. */
static struct err refused(struct fixture *f)
{
	struct err err = { 0 };
	struct shares *shares = shares_open(&f->settings, &err);

	if (shares != NULL)
		fail_msg("'%s' is shared", f->list[0].path);
	forget_list(f);
	return err;
}

/* A missing folder is reported, and the others are shared. */
static void assert_absent(struct fixture *f)
{
	struct shares *shares = open_all(f);
	char *absent;

	assert_int_equal(shares_count(shares), 0);
	absent = shares_absent(shares);
	assert_non_null(strstr(absent, "is not there; start ptycell again"));
	free(absent);
	shares_free(shares);
	forget_list(f);
}

static void assert_says(const struct err *err, enum err_code code, const char *words)
{
	if (strstr(err->msg, words) == NULL)
		fail_msg("'%s' is not in '%s'", words, err->msg);
	assert_int_equal(err->code, code);
}

static void nothing_is_shared_by_default(void **state)
{
	struct fixture *f = *state;
	struct shares *shares = open_all(f);

	assert_int_equal(shares_count(shares), 0);
	assert_null(shares_at(shares, 0));
	shares_free(shares);
	shares_free(NULL);
}

static void folders_that_are_too_much_are_refused(void **state)
{
	static const struct {
		const char *path;
		const char *words;
	} cases[] = {
		{ "/", "holds home folders" },
		{ "/root", "is too much" },
		{ "/home", "is too much" },
		{ "/run", "is a system folder" },
		{ "/run/user/0", "is a system folder" },
		{ "/lib", "is a system folder" },
		{ "//etc", "is a system folder" },
		{ "/etc/", "is a system folder" },
		{ "/a/../etc", "must have no . or .." },
		{ "/./etc", "must have no . or .." },
		{ "/proc/1", "is a system folder" },
		{ "/var", "is a system folder, holds one" },
		{ "/var/run/x", "is a system folder" },
		{ "/tmp", "holds home folders" },
		{ "/home/somebody", "whole home folder" },
		{ "/mnt", "is too much" },
		{ "/mnt/data", "where each session has folders of its own" },
		{ "/mnt/data/x", "where each session has folders of its own" },
		{ "/opt", "is too much" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err;

		want(f, cases[i].path, false);
		err = refused(f);
		if (strstr(err.msg, cases[i].words) == NULL)
			fail_msg("%s: '%s'", cases[i].path, err.msg);
	}
}

/* Their names begin like a system folder's. */
static void names_that_only_begin_like_a_system_folder_are_none(void **state)
{
	static const char *const cases[] = { "/etcetera",     "/system", "/runs",
					     "/mnt/database", "/varied", "/home/me/lib",
					     "/opt/kernel" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {

		want(f, cases[i], false);
		assert_absent(f); /* it passes the rules, and only then is it found missing */
	}
	assert_true(shares_path_within("/etc", "/etc/x"));
	assert_true(shares_path_within("/", "/x"));
	assert_false(shares_path_within("/etc", "/etcetera"));
}

static void the_home_folder_is_shared_only_when_that_is_said(void **state)
{
	struct fixture *f = *state;
	struct shares *shares;
	struct err err;

	want(f, "me", false);
	err = refused(f);
	assert_says(&err, ERR_DENIED, ":home");
	want(f, "me", false)->is_home = true;
	shares = open_all(f);
	assert_int_equal(shares_count(shares), 1);
	shares_free(shares);
}

static void folders_of_sessions_and_kept_results_are_protected(void **state)
{
	struct fixture *f = *state;
	struct shares *shares;
	struct err err;

	want(f, "cache", false);
	err = refused(f);
	assert_says(&err, ERR_DENIED, "PTYCELL_HOME");
	want(f, "cache/server-x/sessions", false);
	err = refused(f);
	assert_says(&err, ERR_DENIED, "PTYCELL_HOME");
	want(f, "me/ptycell", true);
	err = refused(f);
	assert_says(&err, ERR_DENIED, "PTYCELL_KEEP");
	want(f, "me/ptycell", false);
	shares = open_all(f);
	shares_free(shares);
}

static void they_are_protected_whatever_link_leads_to_them(void **state)
{
	struct fixture *f = *state;
	struct err err;

	make_folder(f, "me/data/results");
	assert_int_equal(symlinkat("me/data", f->scratch.fd, "way"), 0);
	free(f->settings.home);
	f->settings.home = xasprintf("%s/way/not/yet", f->scratch.path);
	want(f, "me/data", false);
	err = refused(f);
	assert_says(&err, ERR_DENIED, "PTYCELL_HOME");
	free(f->settings.home);
	f->settings.home = xasprintf("%s/cache", f->scratch.path);
	free(f->settings.keep);
	f->settings.keep = xasprintf("%s/way/results", f->scratch.path);
	want(f, "me/data", true);
	err = refused(f);
	assert_says(&err, ERR_DENIED, "PTYCELL_KEEP");
	want(f, "me/data/results", true);
	err = refused(f);
	assert_says(&err, ERR_DENIED, "PTYCELL_KEEP");
}

static void a_link_is_not_followed_and_its_end_is_named(void **state)
{
	struct fixture *f = *state;
	struct err err;

	want(f, "me/link", false);
	err = refused(f);
	assert_says(&err, ERR_DENIED, "leads through a symbolic link: share '");
	assert_says(&err, ERR_DENIED, "/me/data'");
	want(f, "me/link/deep", false);
	err = refused(f);
	assert_says(&err, ERR_DENIED, "/me/data/deep'");
	want(f, "me/data/a.csv", false);
	err = refused(f);
	assert_says(&err, ERR_INVALID, "is no folder");
	want(f, "me/nothing", false);
	assert_absent(f);
}

static void a_folder_of_others_is_not_shared_for_writing(void **state)
{
	struct fixture *f = *state;
	struct shares *shares;
	struct err err;

	assert_int_equal(fchmodat(f->scratch.fd, "me/data", 0770, 0), 0);
	want(f, "me/data", true);
	err = refused(f);
	assert_says(&err, ERR_DENIED, "chmod go-w");
	want(f, "me/data", false);
	shares = open_all(f);
	shares_free(shares);
	forget_list(f);
	if (geteuid() != 0)
		return;
	assert_int_equal(fchmodat(f->scratch.fd, "me/data", 0700, 0), 0);
	assert_int_equal(fchownat(f->scratch.fd, "me/data", 12345, 12345, 0), 0);
	want(f, "me/data", true);
	err = refused(f);
	assert_says(&err, ERR_DENIED, "is not yours");
}

static void sessions_of_root_get_what_others_may_have(void **state)
{
	struct fixture *f = *state;
	struct err err;

	if (geteuid() != 0)
		skip();
	f->settings.unconfined = false;
	assert_int_equal(fchmodat(f->scratch.fd, "me/data", 0700, 0), 0);
	want(f, "me/data", false);
	err = refused(f);
	assert_says(&err, ERR_DENIED, "chmod -R o+rX");
	/* Writable shares are used as their owner. */
	assert_int_equal(fchownat(f->scratch.fd, "me/data", 12345, 12345, 0), 0);
	want(f, "me/data", true);
	shares_free(open_all(f));
	assert_int_equal(fchmodat(f->scratch.fd, "me/data", 0720, 0), 0);
	want(f, "me/data", true);
	err = refused(f);
	assert_says(&err, ERR_DENIED, "can be written by others");
}

static void one_path_twice_is_one_share_and_inner_ones_come_later(void **state)
{
	struct fixture *f = *state;
	struct shares *shares;

	want(f, "me/data/deep", true);
	want(f, "me//data/", false);
	want(f, "me/data/deep", false);
	want(f, "me/data", false);
	shares = open_all(f);
	assert_int_equal(shares_count(shares), 2);
	assert_false(shares_at(shares, 0)->writable);
	assert_true(shares_at(shares, 1)->writable);
	assert_non_null(strstr(shares_at(shares, 1)->path, "/me/data/deep"));
	assert_true(shares_overlap(shares, shares_at(shares, 0)->path, true));
	assert_false(shares_overlap(shares, f->settings.keep, false));
	shares_free(shares);
}

static void a_share_within_one_of_the_same_rights_is_dropped(void **state)
{
	struct fixture *f = *state;
	struct shares *shares;
	struct err err;

	want(f, "me/data/deep", false);
	want(f, "me/data", false);
	shares = open_all(f);
	assert_int_equal(shares_count(shares), 1);
	shares_free(shares);
	forget_list(f);
	want(f, "me/data/deep", false);
	want(f, "me/data", true);
	err = refused(f);
	assert_says(&err, ERR_DENIED, "share only one of them");
}

static void assert_denied(const struct shares *shares, const char *path, enum err_code code,
			  const char *words)
{
	struct err err = { 0 };
	cleanup_fd int fd = shares_open_file(shares, path, NULL, &err);

	assert_int_equal(fd, -1);
	assert_says(&err, code, words);
}

static void files_of_a_share_are_opened_through_no_link(void **state)
{
	struct fixture *f = *state;
	struct shares *shares;
	cleanup_free char *file = xasprintf("%s/me/data/a.csv", f->scratch.path);
	cleanup_free char *outside = xasprintf("%s/me/other/secret.txt", f->scratch.path);
	cleanup_free char *at_home = xasprintf("%s/me/secret.txt", f->scratch.path);
	cleanup_free char *link = xasprintf("%s/me/data/out", f->scratch.path);
	cleanup_free char *climb = xasprintf("%s/me/data/../secret.txt", f->scratch.path);
	cleanup_free char *fifo = xasprintf("%s/me/data/fifo", f->scratch.path);
	cleanup_free char *folder = xasprintf("%s/me/data", f->scratch.path);
	cleanup_fd int fd = -1;
	struct err err;
	off_t size = 0;

	write_text(f, "me/secret.txt", "s");
	assert_int_equal(symlinkat("../secret.txt", f->scratch.fd, "me/data/out"), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	want(f, "me/data", false);
	shares = open_all(f);
	fd = shares_open_file(shares, file, &size, &err);
	assert_true(fd >= 0);
	assert_int_equal(size, 4);
	assert_denied(shares, outside, ERR_DENIED, "--share '");
	assert_denied(shares, outside, ERR_DENIED, "/me/other'");
	assert_denied(shares, at_home, ERR_DENIED, "whole home folder");
	assert_denied(shares, link, ERR_DENIED, "link");
	assert_denied(shares, climb, ERR_INVALID, "..");
	assert_denied(shares, fifo, ERR_DENIED, "not a regular file");
	assert_denied(shares, folder, ERR_DENIED, "it is a folder");
	assert_denied(shares, "a.csv", ERR_INVALID, "absolute");
	assert_denied(
		shares, "/etc/passwd", ERR_DENIED,
		"the user can copy the file into a folder that can be shared, and start ptycell");
	assert_denied(shares, "/etc/passwd", ERR_DENIED, "'/etc' is a system folder");
	assert_denied(shares, "/x.csv", ERR_DENIED, "'/' holds home folders");
	assert_denied(shares, POLICY_DATA "/input/a.csv", ERR_DENIED, "the session's own folder");
	shares_free(shares);
}

static void a_share_that_is_swapped_later_stays_what_it_was(void **state)
{
	struct fixture *f = *state;
	struct shares *shares;
	cleanup_free char *file = xasprintf("%s/me/data/a.csv", f->scratch.path);
	cleanup_fd int fd = -1;
	struct err err;
	off_t size = 0;

	want(f, "me/data", false);
	shares = open_all(f);
	assert_int_equal(renameat(f->scratch.fd, "me/data", f->scratch.fd, "me/moved"), 0);
	assert_int_equal(symlinkat("/etc", f->scratch.fd, "me/data"), 0);
	fd = shares_open_file(shares, file, &size, &err);
	assert_true(fd >= 0);
	assert_int_equal(size, 4);
	shares_free(shares);
}

static bool may_change(const struct fixture *f, const struct shares *shares, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", f->scratch.path, name);

	return shares_may_change(shares, path);
}

static void what_sessions_can_change_is_told_by_its_whole_way(void **state)
{
	static const char *const can[] = {
		"me/data",        "me/data/a.csv",     "me/data/not/there", "me",
		"me/link/a.csv",  "me/../me/data/out", "cache/up",          "me/data/out",
		"me/ptycell/way", "me/data/../x",      "cache/circle",      ".",
	};
	static const char *const cannot[] = { "cache", "cache/none", "me/ptycell", "me/data2",
					      "cache/home/ptycell" };
	struct fixture *f = *state;
	struct shares *shares;

	assert_int_equal(symlinkat("../../cache", f->scratch.fd, "me/data/out"), 0);
	assert_int_equal(symlinkat("../me/data/out", f->scratch.fd, "cache/up"), 0);
	assert_int_equal(symlinkat("../link/out/none", f->scratch.fd, "me/ptycell/way"), 0);
	assert_int_equal(symlinkat("circle", f->scratch.fd, "cache/circle"), 0);
	assert_int_equal(symlinkat("../me", f->scratch.fd, "cache/home"), 0);
	(void)want(f, "me/data", true);
	shares = open_all(f);
	for (size_t i = 0; i < ARRAY_SIZE(can); i++)
		if (!may_change(f, shares, can[i]))
			fail_msg("'%s' counts as safe", can[i]);
	for (size_t i = 0; i < ARRAY_SIZE(cannot); i++)
		if (may_change(f, shares, cannot[i]))
			fail_msg("'%s' does not count as safe", cannot[i]);
	assert_true(shares_may_change(shares, "/"));
	assert_false(shares_may_change(shares, "here"));
	assert_int_equal(chdir(f->scratch.path), 0);
	assert_true(shares_may_change(shares, "me/data/x"));
	assert_false(shares_may_change(shares, "cache/x"));
	assert_int_equal(chdir("/"), 0);
	shares_free(shares);
}

static void sessions_change_nothing_that_they_only_read(void **state)
{
	struct fixture *f = *state;
	struct shares *shares;

	assert_false(shares_may_change(NULL, "/anything"));
	(void)want(f, "me/data", false);
	shares = open_all(f);
	assert_false(may_change(f, shares, "me/data/a.csv"));
	shares_free(shares);
}

static void the_policy_lies_where_no_code_changes_it(void **state)
{
	static const char why[] = "code could change it";
	struct fixture *f = *state;
	cleanup_free char *within = xasprintf("%s/me/data/policy.json", f->scratch.path);
	cleanup_free char *linked = xasprintf("%s/me/link/policy.json", f->scratch.path);
	cleanup_free char *beside = xasprintf("%s/me/policy.json", f->scratch.path);
	struct err err;

	f->settings.policy = within;
	(void)want(f, "me/data", true);
	err = refused(f);
	assert_says(&err, ERR_DENIED, why);
	f->settings.policy = linked;
	(void)want(f, "me/data", true);
	err = refused(f);
	assert_says(&err, ERR_DENIED, why);
	(void)want(f, "me/data", false);
	shares_free(open_all(f));
	forget_list(f);
	f->settings.policy = beside;
	(void)want(f, "me/data", true);
	shares_free(open_all(f));
}

#define SHARE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHARE_TEST(nothing_is_shared_by_default),
		SHARE_TEST(folders_that_are_too_much_are_refused),
		SHARE_TEST(names_that_only_begin_like_a_system_folder_are_none),
		SHARE_TEST(the_home_folder_is_shared_only_when_that_is_said),
		SHARE_TEST(folders_of_sessions_and_kept_results_are_protected),
		SHARE_TEST(they_are_protected_whatever_link_leads_to_them),
		SHARE_TEST(a_link_is_not_followed_and_its_end_is_named),
		SHARE_TEST(a_folder_of_others_is_not_shared_for_writing),
		SHARE_TEST(sessions_of_root_get_what_others_may_have),
		SHARE_TEST(one_path_twice_is_one_share_and_inner_ones_come_later),
		SHARE_TEST(a_share_within_one_of_the_same_rights_is_dropped),
		SHARE_TEST(files_of_a_share_are_opened_through_no_link),
		SHARE_TEST(a_share_that_is_swapped_later_stays_what_it_was),
		SHARE_TEST(what_sessions_can_change_is_told_by_its_whole_way),
		SHARE_TEST(the_policy_lies_where_no_code_changes_it),
		SHARE_TEST(sessions_change_nothing_that_they_only_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
