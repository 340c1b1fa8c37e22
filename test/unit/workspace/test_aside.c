/* SPDX-License-Identifier: MIT */
/* The files of a session while its cells run again. */
#include "fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/mem.h"
#include "patience.h"
#include "workspace/aside.h"
#include "workspace/lasting.h"

#define HELPER TEST_BUILD "/ptycell-files"

enum { DEEP = 210, MANY = 150, SWAPS = 20 };

static struct err err;
static bool done;
static size_t total;
static struct buf found; /* "HOW PATH\n" or "open HOW PATH\n" ... */
static char *problem;

static int set_up(void **state)
{
	buf_init(&found, BUF_UNBOUNDED);
	return fixture_setup(state);
}

static int tear_down(void **state)
{
	mem_cleanup(&problem);
	buf_release(&found);
	return fixture_teardown(state);
}

static void on_done(void *data, const struct aside_result *r)
{
	(void)data;
	for (size_t i = 0; i < r->found_count; i++)
		buf_putf(&found, "%s%s %s\n", r->found[i].list == ASIDE_OPEN ? "open " : "",
			 r->found[i].how, r->found[i].path);
	total = 0;
	for (size_t i = 0; i < ASIDE_LISTS; i++)
		total += r->totals[i];
	problem = r->problem == NULL ? NULL : xstrdup(r->problem);
	done = true;
}

static struct aside_spec spec_of(const struct fixture *f)
{
	return (struct aside_spec){
		.loop = f->loop, .workspace = f->workspace, .helper = HELPER, .done = on_done
	};
}

static void wait_until_done(const struct fixture *f)
{
	while (!done)
		loop_turn(f->loop, 20);
	done = false;
}

static void set_aside(struct fixture *f)
{
	if (workspace_set_aside(f->workspace, &err) < 0)
		fail_msg("%s", err.msg);
}

static void bring(const struct fixture *f, const struct aside_file *file, const char *kept,
		  const char *expected)
{
	struct aside_spec spec = spec_of(f);

	spec.kept = kept;
	buf_clear(&found);
	assert_non_null(aside_bring(&spec, file, 1));
	wait_until_done(f);
	if (problem != NULL)
		fail_msg("%s", problem);
	assert_string_equal(buf_str(&found), expected);
}

static void assert_file(int dir, const char *path, const char *expected)
{
	cleanup_free char *text = scratch_read(dir, path);

	if ((text == NULL) != (expected == NULL))
		fail_msg("'%s' is %sthere", path, text == NULL ? "not " : "");
	if (expected != NULL)
		assert_string_equal(text, expected);
}

static int open_session(const struct fixture *f)
{
	int fd = openat(home_fd(f->home), workspace_name(f->workspace),
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static size_t count_spent(const struct fixture *f)
{
	DIR *dir = fdopendir(open_session(f));
	const struct dirent *entry;
	size_t count = 0;

	while ((entry = readdir(dir)) != NULL)
		count += strncmp(entry->d_name, ASIDE_SPENT_PREFIX, 6) == 0;
	(void)closedir(dir);
	return count;
}

/* ---- laying aside ---- */

static void files_lie_aside_and_cells_get_an_empty_folder(void **state)
{
	struct fixture *f = *state;
	cleanup_fd int session = open_session(f);

	scratch_write(f->data, "output/a.csv", "one");
	set_aside(f);
	assert_int_equal(workspace_data_fd(f->workspace), f->data);
	assert_file(f->data, "output/a.csv", NULL);
	assert_true(scratch_exists(f->data, "input"));
	assert_true(scratch_exists(f->data, "output"));
	assert_file(session, "aside/output/a.csv", "one");
}

static void files_are_taken_back_at_once_without_processes(void **state)
{
	struct fixture *f = *state;

	scratch_write(f->data, "output/a.csv", "one");
	set_aside(f);
	scratch_write(f->data, "output/a.csv", "again");
	assert_int_equal(workspace_take_back(f->workspace, &err), 0);
	assert_file(f->data, "output/a.csv", "one");
	assert_int_equal(count_spent(f), 1);
	/* Nothing lies aside any more. */
	assert_int_equal(workspace_take_back(f->workspace, &err), 0);
	assert_file(f->data, "output/a.csv", "one");
	(void)aside_remove_spent(f->loop, f->workspace, HELPER, NULL, NULL);
	assert_int_equal(count_spent(f), 0);
}

static void a_second_time_is_refused_and_changes_nothing(void **state)
{
	struct fixture *f = *state;
	cleanup_fd int session = open_session(f);

	scratch_write(f->data, "output/a.csv", "one");
	set_aside(f);
	scratch_write(f->data, "output/a.csv", "again");
	assert_int_equal(workspace_set_aside(f->workspace, &err), -1);
	assert_file(session, "aside/output/a.csv", "one");
	assert_file(f->data, "output/a.csv", "again");
}

static void a_killed_server_leaves_the_files_to_the_next_one(void **state)
{
	struct fixture *f = *state;
	struct lasting_record record = { .session_id = xstrdup("trip") };
	cleanup_free char *name = xstrdup(strrchr(workspace_name(f->workspace), '/') + 1);
	cleanup_fd int journal = -1;
	cleanup_fd int session = -1;

	assert_int_equal(lasting_write(workspace_journal_fd(f->workspace), &record, &err), 0);
	lasting_record_release(&record);
	scratch_write(f->data, "output/a.csv", "one");
	set_aside(f);
	scratch_write(f->data, "output/a.csv", "again");
	assert_true(lasting_release(f->home, workspace_name(f->workspace)));
	workspace_free(f->workspace);
	f->workspace = NULL;
	session = lasting_open(f->home, name, &journal);
	assert_file(session, "data/output/a.csv", "one");
	assert_false(scratch_exists(session, ASIDE_FOLDER));
}

/* The server may be killed between the two renames. */
static void a_missing_folder_is_what_a_killed_server_left(void **state)
{
	struct fixture *f = *state;
	cleanup_fd int session = open_session(f);

	scratch_write(f->data, "output/a.csv", "one");
	set_aside(f);
	assert_int_equal(renameat(session, ASIDE_DATA, session, "spent-x"), 0);
	assert_int_equal(aside_settle(session, &err), 0);
	assert_file(session, "data/output/a.csv", "one");
}

/* ---- putting back ---- */

/* Asserts that the line is among those found. */
static void assert_found(const char *line)
{
	if (strstr(buf_str(&found), line) == NULL)
		fail_msg("no '%s' in: %s", line, buf_str(&found));
}

static void run_put_back(struct fixture *f)
{
	const struct aside_spec spec = spec_of(f);

	buf_clear(&found);
	assert_non_null(aside_put_back(&spec));
	wait_until_done(f);
}

static void files_are_as_they_were(void **state)
{
	struct fixture *f = *state;
	cleanup_fd int open_same = -1;
	cleanup_fd int open_other = -1;
	char text[8] = "";
	struct stat st;

	scratch_write(f->data, "same", "one");
	scratch_write(f->data, "other", "two");
	scratch_write(f->data, "output/only.csv", "three");
	scratch_write(f->data, ".hidden", "four");
	assert_int_equal(fchmodat(f->data, "other", 0640, 0), 0);
	assert_int_equal(symlinkat("same", f->data, "link"), 0);
	assert_int_equal(mkdirat(f->data, "closed", 0700), 0);
	scratch_write(f->data, "closed/in", "five");
	assert_int_equal(fchmodat(f->data, "closed", 0500, 0), 0);
	set_aside(f);
	scratch_write(f->data, "same", "one");
	scratch_write(f->data, "other", "and another");
	scratch_write(f->data, "new", "six");
	assert_int_equal(symlinkat("other", f->data, "link"), 0);
	open_same = openat(f->data, "same", O_RDONLY | O_CLOEXEC);
	open_other = openat(f->data, "other", O_RDONLY | O_CLOEXEC);
	run_put_back(f);
	assert_null(problem);
	assert_int_equal(total, 5);
	assert_found("open differs other\n");
	assert_found("differs link\n");
	assert_found("missing output/only.csv\n");
	assert_found("missing closed/in\n");
	assert_found("new new\n");
	assert_file(f->data, "same", "one");
	assert_file(f->data, "other", "two");
	assert_file(f->data, "output/only.csv", "three");
	assert_file(f->data, ".hidden", "four");
	assert_file(f->data, "closed/in", "five");
	assert_file(f->data, "link", "one");
	assert_false(scratch_exists(f->data, "new"));
	assert_int_equal(fstatat(f->data, "other", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(fstatat(f->data, "closed", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0500);
	/* What an interpreter has open is the session's file if it has the same bytes. */
	assert_int_equal(pread(open_other, text, sizeof(text), 0), sizeof(text));
	assert_memory_equal(text, "and anot", sizeof(text));
	assert_int_equal(fstatat(f->data, "same", &st, 0), 0);
	assert_int_equal(st.st_nlink, 1);
	assert_int_equal(pread(open_same, text, sizeof(text), 0), 3);
	assert_int_equal(fchmodat(f->data, "closed", 0700, 0), 0);
	assert_int_equal(count_spent(f), 1);
}

static void kinds_of_files_that_differ_are_replaced(void **state)
{
	struct fixture *f = *state;

	scratch_write(f->data, "file", "one");
	assert_int_equal(mkdirat(f->data, "folder", 0700), 0);
	scratch_write(f->data, "folder/in", "two");
	assert_int_equal(mkfifoat(f->data, "fifo", 0600), 0);
	set_aside(f);
	assert_int_equal(mkdirat(f->data, "file", 0700), 0);
	assert_int_equal(mkdirat(f->data, "file/deep", 0700), 0);
	scratch_write(f->data, "file/deep/in", "x");
	scratch_write(f->data, "folder", "x");
	run_put_back(f);
	assert_null(problem);
	assert_file(f->data, "file", "one");
	assert_file(f->data, "folder/in", "two");
	assert_true(scratch_exists(f->data, "fifo"));
}

/* A file with two names must not be written in place: the other name may be new. */
static void a_file_with_two_names_is_replaced(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	scratch_write(f->data, "a", "one");
	set_aside(f);
	scratch_write(f->data, "a", "again");
	assert_int_equal(linkat(f->data, "a", f->data, "b", 0), 0);
	run_put_back(f);
	assert_null(problem);
	assert_file(f->data, "a", "one");
	assert_false(scratch_exists(f->data, "b"));
	assert_int_equal(fstatat(f->data, "a", &st, 0), 0);
}

static ino_t number_of(const struct fixture *f, const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(f->data, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	return st.st_ino;
}

static void hard_links_are_as_they_were(void **state)
{
	struct fixture *f = *state;

	scratch_write(f->data, "one", "1");
	assert_int_equal(linkat(f->data, "one", f->data, "output/one", 0), 0);
	scratch_write(f->data, "two", "2");
	scratch_write(f->data, "three", "2");
	set_aside(f);
	scratch_write(f->data, "one", "1");
	scratch_write(f->data, "output/one", "1");
	scratch_write(f->data, "two", "2");
	assert_int_equal(linkat(f->data, "two", f->data, "three", 0), 0);
	run_put_back(f);
	assert_null(problem);
	assert_found("relinked one\n");
	assert_found("relinked output/one\n");
	assert_int_equal(number_of(f, "one"), number_of(f, "output/one"));
	assert_int_not_equal(number_of(f, "two"), number_of(f, "three"));
	assert_file(f->data, "two", "2");
	assert_file(f->data, "three", "2");
}

static void the_folders_own_mode_is_as_it_was(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	assert_int_equal(fchmod(f->data, 0750), 0);
	set_aside(f);
	run_put_back(f);
	assert_null(problem);
	assert_int_equal(fstat(f->data, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
}

/* Code of the session runs on while files are put back, and may swap a link in at any moment. */
static pid_t start_swapper(int dir, const char *link_text)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;) {
			(void)!symlinkat(link_text, dir, "link");
			(void)!renameat2(dir, "link", dir, "file", RENAME_EXCHANGE);
		}
	}
	assert_true(pid > 0);
	return pid;
}

static void no_link_that_is_swapped_in_is_followed(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *victim = xasprintf("%s/victim", f->scratch.path);
	struct stat st;

	scratch_write(f->scratch.fd, "victim", "mine");
	assert_int_equal(chmod(victim, 0400), 0);
	for (int i = 0; i < SWAPS; i++) {
		pid_t swapper;

		scratch_write(f->data, "file", "one");
		assert_int_equal(fchmodat(f->data, "file", 0, 0), 0);
		set_aside(f);
		scratch_write(f->data, "file", "two");
		assert_int_equal(fchmodat(f->data, "file", 0, 0), 0);
		swapper = start_swapper(f->data, victim);
		run_put_back(f);
		mem_cleanup(&problem);
		assert_int_equal(kill(swapper, SIGKILL), 0);
		assert_int_equal(waitpid(swapper, NULL, 0), swapper);
		(void)unlinkat(f->data, "link", 0);
		(void)unlinkat(f->data, "file", 0);
		(void)!workspace_take_back(f->workspace, &err);
		(void)aside_remove_spent(f->loop, f->workspace, HELPER, NULL, NULL);
		(void)unlinkat(f->data, "file", 0);
	}
	assert_int_equal(stat(victim, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0400);
	assert_file(f->scratch.fd, "victim", "mine");
}

static void hidden_files_and_unused_inputs_are_not_named(void **state)
{
	struct fixture *f = *state;

	scratch_write(f->data, "input/late.csv", "one");
	assert_int_equal(mkdirat(f->data, ".cache", 0700), 0);
	scratch_write(f->data, ".cache/x", "two");
	set_aside(f);
	assert_int_equal(mkdirat(f->data, "__pycache__", 0700), 0);
	scratch_write(f->data, ".history", "x");
	run_put_back(f);
	assert_null(problem);
	assert_found("new __pycache__\n");
	assert_int_equal(total, 1);
	assert_file(f->data, "input/late.csv", "one");
	assert_file(f->data, ".cache/x", "two");
}

static void many_files_are_counted(void **state)
{
	struct fixture *f = *state;

	set_aside(f);
	for (int i = 0; i < MANY; i++) {
		cleanup_free char *name = xasprintf("f%d", i);

		scratch_write(f->data, name, "x");
	}
	run_put_back(f);
	assert_int_equal(total, MANY);
	assert_int_equal(count_spent(f), 1);
}

static void what_lies_too_deep_stays_aside(void **state)
{
	struct fixture *f = *state;
	cleanup_fd int session = open_session(f);
	int fd = dup(f->data);

	for (int i = 0; i < DEEP; i++) {
		int next;

		assert_int_equal(mkdirat(fd, "d", 0700), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		(void)close(fd);
		fd = next;
	}
	(void)close(fd);
	set_aside(f);
	run_put_back(f);
	assert_non_null(problem);
	assert_true(scratch_exists(session, ASIDE_FOLDER));
}

static void a_helper_that_is_missing_is_a_problem(void **state)
{
	struct fixture *f = *state;
	struct aside_spec spec = spec_of(f);

	set_aside(f);
	spec.helper = "/nonexistent/ptycell-files";
	assert_non_null(aside_put_back(&spec));
	wait_until_done(f);
	assert_non_null(problem);
	aside_stop(aside_put_back(&spec));
	aside_stop(NULL);
}

/* ---- files that cells had ---- */

#define SHA_OF_ONE "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"

static void a_file_is_brought_as_it_was(void **state)
{
	struct fixture *f = *state;
	const struct aside_file file = { .path = "input/a b.csv", .size = 3, .sha256 = SHA_OF_ONE };
	const struct aside_file any = { .path = "output/rows.csv", .size = -1 };

	scratch_write(f->data, "input/a b.csv", "one");
	scratch_write(f->data, "output/rows.csv", "rows");
	set_aside(f);
	bring(f, &file, NULL, "");
	assert_file(f->data, "input/a b.csv", "one");
	bring(f, &file, NULL, "");
	bring(f, &any, NULL, "");
	assert_file(f->data, "output/rows.csv", "rows");
	run_put_back(f);
	assert_int_equal(total, 0);
}

static void a_file_that_changed_is_taken_from_its_copy(void **state)
{
	struct fixture *f = *state;
	const struct aside_file file = { .path = "input/a.csv", .size = 3, .sha256 = SHA_OF_ONE };
	cleanup_free char *kept = xasprintf("%s/kept", f->scratch.path);

	scratch_write(f->data, "input/a.csv", "two");
	assert_int_equal(mkdirat(f->scratch.fd, "kept", 0700), 0);
	set_aside(f);
	bring(f, &file, kept, "changed input/a.csv\n");
	assert_file(f->data, "input/a.csv", "two");
	assert_int_equal(mkdirat(f->scratch.fd, "kept/input", 0700), 0);
	scratch_write(f->scratch.fd, "kept/input/a.csv", "one");
	bring(f, &file, kept, "");
	assert_file(f->data, "input/a.csv", "one");
}

static void an_upload_is_taken_from_its_original(void **state)
{
	struct fixture *f = *state;
	const struct aside_file file = { .path = "input/a.csv", .size = 3, .sha256 = SHA_OF_ONE };
	const struct aside_file any = { .path = "input/a.csv", .size = -1 };

	scratch_write(f->data, "input/a.csv", "the rows of a query");
	fixture_upload(f, "input/a.csv", "two");
	fixture_upload(f, "input/a.csv", "one");
	set_aside(f);
	bring(f, &file, NULL, "");
	assert_file(f->data, "input/a.csv", "one");
	bring(f, &any, NULL, "");
	assert_file(f->data, "input/a.csv", "the rows of a query");
}

/* An upload of more than 256 MB is recorded without a digest (cmd/files/import.c). */
static void a_file_of_which_only_the_size_is_known_is_named(void **state)
{
	struct fixture *f = *state;
	const struct aside_file file = { .path = "input/a.csv", .size = 3 };

	scratch_write(f->data, "input/a.csv", "one");
	set_aside(f);
	bring(f, &file, NULL, "not compared, except its size input/a.csv\n");
	assert_file(f->data, "input/a.csv", "one");
}

static void a_large_file_is_compared_whole(void **state)
{
	enum { LARGE = 256 << 20 };
	struct fixture *f = *state;
	const struct aside_file file = { .path = "input/a.csv",
					 .size = LARGE + 1,
					 .sha256 = SHA_OF_ONE };
	cleanup_fd int fd = -1;

	scratch_write(f->data, "input/a.csv", "one");
	fd = openat(f->data, "input/a.csv", O_WRONLY | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, LARGE + 1), 0); /* a hole takes no disk */
	set_aside(f);
	bring(f, &file, NULL, "changed input/a.csv\n");
}

static void a_file_that_is_gone_is_named(void **state)
{
	struct fixture *f = *state;
	const struct aside_file file = { .path = "input/a.csv", .size = 3, .sha256 = SHA_OF_ONE };

	set_aside(f);
	bring(f, &file, NULL, "missing input/a.csv\n");
	assert_file(f->data, "input/a.csv", NULL);
}

static void a_path_that_leads_out_is_refused(void **state)
{
	struct fixture *f = *state;
	const struct aside_file file = { .path = "../journal/session", .size = -1 };
	const struct aside_spec spec = spec_of(f);

	set_aside(f);
	assert_non_null(aside_bring(&spec, &file, 1));
	wait_until_done(f);
	assert_non_null(problem);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_lie_aside_and_cells_get_an_empty_folder),
		TEST(files_are_taken_back_at_once_without_processes),
		TEST(a_second_time_is_refused_and_changes_nothing),
		TEST(a_killed_server_leaves_the_files_to_the_next_one),
		TEST(a_missing_folder_is_what_a_killed_server_left),
		TEST(files_are_as_they_were),
		TEST(kinds_of_files_that_differ_are_replaced),
		TEST(a_file_with_two_names_is_replaced),
		TEST(hard_links_are_as_they_were),
		TEST(the_folders_own_mode_is_as_it_was),
		TEST(no_link_that_is_swapped_in_is_followed),
		TEST(hidden_files_and_unused_inputs_are_not_named),
		TEST(many_files_are_counted),
		TEST(what_lies_too_deep_stays_aside),
		TEST(a_helper_that_is_missing_is_a_problem),
		TEST(a_file_is_brought_as_it_was),
		TEST(a_file_that_changed_is_taken_from_its_copy),
		TEST(an_upload_is_taken_from_its_original),
		TEST(a_file_of_which_only_the_size_is_known_is_named),
		TEST(a_large_file_is_compared_whole),
		TEST(a_file_that_is_gone_is_named),
		TEST(a_path_that_leads_out_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
