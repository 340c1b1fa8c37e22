/* SPDX-License-Identifier: MIT */
#include "workspace/runnames.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"

/* Files and folders alike. Not those that only describe: .gitignore, .gitattributes, .github. */
static const char *const names[] = {
	/* version control */
	".git",
	".gitconfig",
	".gitmodules",
	".hg",
	".hgrc",
	".svn",
	".bzr",
	".jj",
	".husky",
	".pre-commit-config.yaml",
	".pre-commit-config.yml",
	"lefthook.yml",
	".lefthook.yml",
	/* shells, and what watches where they are */
	".envrc",
	".env",
	".autoenv",
	".autoenv.zsh",
	".bashrc",
	".bash_profile",
	".bash_login",
	".bash_logout",
	".profile",
	".zshrc",
	".zshenv",
	".zprofile",
	".zlogin",
	".zlogout",
	".inputrc",
	".tmux.conf",
	".screenrc",
	".mise",
	".mise.toml",
	"mise.toml",
	".mise.local.toml",
	"mise.local.toml",
	".rtx.toml",
	".tool-versions",
	/* editors and assistants */
	".vscode",
	".idea",
	".zed",
	".fleet",
	".devcontainer",
	".devcontainer.json",
	".claude",
	".cursor",
	".gemini",
	".codex",
	".kiro",
	".windsurf",
	".mcp.json",
	".exrc",
	".vimrc",
	".nvimrc",
	".nvim.lua",
	".dir-locals.el",
	".dir-locals-2.el",
	/* interpreters and debuggers */
	".Rprofile",
	".Renviron",
	".RData",
	".pdbrc",
	".irbrc",
	".pryrc",
	".octaverc",
	".gdbinit",
	".lldbinit",
	/* package managers and builds */
	".npmrc",
	".yarnrc",
	".yarnrc.yml",
	".pnpmfile.cjs",
	".bunfig.toml",
	"bunfig.toml",
	".cargo",
	".mvn",
	".bazelrc",
	".bundle",
};

static bool is_one(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == len && strncasecmp(name, names[i], len) == 0)
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
