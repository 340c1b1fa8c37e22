/* SPDX-License-Identifier: MIT */
#include "base/runnames.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"

/* Files and folders alike. Not those that only describe: .gitignore, .gitattributes, .github. */
static const struct runname {
	const char *name;
	bool held;
} names[] = {
	/* version control */
	{ ".git", true },
	{ ".gitconfig", false },
	{ ".gitmodules", false },
	{ ".hg", false },
	{ ".hgrc", false },
	{ ".svn", false },
	{ ".bzr", false },
	{ ".jj", false },
	{ ".husky", false },
	{ ".pre-commit-config.yaml", false },
	{ ".pre-commit-config.yml", false },
	{ "lefthook.yml", false },
	{ ".lefthook.yml", false },
	/* shells, and what watches where they are */
	{ ".envrc", true },
	{ ".env", false },
	{ ".autoenv", false },
	{ ".autoenv.zsh", false },
	{ ".bashrc", false },
	{ ".bash_profile", false },
	{ ".bash_login", false },
	{ ".bash_logout", false },
	{ ".profile", false },
	{ ".zshrc", false },
	{ ".zshenv", false },
	{ ".zprofile", false },
	{ ".zlogin", false },
	{ ".zlogout", false },
	{ ".inputrc", false },
	{ ".tmux.conf", false },
	{ ".screenrc", false },
	{ ".mise", false },
	{ ".mise.toml", false },
	{ "mise.toml", false },
	{ ".mise.local.toml", false },
	{ "mise.local.toml", false },
	{ ".rtx.toml", false },
	{ ".tool-versions", false },
	{ ".shadowenv.d", false },
	/* editors and assistants */
	{ ".vscode", true },
	{ ".idea", false },
	{ ".zed", false },
	{ ".fleet", false },
	{ ".devcontainer", false },
	{ ".devcontainer.json", false },
	{ ".claude", true },
	{ ".cursor", true },
	{ ".gemini", false },
	{ ".codex", false },
	{ ".kiro", false },
	{ ".windsurf", false },
	{ ".qwen", false },
	{ ".opencode", false },
	{ "opencode.json", false },
	{ "opencode.jsonc", false },
	{ ".crush.json", false },
	{ "crush.json", false },
	{ ".roo", false },
	{ ".kilocode", false },
	{ ".continue", false },
	{ ".amazonq", false },
	{ ".trae", false },
	{ ".aider.conf.yml", false },
	{ ".vs", false },
	{ ".helix", false },
	{ ".mcp.json", true },
	{ ".exrc", false },
	{ ".vimrc", false },
	{ ".nvimrc", false },
	{ ".nvim.lua", false },
	{ ".lvimrc", false },
	{ ".local.vimrc", false },
	{ ".pylintrc", false },
	{ ".lintr", false },
	{ ".dir-locals.el", false },
	{ ".dir-locals-2.el", false },
	/* interpreters and debuggers */
	{ ".Rprofile", false },
	{ ".Renviron", false },
	{ ".RData", false },
	{ ".pdbrc", false },
	{ ".irbrc", false },
	{ ".pryrc", false },
	{ ".octaverc", false },
	{ ".ghci", false },
	{ ".ocamlinit", false },
	{ ".gdbinit", false },
	{ ".lldbinit", false },
	/* package managers and builds */
	{ ".npmrc", false },
	{ ".yarnrc", false },
	{ ".yarnrc.yml", false },
	{ ".pnpmfile.cjs", false },
	{ ".bunfig.toml", false },
	{ "bunfig.toml", false },
	{ ".cargo", false },
	{ ".mvn", false },
	{ ".bazelrc", false },
	{ ".bundle", false },
};

static bool is_one(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i].name) == len && strncasecmp(name, names[i].name, len) == 0)
			return true;
	return false;
}

/* Of a file only: a folder of that name makes no repository. */
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
		if (names[i].held && index-- == 0)
			return names[i].name;
	return NULL;
}

bool runnames_is_held(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].held && str_eq(names[i].name, name))
			return true;
	return false;
}
