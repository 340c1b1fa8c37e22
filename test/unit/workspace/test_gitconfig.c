/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/util.h"
#include "workspace/gitconfig.h"

static void add(void *data, const char *entry)
{
	struct buf *entries = data;

	buf_putf(entries, "%s%s", entries->len > 0 ? "|" : "", entry);
}

static void assert_foreign(const char *text, const char *expected)
{
	cleanup_buf struct buf entries = BUF_INIT(BUF_UNBOUNDED);

	gitconfig_each_foreign(text, strlen(text), add, &entries);
	assert_string_equal(buf_str(&entries), expected);
}

static void what_git_writes_is_not_foreign(void **state)
{
	(void)state;
	assert_foreign("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
		       "\tlogallrefupdates = true\n[remote \"origin\"]\n"
		       "\turl = https://example.com/a/b.git\n"
		       "\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
		       "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
		       "");
	assert_foreign("[submodule \"a.b\"]\n\turl = ../b\n\tactive = true\n\tupdate = merge\n"
		       "[user]\n\tname = \"A # B\" ; who\n\temail = a@b\n# end\n\n;\n",
		       "");
	assert_foreign("[remote \"o\"]\nurl = git@example.com:a/b\npushurl = ssh://h/x\n"
		       "[remote \"p\"]\nurl = /srv/x.git\n[remote \"q\"]\nurl = file:///x\r\n",
		       "");
}

/* They write these by themselves, beside a session: a config that has them must stay. */
static void what_editors_and_hosts_programs_write_is_not_foreign(void **state)
{
	(void)state;
	assert_foreign("[branch \"main\"]\n\tvscode-merge-base = origin/main\n"
		       "\tgk-last-accessed = 2025-12-25T17:17:54.154Z\n"
		       "\tgk-last-modified = 2025-12-25T17:17:54.154Z\n"
		       "\tgk-merge-base = origin/main\n\tgk-merge-target = origin/main\n"
		       "\tgithub-pr-owner-number = \"o#r#1\"\n"
		       "\tgithub-pr-base-branch = \"o#r#main\"\n",
		       "");
	assert_foreign("[remote \"o\"]\n\tgithub-pr-remote = true\n\tglab-resolved = base\n"
		       "[lfs \"https://example.com/a/b.git/info/lfs\"]\n\taccess = basic\n"
		       "\tlocksverify = true\n[gui]\n\twmstate = normal\n"
		       "\tgeometry = 887x427+8+31 171 192\n",
		       "");
}

/* The user may set these beside a session: a config that has them must stay. */
static void what_shows_signs_or_sorts_is_not_foreign(void **state)
{
	(void)state;
	assert_foreign("[commit]\n\tgpgSign = true\n\tverbose = true\n[tag]\n\tgpgSign = true\n"
		       "\tsort = -version:refname\n[user]\n\tsigningKey = ~/.ssh/id.pub\n"
		       "[log]\n\tdate = iso\n[branch]\n\tsort = -committerdate\n"
		       "[rerere]\n\tenabled = true\n[rebase]\n\tautoStash = true\n"
		       "[blame]\n\tignoreRevsFile = .git-blame-ignore-revs\n",
		       "");
	assert_foreign("[rebase]\n\tinstructionFormat = %nexec id\n[commit]\n\ttemplate = x\n"
		       "[gpg]\n\tprogram = x\n",
		       "rebase.instructionformat=%nexec id|commit.template=x|gpg.program=x");
}

/* An editor hands them to git, which takes one that begins with "-" for an option. */
static void what_editors_hand_to_git_is_no_option(void **state)
{
	(void)state;
	assert_foreign("[branch \"m\"]\nvscode-merge-base = --output=x\n"
		       "gk-merge-target = --output=x\ngh-merge-base = -x\n",
		       "branch.m.vscode-merge-base=--output=x|branch.m.gk-merge-target=--output=x|"
		       "branch.m.gh-merge-base=-x");
}

static void what_runs_a_program_is_foreign(void **state)
{
	(void)state;
	assert_foreign("[core]\n\tfsmonitor = \"id; false\"\n", "core.fsmonitor=id; false");
	assert_foreign("[CORE]\n\tFsMonitor=x\n", "core.fsmonitor=x");
	assert_foreign("[include]\npath = a\n[includeIf \"gitdir:x\"]\npath = b\n",
		       "include.path=a|includeif.gitdir:x.path=b");
	assert_foreign("[filter \"x\"]\nclean = id\n[alias]\nst = !id\n",
		       "filter.x.clean=id|alias.st=!id");
	assert_foreign("[remote \"o\"]\nuploadpack = id\nvcs = x\n",
		       "remote.o.uploadpack=id|remote.o.vcs=x");
	assert_foreign("[submodule \"s\"]\nupdate = !id\n", "submodule.s.update=!id");
	assert_foreign("[core]\nworktree = ../x\n", GITCONFIG_WORKTREE "../x");
}

static void addresses_run_no_helper(void **state)
{
	(void)state;
	assert_foreign("[remote \"o\"]\nurl = ext::sh -c id\n", "remote.o.url=ext::sh -c id");
	assert_foreign("[remote \"o\"]\nurl = \"ext\":\":sh\"\n", "remote.o.url=ext::sh");
	assert_foreign("[remote \"o\"]\nurl = --upload-pack=id\n", "remote.o.url=--upload-pack=id");
	assert_foreign("[remote \"o\"]\nurl = ssh://-oProxyCommand=id/x\n",
		       "remote.o.url=ssh://-oProxyCommand=id/x");
	assert_foreign("[branch \"m\"]\nremote = hg::x\n", "branch.m.remote=hg::x");
	assert_foreign("[remote \"o\"]\nurl = foo://x\n", "remote.o.url=foo://x");
}

/* git fetches from each remote by its name, and takes one that begins with "-" for an option. */
static void names_of_remotes_are_addresses(void **state)
{
	(void)state;
	assert_foreign("[remote \"--upload-pack=id\"]\nfetch = x\n",
		       "remote.--upload-pack=id.fetch=x");
	assert_foreign("[remote \"ext::id\"]\npromisor = true\n", "remote.ext::id.promisor=true");
	assert_foreign("[remote \"../server-a/sessions/x\"]\nprune = true\n",
		       "remote.../server-a/sessions/x.prune=true");
	assert_foreign("[extensions]\npartialClone = --upload-pack=id\n",
		       "extensions.partialclone=--upload-pack=id");
	assert_foreign("[extensions]\npartialClone = origin\n[remote \"a/b.c\"]\npromisor = true\n"
		       "[branch \"--x\"]\nmerge = refs/heads/x\n",
		       "");
}

static void no_address_is_a_folder_of_a_session(void **state)
{
	(void)state;
	assert_foreign("[remote \"o\"]\nurl = /h/c/server-ab/sessions/x/data/r\n",
		       "remote.o.url=/h/c/server-ab/sessions/x/data/r");
	assert_foreign("[remote \"o\"]\nurl = /h/c/resume/abcdefghijklmno2/data/r\n",
		       "remote.o.url=/h/c/resume/abcdefghijklmno2/data/r");
	assert_foreign("[remote \"o\"]\nurl = file:///h/c/resume/x/../abcdefghijklmno2%2Fdata\n",
		       "remote.o.url=file:///h/c/resume/x/../abcdefghijklmno2%2Fdata");
	assert_foreign("[remote \"o\"]\nurl = ../x/server-ab/./sessions//y\n",
		       "remote.o.url=../x/server-ab/./sessions//y");
	assert_foreign("[remote \"o\"]\nurl = file:///h/server-ab/%73essions/y\n",
		       "remote.o.url=file:///h/server-ab/%73essions/y");
	assert_foreign("[branch \"m\"]\nremote = /proc/7/cwd/r\n", "branch.m.remote=/proc/7/cwd/r");
	assert_foreign("[remote \"o\"]\nurl = /dev/fd/../../7/root/r\n",
		       "remote.o.url=/dev/fd/../../7/root/r");
	assert_foreign("[remote \"o\"]\nurl = file:///dev/.//%66d/../../7/root/r\n",
		       "remote.o.url=file:///dev/.//%66d/../../7/root/r");
	assert_foreign("[remote \"o\"]\nurl = x/fd/./../../7/root/r\n",
		       "remote.o.url=x/fd/./../../7/root/r");
	assert_foreign("[remote \"o\"]\nurl = /srv/dev/x/fd\npushurl = ../fd/r\n", "");
	assert_foreign("[remote \"o\"]\nurl = https://h/server-a/sessions/proc\n"
		       "pushurl = /srv/server-a/sessions-old\nurl = ../sessions\n"
		       "url = ../resume/letter\npushurl = /srv/abcdefghijklmno2/r\n",
		       "");
}

static void what_git_does_not_write_is_not_understood(void **state)
{
	(void)state;
	assert_foreign("[core] fsmonitor = x\n", "core.fsmonitor=x|?[core] fsmonitor = x");
	assert_foreign("[core] bare = true # x\n", "?[core] bare = true # x");
	assert_foreign("[core]\nbare = false \\\n", "?bare = false \\");
	assert_foreign("[core]\nbare = \"false\n", "?bare = \"false");
	assert_foreign("[core]\nbare = \\q\n", "?bare = \\q");
	assert_foreign("[core]\nworktree = a\\nb\\\"\n", GITCONFIG_WORKTREE "a\nb\"");
	assert_foreign("[branch.main]\n", "?[branch.main]");
	assert_foreign("bare = true\n", "?bare = true");
	assert_foreign("[core\n", "?[core");
	assert_foreign("[remote \"a\n", "?[remote \"a");
	assert_foreign("\xef\xbb\xbf[core]\n", "?\xef\xbb\xbf[core]");
}

static void a_zero_byte_is_foreign(void **state)
{
	cleanup_buf struct buf entries = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	gitconfig_each_foreign("# a\0b\n", 6, add, &entries);
	assert_string_equal(buf_str(&entries), "?\\0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_git_writes_is_not_foreign),
		cmocka_unit_test(what_editors_and_hosts_programs_write_is_not_foreign),
		cmocka_unit_test(what_shows_signs_or_sorts_is_not_foreign),
		cmocka_unit_test(what_editors_hand_to_git_is_no_option),
		cmocka_unit_test(what_runs_a_program_is_foreign),
		cmocka_unit_test(addresses_run_no_helper),
		cmocka_unit_test(names_of_remotes_are_addresses),
		cmocka_unit_test(no_address_is_a_folder_of_a_session),
		cmocka_unit_test(what_git_does_not_write_is_not_understood),
		cmocka_unit_test(a_zero_byte_is_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
