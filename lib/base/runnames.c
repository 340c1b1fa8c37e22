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
enum right { UNLISTED, KEPT, FILE_THERE, THERE, HELD };

/*
 * Both files and folders. Names that only describe are not listed: .gitignore, .gitattributes,
 * .github.
 */
static const char *const held[] = {
	".git", ".envrc", ".vscode", ".claude", ".cursor", ".mcp.json"
};
static const struct {
	enum right right;
	const char *names; /* a blank between two */
} others[] = {
	/* version control */
	{ THERE,
	  ".gitconfig .hgrc .husky .pre-commit-config.yaml .pre-commit-config.yml "
	  "lefthook.yml .lefthook.yml lefthook.yaml .lefthook.yaml lefthook.toml .lefthook.toml "
	  "lefthook.json .lefthook.json lefthook.jsonc .lefthook.jsonc "
	  "lefthook-local.yml .lefthook-local.yml lefthook-local.yaml .lefthook-local.yaml "
	  "lefthook-local.toml .lefthook-local.toml lefthook-local.json .lefthook-local.json "
	  "lefthook-local.jsonc .lefthook-local.jsonc .lefthook .lefthook-local" },
	{ KEPT, ".gitmodules .hg .sl .svn .bzr .jj .pijul" },
	/* shells, and programs that watch the current folder */
	{ FILE_THERE, ".env" },
	{ THERE, ".autoenv .autoenv.zsh .bashrc .bash_profile .bash_login .bash_logout .profile "
		 ".zshrc .zshenv .zprofile .zlogin .zlogout .inputrc .tmux.conf .screenrc .mise "
		 ".mise.toml mise.toml .mise.local.toml mise.local.toml .rtx.toml .tool-versions "
		 ".shadowenv.d .rvmrc" },
	/* editors and assistants */
	{ THERE,
	  ".idea .zed .fleet .devcontainer .devcontainer.json .gemini .codex .kiro .windsurf "
	  ".qwen .opencode opencode.json opencode.jsonc .crush.json crush.json .roo .kilocode "
	  ".continue .amazonq .trae .aider.conf.yml .vs .helix .exrc .vimrc .nvimrc .nvim.lua "
	  ".lvimrc .local.vimrc .pylintrc .pylintrc.toml pylintrc pylintrc.toml .lintr "
	  ".dir-locals.el .dir-locals-2.el .vim .ropeproject hie.yaml .clinerules .factory" },
	/* interpreters and debuggers */
	{ THERE, ".Rprofile .Renviron .RData .pdbrc .irbrc .pryrc .octaverc .ghci .ocamlinit "
		 ".gdbinit .lldbinit .erlang .iex.exs startup.m" },
	/* package managers and builds */
	{ THERE, ".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .bunfig.toml bunfig.toml .cargo .mvn "
		 ".bazelrc .bundle" },
};

typedef int compare_fn(const char *a, const char *b, size_t len);

static bool is_word_of(const char *words, const char *name, size_t len, compare_fn *compare)
{
	for (size_t word; *words != '\0'; words += word + strspn(words + word, " ")) {
		word = strcspn(words, " ");
		if (word == len && compare(words, name, len) == 0)
			return true;
	}
	return false;
}

static enum right right_of(const char *name, size_t len, compare_fn *compare)
{
	for (size_t i = 0; i < ARRAY_SIZE(held); i++)
		if (strlen(held[i]) == len && compare(held[i], name, len) == 0)
			return HELD;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (is_word_of(others[i].names, name, len, compare))
			return others[i].right;
	return UNLISTED;
}

/* Returns the length of a name without what FAT, exFAT and SMB drop when a file is made. */
static size_t made_len(const char *name, size_t len)
{
	while (len > 0 && strchr(". ", name[len - 1]) != NULL)
		len--;
	return len;
}

/* Returns whether a name is HEAD. A folder of that name makes no repository. */
static bool is_head(const char *name, size_t len)
{
	return len == strlen("HEAD") && strncasecmp(name, "HEAD", len) == 0;
}

/* Returns whether a part of a path has to be altered. */
static bool commands(const char *name, size_t len)
{
	size_t made = made_len(name, len);

	return right_of(name, made, strncasecmp) != UNLISTED ||
	       (name[len] == '\0' && is_head(name, made));
}

char *runnames_alter(const char *path)
{
	cleanup_buf struct buf altered = BUF_INIT(BUF_UNBOUNDED);
	bool any = false;

	for (const char *name = path;; name++) {
		size_t len = strcspn(name, "/");

		if (commands(name, len)) {
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
	return index < ARRAY_SIZE(held) ? held[index] : NULL;
}

bool runnames_is_held(const char *name)
{
	return right_of(name, strlen(name), strncmp) == HELD;
}

bool runnames_stays(const char *name, bool is_folder)
{
	enum right right = right_of(name, strlen(name), strncmp);

	return right >= THERE || (right == FILE_THERE && !is_folder);
}

const char *runnames_inside(const char *folder, size_t index)
{
	/* Settings, and files that point to others. */
	static const char *const paths[] = { ".hg/hgrc",
					     ".hg/hgrc-not-shared",
					     ".hg/requires",
					     ".hg/sharedpath",
					     ".sl/config",
					     ".sl/sharedpath",
					     ".pijul/config",
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
