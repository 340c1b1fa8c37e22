/* SPDX-License-Identifier: MIT */
/*
 * runnames.c - the table of such names and the rights of session code to each. Names are compared
 * in any case when results are kept, because the user's disk may ignore case (macOS, Windows
 * shares). On the session's own disk case matters.
 */
#include "base/runnames.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"

/*
 * The rights of session code to a name in a folder that it may write.
 *
 * KEPT: it may create and change it, as programs of version control do all the time. FILE_THERE: it
 * may change it if it is a folder, as an environment of Python is. THERE: it may only create it.
 * HELD: it may do neither.
 */
enum right { KEPT, FILE_THERE, THERE, HELD };

/*
 * Both files and folders. Names that only describe are not listed: .gitignore, .gitattributes,
 * .github.
 */
static const struct runname {
	const char *name;
	enum right right;
} names[] = {
	/* version control */
	{ ".git", HELD },
	{ ".gitconfig", THERE },
	{ ".gitmodules", KEPT },
	{ ".hg", KEPT },
	{ ".hgrc", THERE },
	{ ".svn", KEPT },
	{ ".bzr", KEPT },
	{ ".jj", KEPT },
	{ ".husky", THERE },
	{ ".pre-commit-config.yaml", THERE },
	{ ".pre-commit-config.yml", THERE },
	{ "lefthook.yml", THERE },
	{ ".lefthook.yml", THERE },
	/* shells, and programs that watch the current folder */
	{ ".envrc", HELD },
	{ ".env", FILE_THERE },
	{ ".autoenv", THERE },
	{ ".autoenv.zsh", THERE },
	{ ".bashrc", THERE },
	{ ".bash_profile", THERE },
	{ ".bash_login", THERE },
	{ ".bash_logout", THERE },
	{ ".profile", THERE },
	{ ".zshrc", THERE },
	{ ".zshenv", THERE },
	{ ".zprofile", THERE },
	{ ".zlogin", THERE },
	{ ".zlogout", THERE },
	{ ".inputrc", THERE },
	{ ".tmux.conf", THERE },
	{ ".screenrc", THERE },
	{ ".mise", THERE },
	{ ".mise.toml", THERE },
	{ "mise.toml", THERE },
	{ ".mise.local.toml", THERE },
	{ "mise.local.toml", THERE },
	{ ".rtx.toml", THERE },
	{ ".tool-versions", THERE },
	{ ".shadowenv.d", THERE },
	/* editors and assistants */
	{ ".vscode", HELD },
	{ ".idea", THERE },
	{ ".zed", THERE },
	{ ".fleet", THERE },
	{ ".devcontainer", THERE },
	{ ".devcontainer.json", THERE },
	{ ".claude", HELD },
	{ ".cursor", HELD },
	{ ".gemini", THERE },
	{ ".codex", THERE },
	{ ".kiro", THERE },
	{ ".windsurf", THERE },
	{ ".qwen", THERE },
	{ ".opencode", THERE },
	{ "opencode.json", THERE },
	{ "opencode.jsonc", THERE },
	{ ".crush.json", THERE },
	{ "crush.json", THERE },
	{ ".roo", THERE },
	{ ".kilocode", THERE },
	{ ".continue", THERE },
	{ ".amazonq", THERE },
	{ ".trae", THERE },
	{ ".aider.conf.yml", THERE },
	{ ".vs", THERE },
	{ ".helix", THERE },
	{ ".mcp.json", HELD },
	{ ".exrc", THERE },
	{ ".vimrc", THERE },
	{ ".nvimrc", THERE },
	{ ".nvim.lua", THERE },
	{ ".lvimrc", THERE },
	{ ".local.vimrc", THERE },
	{ ".pylintrc", THERE },
	{ ".lintr", THERE },
	{ ".dir-locals.el", THERE },
	{ ".dir-locals-2.el", THERE },
	/* interpreters and debuggers */
	{ ".Rprofile", THERE },
	{ ".Renviron", THERE },
	{ ".RData", THERE },
	{ ".pdbrc", THERE },
	{ ".irbrc", THERE },
	{ ".pryrc", THERE },
	{ ".octaverc", THERE },
	{ ".ghci", THERE },
	{ ".ocamlinit", THERE },
	{ ".gdbinit", THERE },
	{ ".lldbinit", THERE },
	/* package managers and builds */
	{ ".npmrc", THERE },
	{ ".yarnrc", THERE },
	{ ".yarnrc.yml", THERE },
	{ ".pnpmfile.cjs", THERE },
	{ ".bunfig.toml", THERE },
	{ "bunfig.toml", THERE },
	{ ".cargo", THERE },
	{ ".mvn", THERE },
	{ ".bazelrc", THERE },
	{ ".bundle", THERE },
};

static bool is_one(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i].name) == len && strncasecmp(name, names[i].name, len) == 0)
			return true;
	return false;
}

/* Returns whether the last part of a path is HEAD. A folder of that name makes no repository. */
static bool is_head(const char *name, size_t len)
{
	return name[len] == '\0' && strcasecmp(name, "HEAD") == 0;
}

char *runnames_alter(const char *path)
{
	cleanup_buf struct buf altered = BUF_INIT(BUF_UNBOUNDED);
	bool any = false;

	for (const char *name = path;; name++) {
		size_t len = strcspn(name, "/");

		if (is_one(name, len) || is_head(name, len)) {
			buf_puts(&altered, RUNNAMES_MARK);
			any = true;
		}
		buf_put(&altered, name, len);
		name += len;
		if (*name == '\0')
			break;
		buf_puts(&altered, "/");
	}
	return any ? xstrdup(buf_str(&altered)) : NULL;
}

const char *runnames_held(size_t index)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].right == HELD && index-- == 0)
			return names[i].name;
	return NULL;
}

static enum right right_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(names[i].name, name))
			return names[i].right;
	return KEPT;
}

bool runnames_is_held(const char *name)
{
	return right_of(name) == HELD;
}

bool runnames_stays(const char *name, bool is_folder)
{
	enum right right = right_of(name);

	return right >= THERE || (right == FILE_THERE && !is_folder);
}

const char *runnames_inside(const char *folder, size_t index)
{
	/* Settings, and files that point to others. */
	static const char *const paths[] = { ".hg/hgrc",
					     ".hg/hgrc-not-shared",
					     ".hg/requires",
					     ".hg/sharedpath",
					     ".jj/repo",
					     ".jj/repo/config.toml",
					     ".jj/repo/store/git_target",
					     ".jj/workspace-config.toml",
					     ".bzr/branch/branch.conf",
					     ".bzr/branch/location" };
	size_t len = strlen(folder);

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (strncmp(paths[i], folder, len) == 0 && paths[i][len] == '/' && index-- == 0)
			return paths[i];
	return NULL;
}
