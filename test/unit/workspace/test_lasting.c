/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "fixture.h"
#include "workspace/home.h"
#include "workspace/lasting.h"

static struct err err;

/* The reads of folders fail from this one on; -1: none. */
static int bad_from = -1;

struct dirent *readdir(DIR *dirp)
{
	static struct dirent *(*real)(DIR *);

	if (bad_from == 0) {
		errno = EIO;
		return NULL;
	}
	if (bad_from > 0)
		bad_from--;
	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "readdir");
	return real(dirp);
}

static void record(struct workspace *workspace, const char *id, const char *why)
{
	struct lasting_record record = { .session_id = xstrdup(id),
					 .generation = 3,
					 .next_cell = 8,
					 .why = why == NULL ? NULL : xstrdup(why),
					 .exported = true,
					 .cut = true,
					 .running = 7,
					 .unread = xstrdup("3 (done)") };

	if (lasting_write(workspace_journal_fd(workspace), &record, &err) < 0)
		fail_msg("%s", err.msg);
	lasting_record_release(&record);
}

static size_t count_in(int dir_fd, const char *path)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t count = 0;

	while (dir != NULL && readdir(dir) != NULL)
		count++;
	if (dir != NULL)
		(void)closedir(dir);
	return count < 2 ? 0 : count - 2;
}

/* Ends the fixture's session, whose folder then lies with the others. */
static void release(struct fixture *f)
{
	assert_true(lasting_release(f->home, workspace_name(f->workspace)));
	workspace_free(f->workspace);
	f->workspace = NULL;
}

static void a_record_is_read_as_it_was_written(void **state)
{
	struct fixture *f = *state;
	struct lasting_record read;

	record(f->workspace, "trip-5d2a", "the host closed");
	assert_int_equal(lasting_read(workspace_journal_fd(f->workspace), &read, &err), 0);
	assert_string_equal(read.session_id, "trip-5d2a");
	assert_string_equal(read.why, "the host closed");
	assert_int_equal(read.generation, 3);
	assert_int_equal(read.next_cell, 8);
	assert_true(read.exported);
	assert_true(read.cut);
	assert_int_equal(read.running, 7);
	assert_string_equal(read.unread, "3 (done)");
	lasting_record_release(&read);
}

static void what_is_no_record_is_refused(void **state)
{
	static const char *const texts[] = { "", "[]", "{}", "{\"session_id\": 3}", "\xff\xfe" };
	struct fixture *f = *state;
	int journal = workspace_journal_fd(f->workspace);
	struct lasting_record read;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		scratch_write(journal, LASTING_RECORD, texts[i]);
		assert_int_equal(lasting_read(journal, &read, &err), -1);
	}
	assert_int_equal(unlinkat(journal, LASTING_RECORD, 0), 0);
	assert_int_equal(mkfifoat(journal, LASTING_RECORD, 0600), 0);
	assert_int_equal(lasting_read(journal, &read, &err), -1);
	assert_int_equal(unlinkat(journal, LASTING_RECORD, 0), 0);
	assert_int_equal(symlinkat("/etc/passwd", journal, LASTING_RECORD), 0);
	assert_int_equal(lasting_read(journal, &read, &err), -1);
	scratch_write(workspace_data_fd(f->workspace), "a", "x");
}

static void a_folder_that_was_released_is_found_and_resumed(void **state)
{
	struct fixture *f = *state;
	struct lasting_found found;
	cleanup_free char *text = NULL;

	record(f->workspace, "a", "it was idle");
	scratch_write(workspace_data_fd(f->workspace), "input/x.csv", "1,2\n");
	release(f);
	lasting_find(f->home, "b", &found);
	assert_int_equal(found.count, 0);
	lasting_find(f->home, "a", &found);
	assert_int_equal(found.count, 1);
	assert_false(found.in_use);
	assert_string_equal(found.rows[0].record.why, "it was idle");
	f->workspace = workspace_resume(f->home, found.rows[0].name, &err);
	if (f->workspace == NULL)
		fail_msg("%s", err.msg);
	text = scratch_read(workspace_data_fd(f->workspace), "input/x.csv");
	assert_string_equal(text, "1,2\n");
	assert_null(workspace_resume(f->home, found.rows[0].name, &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
	lasting_found_release(&found);
	lasting_find(f->home, "a", &found);
	assert_int_equal(found.count, 0);
	lasting_found_release(&found);
}

static bool is_found(const struct fixture *f, const char *id)
{
	struct lasting_found found;
	bool any;

	lasting_find(f->home, id, &found);
	any = found.count == 1;
	lasting_found_release(&found);
	return any;
}

static void a_session_has_an_id_of_its_own(void **state)
{
	char longest[LASTING_ID_MAX + 1];
	struct fixture *f = *state;
	const char *name = strrchr(workspace_name(f->workspace), '/') + 1;
	cleanup_free char *own = NULL;
	cleanup_free char *shorter = NULL;

	memset(longest, 'x', LASTING_ID_MAX);
	longest[LASTING_ID_MAX] = '\0';
	own = lasting_own_id(longest, name);
	shorter = lasting_own_id("x", name);
	record(f->workspace, longest, NULL);
	release(f);
	assert_int_equal(strlen(own), LASTING_ID_MAX);
	assert_true(is_found(f, own));
	assert_true(is_found(f, longest));
	assert_false(is_found(f, shorter));
	assert_false(is_found(f, own + 1));
}

static void a_folder_without_rights_is_opened_again(void **state)
{
	struct fixture *f = *state;
	struct lasting_found found;

	record(f->workspace, "a", NULL);
	assert_int_equal(fchmod(workspace_data_fd(f->workspace), 0), 0);
	release(f);
	lasting_find(f->home, "a", &found);
	f->workspace = workspace_resume(f->home, found.rows[0].name, &err);
	if (f->workspace == NULL)
		fail_msg("%s", err.msg);
	lasting_found_release(&found);
}

static void folders_that_an_earlier_version_had_not_are_made(void **state)
{
	struct fixture *f = *state;
	struct lasting_found found;

	record(f->workspace, "a", NULL);
	assert_int_equal(unlinkat(workspace_packages_fd(f->workspace), BELL_FOLDER, AT_REMOVEDIR),
			 0);
	release(f);
	lasting_find(f->home, "a", &found);
	f->workspace = workspace_resume(f->home, found.rows[0].name, &err);
	if (f->workspace == NULL)
		fail_msg("%s", err.msg);
	assert_true(scratch_exists(workspace_packages_fd(f->workspace), BELL_FOLDER));
	lasting_found_release(&found);
}

static void the_last_used_comes_first(void **state)
{
	struct fixture *f = *state;
	struct lasting_found found;
	const struct timespec older[] = { { .tv_sec = 500 }, { .tv_sec = 500 } };

	for (int i = 0; i < 3; i++) {
		const struct timespec times[] = { { .tv_sec = 1000 },
						  { .tv_sec = 1000, .tv_nsec = i % 2 } };

		if (i > 0)
			f->workspace = workspace_new(f->home, &err);
		record(f->workspace, "a", i == 1 ? "newest" : "older");
		/* A life without a journal adds nothing to the events of an earlier one. */
		scratch_write(workspace_journal_fd(f->workspace), "events", "");
		assert_int_equal(utimensat(workspace_journal_fd(f->workspace), "events", older, 0),
				 0);
		assert_int_equal(
			utimensat(workspace_journal_fd(f->workspace), LASTING_RECORD, times, 0), 0);
		release(f);
	}
	lasting_find(f->home, "a", &found);
	assert_int_equal(found.count, 3);
	assert_string_equal(found.rows[0].record.why, "newest");
	assert_int_equal(found.rows[0].used.tv_nsec, 1);
	lasting_found_release(&found);
}

static void a_session_of_a_server_that_lives_is_in_use(void **state)
{
	struct fixture *f = *state;
	struct home *other = home_open(home_path(f->home), &err);
	struct lasting_found found;

	record(f->workspace, "a", NULL);
	lasting_find(other, "a", &found);
	assert_true(found.in_use);
	assert_int_equal(found.count, 0);
	lasting_found_release(&found);
	lasting_find(f->home, "a", &found); /* our own are not another's */
	assert_false(found.in_use);
	lasting_found_release(&found);
	home_close(other);
}

/* Forks a server that makes one session of each id and is killed. "" has no record. */
static void run_killed_server(const char *path, const char *const *ids)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct home *home = home_open(path, &err);

		for (; home != NULL && *ids != NULL; ids++) {
			struct workspace *workspace = workspace_new(home, &err);

			if ((*ids)[0] != '\0')
				record(workspace, *ids, NULL);
		}
		(void)raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void sessions_of_a_killed_server_move_out_of_its_folder(void **state)
{
	static const char *const ids[] = { "a", "", "b", NULL };
	struct fixture *f = *state;
	struct lasting_found found;
	char *taken;

	run_killed_server(home_path(f->home), ids);
	home_look_again(f->home);
	taken = home_take_stale(f->home);
	assert_non_null(taken);
	assert_int_equal(count_in(home_fd(f->home), LASTING_FOLDER), 2);
	lasting_find(f->home, "b", &found);
	assert_int_equal(found.count, 1);
	assert_null(found.rows[0].record.why);
	lasting_found_release(&found);
	free(taken);
	assert_null(home_take_stale(f->home));
}

static void a_server_whose_sessions_cannot_be_read_keeps_them(void **state)
{
	static const char *const ids[] = { "a", NULL };
	struct fixture *f = *state;
	struct lasting_found found;

	run_killed_server(home_path(f->home), ids);
	for (int from = 0; from < 3; from++) {
		home_look_again(f->home);
		bad_from = from;
		assert_null(home_take_stale(f->home));
		bad_from = -1;
	}
	home_look_again(f->home);
	free(home_take_stale(f->home));
	lasting_find(f->home, "a", &found);
	assert_int_equal(found.count, 1);
	lasting_found_release(&found);
}

static void a_server_whose_sessions_cannot_be_moved_keeps_them(void **state)
{
	static const char *const ids[] = { "a", NULL };
	struct fixture *f = *state;
	struct lasting_found found;

	run_killed_server(home_path(f->home), ids);
	assert_int_equal(mkdirat(home_fd(f->home), LASTING_FOLDER, 0755), 0);
	home_look_again(f->home);
	assert_null(home_take_stale(f->home));
	assert_int_equal(fchmodat(home_fd(f->home), LASTING_FOLDER, 0, 0), 0);
	home_look_again(f->home);
	free(home_take_stale(f->home));
	lasting_find(f->home, "a", &found);
	assert_int_equal(found.count, 1);
	lasting_found_release(&found);
}

static void a_search_that_could_not_read_all_says_so(void **state)
{
	struct fixture *f = *state;
	struct lasting_found found;

	record(f->workspace, "a", NULL);
	release(f);
	lasting_find(f->home, "a", &found);
	assert_false(found.cut);
	lasting_found_release(&found);
	bad_from = 0;
	lasting_find(f->home, "a", &found);
	bad_from = -1;
	assert_true(found.cut);
	assert_int_equal(found.count, 0);
	lasting_found_release(&found);
}

static void folders_that_are_not_as_made_are_ignored(void **state)
{
	struct fixture *f = *state;
	struct lasting_found found;
	cleanup_free char *path = NULL;

	record(f->workspace, "a", NULL);
	release(f);
	lasting_find(f->home, "a", &found);
	path = xasprintf(LASTING_FOLDER "/%s", found.rows[0].name);
	lasting_found_release(&found);
	assert_int_equal(fchmodat(home_fd(f->home), path, 0777, 0), 0);
	assert_int_equal(mkdirat(home_fd(f->home), LASTING_FOLDER "/other", 0700), 0);
	assert_int_equal(symlinkat("/tmp", home_fd(f->home), LASTING_FOLDER "/aaaabbbbccccdddd"),
			 0);
	assert_int_equal(mkfifoat(home_fd(f->home), LASTING_FOLDER "/aaaabbbbccccddde", 0600), 0);
	lasting_find(f->home, "a", &found);
	assert_int_equal(found.count, 0);
	assert_null(workspace_resume(f->home, strrchr(path, '/') + 1, &err));
	assert_int_equal(fchmodat(home_fd(f->home), LASTING_FOLDER, 0755, 0), 0);
	assert_int_equal(lasting_open_all(f->home), -1);
}

static void code_that_replaces_what_a_resumed_session_needs_is_put_aside(void **state)
{
	struct fixture *f = *state;
	int data = workspace_data_fd(f->workspace);

	assert_int_equal(symlinkat("/tmp", data, ".cache"), 0);
	if (workspace_make_tmp(f->workspace, &err) < 0)
		fail_msg("%s", err.msg);
	assert_true(scratch_exists(data, ".cache/tmp"));
	assert_int_equal(workspace_make_tmp(f->workspace, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_record_is_read_as_it_was_written),
		FIXTURE_TEST(what_is_no_record_is_refused),
		FIXTURE_TEST(a_folder_that_was_released_is_found_and_resumed),
		FIXTURE_TEST(a_session_has_an_id_of_its_own),
		FIXTURE_TEST(a_folder_without_rights_is_opened_again),
		FIXTURE_TEST(folders_that_an_earlier_version_had_not_are_made),
		FIXTURE_TEST(the_last_used_comes_first),
		FIXTURE_TEST(a_session_of_a_server_that_lives_is_in_use),
		FIXTURE_TEST(sessions_of_a_killed_server_move_out_of_its_folder),
		FIXTURE_TEST(a_server_whose_sessions_cannot_be_read_keeps_them),
		FIXTURE_TEST(a_server_whose_sessions_cannot_be_moved_keeps_them),
		FIXTURE_TEST(a_search_that_could_not_read_all_says_so),
		FIXTURE_TEST(folders_that_are_not_as_made_are_ignored),
		FIXTURE_TEST(code_that_replaces_what_a_resumed_session_needs_is_put_aside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
