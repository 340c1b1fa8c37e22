/* SPDX-License-Identifier: MIT */
/* Folders of the user in a sandbox of tier namespaces, and what stays safe in writable ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/syscall.h>
#include <cmocka.h>

#include "confined_fixture.h"

static char paths[POLICY_SHARES_MAX][100];

/* Not before Linux 5.12, nor where a test denies the system calls. */
static bool can_map_owners(void)
{
	if (syscall(SYS_open_tree, -1, "", 0) < 0 && errno == ENOSYS)
		return false;
	return syscall(SYS_mount_setattr, -1, "", 0, NULL, 0) == 0 || errno != ENOSYS;
}

/* Shares a folder `name` beside the workspace. A root server's sessions have another user. */
static int share_anyway(const char *name, bool writable)
{
	size_t i = confined.policy.share_count++;
	int fd;

	(void)snprintf(paths[i], sizeof(paths[i]), "%s/%s", confined.scratch.path, name);
	if (mkdirat(confined.scratch.fd, name, 0777) < 0)
		assert_int_equal(errno, EEXIST);
	fd = open(paths[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, 0777), 0);
	confined.policy.shares[i] = (struct policy_share){ paths[i], writable };
	confined.folders.shares[i] = fd;
	return fd;
}

static int share(const char *name, bool writable)
{
	if (writable && geteuid() == 0 && !can_map_owners())
		skip(); /* no session starts: see roots_writable_share_needs_owners_that_map */
	return share_anyway(name, writable);
}

static int tear_down(void **state)
{
	for (size_t i = 0; i < confined.policy.share_count; i++)
		fd_close(&confined.folders.shares[i]);
	return confined_tear_down(state);
}

static bool exists(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static const char *run_in(const char *path, const char *script)
{
	char whole[2000];

	(void)snprintf(whole, sizeof(whole), "cd %s || exit; exec 2>/dev/null; %s", path, script);
	return confined_run(whole);
}

static void a_share_is_read_only_at_its_own_path(void **state)
{
	int fd = share("notes", false);

	(void)state;
	scratch_write(fd, "n", "a note");
	assert_int_equal(fchmodat(fd, "n", 0666, 0), 0);
	assert_string_equal(
		run_in(paths[0], "cat n; echo x >n; echo x >new; rm n; chmod 600 n; ls"),
		"a noten\n");
	assert_int_equal(unlinkat(fd, "n", 0), 0);
}

static void a_writable_share_is_the_users_own_folder(void **state)
{
	int fd = share("project", true);

	(void)state;
	assert_string_equal(run_in(paths[0], "mkdir d && echo x >d/f && cat d/f"), "x\n");
	assert_true(exists(fd, "d/f"));
}

static void a_share_within_a_share_has_its_own_rights(void **state)
{
	int outer = share("outer", false);
	int inner = share("outer/inner", true);

	(void)state;
	assert_string_equal(run_in(paths[0], "touch no; touch inner/yes; ls -1R ."),
			    ".:\ninner\n\n./inner:\nyes\n");
	assert_true(exists(inner, "yes"));
	assert_false(exists(outer, "no"));
}

static void note_lifted(void *data)
{
	*(bool *)data = true;
}

static void lift_seal(void)
{
	uint64_t deadline = clock_ms() + PATIENCE_MS;
	bool lifted = false;

	assert_true(sandbox_lift_seal(fixture.sandbox, note_lifted, &lifted));
	while (!lifted && clock_ms() < deadline)
		loop_turn(fixture.loop, 20);
	assert_true(lifted);
}

/* The folder above a protected name is a mount of its own. */
static void a_sealed_share_is_read_only_until_the_seal_is_lifted(void **state)
{
	static const char script[] = "echo x >>new; echo x >>sub/new; echo x >>sub/.git/config; "
				     "cat new sub/new sub/.git/config";
	int fd = share("project", true);

	(void)state;
	assert_int_equal(mkdirat(fd, "sub", 0777) | mkdirat(fd, "sub/.git", 0777), 0);
	assert_int_equal(fchmodat(fd, "sub", 0777, 0) | fchmodat(fd, "sub/.git", 0777, 0), 0);
	scratch_write(fd, "sub/.git/config", "mine\n");
	assert_int_equal(fchmodat(fd, "sub/.git/config", 0666, 0), 0);
	confined_open();
	sandbox_seal(fixture.sandbox);
	assert_string_equal(run_in(paths[0], script), "mine\n");
	assert_false(exists(fd, "new"));
	lift_seal();
	assert_string_equal(run_in(paths[0], script), "x\nx\nmine\n");
	assert_true(exists(fd, "sub/new"));
}

static void a_running_shell_can_write_when_the_seal_is_lifted(void **state)
{
	int fd = share("project", true);
	char script[200];

	(void)state;
	confined_open();
	sandbox_seal(fixture.sandbox);
	(void)snprintf(script, sizeof(script),
		       "cd %s || exit; until (echo x >new) 2>/dev/null; do sleep 0.01; done",
		       paths[0]);
	confined_start(script);
	lift_seal();
	confined_wait();
	assert_true(exists(fd, "new"));
}

static void a_seal_of_a_dead_sandbox_is_not_lifted(void **state)
{
	bool lifted = false;

	(void)state;
	(void)share("project", true);
	(void)snprintf(paths[0], sizeof(paths[0]), "/nowhere");
	confined_start("true");
	confined_wait();
	assert_non_null(strstr(fixture.said, "failed"));
	sandbox_seal(fixture.sandbox);
	assert_false(sandbox_lift_seal(fixture.sandbox, note_lifted, &lifted));
}

#define TRY_ALL                                                                                    \
	"for n in .git/hooks/x .git/config .git .mcp.json .claude .claude/x .cursor .vscode "      \
	".vscode/x .envrc; do (echo x >>$n) && echo wrote $n; rm -rf $n; mkdir $n && "             \
	"echo made $n; mv $n away && echo moved $n; ln -s /tmp $n && echo linked $n; "             \
	"chmod 777 $n && echo opened $n; done; "

/* The same as when the server runs as that owner. */
static void a_root_servers_session_has_its_owners_rights_in_a_share(void **state)
{
	static const uid_t owners[] = { 0, 12345 };
	struct stat st;

	(void)state;
	if (geteuid() != 0 || !can_map_owners())
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
		int fd = share(i == 0 ? "roots" : "others", true);

		scratch_write(fd, "private", "private");
		scratch_write(fd, "foreign", "foreign");
		assert_int_equal(fchownat(fd, "private", owners[i], owners[i], 0), 0);
		assert_int_equal(fchownat(fd, "foreign", 54321, 54321, 0), 0);
		assert_int_equal(fchown(fd, owners[i], owners[i]), 0);
		assert_int_equal(fchmod(fd, 0700), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
		assert_string_equal(run_in(paths[i], "cat private foreign; echo x >new"),
				    "private");
		assert_int_equal(fstatat(confined.folders.shares[i], "new", &st, 0), 0);
		assert_int_equal(st.st_uid, owners[i]);
		assert_int_equal(st.st_gid, owners[i]);
	}
	assert_string_equal(run_in(paths[0], TRY_ALL), "");
}

static void a_share_of_roots_is_read_only_too(void **state)
{
	int fd = share("notes", false);

	(void)state;
	if (geteuid() != 0 || !can_map_owners())
		skip();
	scratch_write(fd, "private", "private");
	assert_string_equal(run_in(paths[0], "cat private; echo x >private; echo x >new; ls"),
			    "privateprivate\n");
}

static void check_refused(enum err_code code)
{
	confined_start("true");
	confined_wait();
	assert_string_equal(fixture.said, "failed ");
	assert_int_equal(fixture.err.code, code);
}

static void roots_writable_share_needs_owners_that_map(void **state)
{
	(void)state;
	if (geteuid() != 0 || can_map_owners())
		skip();
	(void)share_anyway("project", true);
	check_refused(ERR_UNSUPPORTED);
	assert_non_null(strstr(fixture.err.msg, "as the folder's owner"));
}

static void a_share_that_was_replaced_is_refused(void **state)
{
	(void)state;
	(void)share("project", false);
	assert_int_equal(renameat(confined.scratch.fd, "project", confined.scratch.fd, "old"), 0);
	assert_int_equal(mkdirat(confined.scratch.fd, "project", 0777), 0);
	check_refused(ERR_DENIED);
}

static void a_share_that_a_link_leads_to_is_refused(void **state)
{
	(void)state;
	(void)share("project", false);
	assert_int_equal(renameat(confined.scratch.fd, "project", confined.scratch.fd, "old"), 0);
	assert_int_equal(symlinkat("old", confined.scratch.fd, "project"), 0);
	check_refused(ERR_SYSTEM);
}

static void what_would_hide_the_sandboxs_own_tree_is_refused(void **state)
{
	static const char *const reserved[] = { "/tmp", "/proc/sys", "/usr", "/dev/shm", "/etc" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++) {
		cleanup_fd int fd = open(reserved[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		confined.policy.shares[0] = (struct policy_share){ reserved[i], false };
		confined.policy.share_count = 1;
		confined.folders.shares[0] = fd;
		check_refused(ERR_DENIED);
		sandbox_close(fixture.sandbox, NULL, NULL);
		fixture.sandbox = NULL;
		memset(&fixture.err, 0, sizeof(fixture.err));
	}
	confined.policy.share_count = 0;
}

/* ---- protected names ---- */

/* Waits until the launcher, having seen init's end, has removed the placeholder. */
static void await_removal(int dir, const char *name)
{
	patience_until(!exists(dir, name));
}

static void names_that_command_other_programs_cannot_be_made(void **state)
{
	static const char *const names[] = { ".git",    ".mcp.json", ".claude",
					     ".vscode", ".envrc",    ".cursor" };
	int fd = share("project", true);

	(void)state;
	assert_string_equal(run_in(paths[0], TRY_ALL "echo x >free; ls"), "free\n");
	fixture_close_sandbox();
	assert_true(exists(fd, "free"));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		await_removal(fd, names[i]);
}

static void names_that_are_there_stay_as_they_are(void **state)
{
	int fd = share("project", true);
	struct stat before;
	struct stat after;

	(void)state;
	assert_int_equal(mkdirat(fd, ".claude", 0777), 0);
	scratch_write(fd, ".claude/settings.json", "{}");
	scratch_write(fd, ".mcp.json", "{}");
	scratch_write(fd, ".envrc", "export A=1");
	assert_int_equal(fchmodat(fd, ".envrc", 0666, 0), 0);
	assert_int_equal(fstatat(fd, ".envrc", &before, 0), 0);
	assert_string_equal(run_in(paths[0], TRY_ALL "cat .envrc"), "export A=1");
	fixture_close_sandbox();
	assert_int_equal(fstatat(fd, ".envrc", &after, 0), 0);
	assert_int_equal(after.st_mtime, before.st_mtime);
	assert_int_equal(after.st_ctime, before.st_ctime);
	assert_true(exists(fd, ".claude/settings.json"));
	assert_true(exists(fd, ".mcp.json"));
}

/* Makes a repository without git, which may be missing here. */
static void make_repository(int dir, const char *name)
{
	char path[200];

	(void)snprintf(path, sizeof(path), "%s/.git", name);
	scratch_check(mkdirat(dir, path, 0777) == 0, path);
	scratch_check(fchmodat(dir, path, 0777, 0) == 0, path);
	(void)snprintf(path, sizeof(path), "%s/.git/config", name);
	scratch_write(dir, path, "[core]\n");
	scratch_check(fchmodat(dir, path, 0666, 0) == 0, path);
}

static void a_repository_can_be_used_but_not_armed(void **state)
{
	int fd = share("project", true);

	(void)state;
	make_repository(fd, ".");
	assert_string_equal(
		run_in(paths[0],
		       "(echo x >>.git/config) && echo config; (echo x >.git/hooks/a) "
		       "&& echo hook; mkdir .git/hooks && echo hooks; mv .git g && "
		       "echo moved; mkdir .git/objects && echo x >.git/HEAD && ls -1 .git; "
		       "cat .git/config"),
		"HEAD\ncommondir\nconfig\nconfig.worktree\nhooks\nobjects\n[core]\n");
	fixture_close_sandbox();
	assert_true(exists(fd, ".git/HEAD"));
	await_removal(fd, ".git/hooks");
}

static void deeper_names_that_exist_are_protected(void **state)
{
	int fd = share("project", true);

	(void)state;
	assert_int_equal(mkdirat(fd, "a", 0777), 0);
	assert_int_equal(mkdirat(fd, "a/b", 0777), 0);
	assert_int_equal(fchmodat(fd, "a", 0777, 0) + fchmodat(fd, "a/b", 0777, 0), 0);
	make_repository(fd, "a/b");
	scratch_write(fd, "a/.envrc", "");
	assert_string_equal(run_in(paths[0],
				   "(echo x >>a/b/.git/config) && echo config; rm -f a/.envrc; "
				   "ls -1A a; echo x >a/b/free && cat a/b/free"),
			    ".envrc\nb\nx\n");
}

static void what_leads_to_a_protected_name_cannot_be_moved_away(void **state)
{
	static const char deep[] = "d/d/d/d/d/d/d/d/d";
	char folder[sizeof(deep)];
	char script[300];
	int fd = share("project", true);

	(void)state;
	assert_int_equal(mkdirat(fd, "free", 0777) + fchmodat(fd, "free", 0777, 0), 0);
	for (int len = 1; len < (int)sizeof(deep); len += 2) {
		(void)snprintf(folder, sizeof(folder), "%.*s", len, deep);
		assert_int_equal(mkdirat(fd, folder, 0777) + fchmodat(fd, folder, 0777, 0), 0);
	}
	make_repository(fd, deep);
	(void)snprintf(script, sizeof(script),
		       "mv d e && echo moved; mv d/d d/e && echo below; mv %s %s-e && echo deep; "
		       "(echo x >>%s/.git/config) && echo config; mv free f && ls -1; echo x >%s/y",
		       deep, deep, deep, deep);
	assert_string_equal(run_in(paths[0], script), "d\nf\n");
}

static void a_package_with_a_protected_name_can_be_moved(void **state)
{
	static const char *const folders[] = { "node_modules", "node_modules/p",
					       "node_modules/p/.vscode" };
	int fd = share("project", true);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		assert_int_equal(mkdirat(fd, folders[i], 0777) + fchmodat(fd, folders[i], 0777, 0),
				 0);
	scratch_write(fd, "node_modules/p/.vscode/tasks.json", "{}");
	assert_string_equal(run_in(paths[0],
				   "(echo x >node_modules/p/.vscode/tasks.json) && echo wrote; mv "
				   "node_modules/p node_modules/.p-1 && ls -A node_modules"),
			    ".p-1\n");
}

/* Submodules with any name, one with a slash in it, and a bare repository. */
static void repositories_in_a_repository_are_protected(void **state)
{
	static const char *const places[] = { ".git/modules/lib",
					      ".git/modules/a/b",
					      ".git/modules/info",
					      ".git/modules/objects",
					      ".git/modules/c/logs",
					      ".git/worktrees/w",
					      "bare" };
	int fd = share("project", true);

	(void)state;
	make_repository(fd, ".");
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char path[200];

		for (const char *slash = places[i];; slash++) {
			slash += strcspn(slash, "/");
			(void)snprintf(path, sizeof(path), "%.*s", (int)(slash - places[i]),
				       places[i]);
			(void)mkdirat(fd, path, 0777);
			assert_int_equal(fchmodat(fd, path, 0777, 0), 0);
			if (*slash == '\0')
				break;
		}
		(void)snprintf(path, sizeof(path), "%s/objects", places[i]);
		assert_int_equal(mkdirat(fd, path, 0777), 0);
		for (size_t j = 0; j < 2; j++) {
			(void)snprintf(path, sizeof(path), "%s/%s", places[i],
				       j == 0 ? "HEAD" : "config");
			scratch_write(fd, path, "");
			assert_int_equal(fchmodat(fd, path, 0666, 0), 0);
		}
	}
	assert_string_equal(
		run_in(paths[0],
		       "for d in .git/modules/*/ .git/modules/[ac]/*/ .git/worktrees/w bare; do "
		       "d=${d%/}; case $d in */[ac]) continue;; esac; "
		       "(echo x >>$d/config) && echo config $d; mv $d x && echo moved $d; "
		       "echo x >>$d/HEAD || echo head $d; test $d = bare || { "
		       "(echo ../../x >$d/commondir) && echo common $d; mkdir $d/hooks && "
		       "echo hooks $d; }; done; mv .git/modules m && echo modules"),
		"");
	fixture_close_sandbox();
	await_removal(fd, ".git/modules/a/b/commondir");
	await_removal(fd, ".git/worktrees/w/hooks");
	await_removal(fd, "bare/hooks");
}

static void a_planted_link_in_place_of_a_name_is_not_followed(void **state)
{
	int fd = share("project", true);
	int other = share("other", true);

	(void)state;
	scratch_write(other, "target", "");
	assert_int_equal(symlinkat("../other", fd, ".claude"), 0);
	confined_start("true");
	confined_wait();
	/*
	 * Either the link itself is mounted or the session does not start; its target stays free.
	 */
	if (strstr(fixture.said, "failed") == NULL)
		assert_string_equal(run_in(paths[0],
					   "ln -sfn /tmp .claude && echo linked; rm .claude && "
					   "echo removed; touch ../other/free && ls -1 ../other"),
				    "free\ntarget\n");
}

static bool closed;

static void on_closed(void *data)
{
	(void)data;
	closed = true;
}

static void placeholders_stay_until_the_last_session_is_gone(void **state)
{
	int fd = share("project", true);
	struct sandbox *first;

	(void)state;
	(void)confined_run("true");
	first = fixture.sandbox;
	confined_open();
	(void)confined_run("true");
	closed = false;
	sandbox_close(first, on_closed, NULL);
	while (!closed)
		loop_turn(fixture.loop, 100);
	assert_true(exists(fd, ".mcp.json"));
	assert_string_equal(run_in(paths[0], TRY_ALL), "");
	fixture_close_sandbox();
	await_removal(fd, ".mcp.json");
}

static void a_placeholder_that_a_dead_launcher_left_goes_with_the_next_session(void **state)
{
	int fd = share("project", true);

	(void)state;
	assert_int_equal(mkdirat(fd, ".vscode", 0700), 0);
	assert_int_equal(fchmodat(fd, ".vscode", 01555, 0), 0);
	(void)confined_run("true");
	fixture_close_sandbox();
	await_removal(fd, ".vscode");
}

static void interpreters_folders_are_read_only_at_their_own_path(void **state)
{
	char path[100];

	(void)state;
	assert_int_equal(fchmod(confined.scratch.fd, 0755), 0);
	assert_int_equal(mkdirat(confined.scratch.fd, "env", 0777), 0);
	(void)snprintf(path, sizeof(path), "%s/env", confined.scratch.path);
	confined.policy.runtimes[0] = path;
	confined.policy.runtimes[1] = "/usr/lib";
	confined.policy.runtime_count = 2;
	assert_string_equal(run_in(path, "touch x || echo read-only; ls -1A .. "),
			    "read-only\nenv\n");
}

#define SHARE_TEST(f) cmocka_unit_test_setup_teardown(f, confined_set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHARE_TEST(a_share_is_read_only_at_its_own_path),
		SHARE_TEST(a_writable_share_is_the_users_own_folder),
		SHARE_TEST(a_share_within_a_share_has_its_own_rights),
		SHARE_TEST(a_sealed_share_is_read_only_until_the_seal_is_lifted),
		SHARE_TEST(a_running_shell_can_write_when_the_seal_is_lifted),
		SHARE_TEST(a_seal_of_a_dead_sandbox_is_not_lifted),
		SHARE_TEST(a_root_servers_session_has_its_owners_rights_in_a_share),
		SHARE_TEST(a_share_of_roots_is_read_only_too),
		SHARE_TEST(roots_writable_share_needs_owners_that_map),
		SHARE_TEST(a_share_that_was_replaced_is_refused),
		SHARE_TEST(a_share_that_a_link_leads_to_is_refused),
		SHARE_TEST(what_would_hide_the_sandboxs_own_tree_is_refused),
		SHARE_TEST(names_that_command_other_programs_cannot_be_made),
		SHARE_TEST(names_that_are_there_stay_as_they_are),
		SHARE_TEST(a_repository_can_be_used_but_not_armed),
		SHARE_TEST(deeper_names_that_exist_are_protected),
		SHARE_TEST(what_leads_to_a_protected_name_cannot_be_moved_away),
		SHARE_TEST(a_package_with_a_protected_name_can_be_moved),
		SHARE_TEST(repositories_in_a_repository_are_protected),
		SHARE_TEST(a_planted_link_in_place_of_a_name_is_not_followed),
		SHARE_TEST(placeholders_stay_until_the_last_session_is_gone),
		SHARE_TEST(a_placeholder_that_a_dead_launcher_left_goes_with_the_next_session),
		SHARE_TEST(interpreters_folders_are_read_only_at_their_own_path),
	};
	int skipped = confined_check();

	return skipped != 0 ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
