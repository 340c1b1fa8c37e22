/* SPDX-License-Identifier: MIT */
/*
 * gitconfig.c - compares each entry of a config with a table of trusted sections and names. The
 * table lists what is trusted, not what is dangerous, because later versions of git add options
 * that run programs.
 */
#include "workspace/gitconfig.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/gitini.h"
#include "base/mem.h"
#include "text/percent.h"
#include "workspace/home.h"
#include "workspace/lasting.h"
#include "workspace/random_name.h"

#define REMOTES "remote."

enum check { ANY, ADDRESS, UPDATE, REF };

struct row {
	const char *section; /* a "." at the end: its subsections */
	const char *names;   /* each between blanks; "*" for all */
	enum check check;
};

static const struct row rows[] = {
	{ "core",
	  " repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode "
	  "symlinks sharedrepository autocrlf eol safecrlf sparsecheckout sparsecheckoutcone "
	  "untrackedcache splitindex quotepath abbrev compression bigfilethreshold longpaths "
	  "hidedotfiles whitespace ",
	  ANY },
	{ "extensions", " partialclone ", ADDRESS },
	{ "extensions",
	  " objectformat compatobjectformat refstorage worktreeconfig preciousobjects "
	  "noop relativeworktrees ",
	  ANY },
	{ REMOTES, " url pushurl ", ADDRESS },
	{ REMOTES,
	  " fetch push tagopt prune prunetags mirror promisor partialclonefilter "
	  "skipdefaultupdate skipfetchall gh-resolved glab-resolved github-pr-remote ",
	  ANY },
	{ "remote", " pushdefault ", ADDRESS },
	{ "branch.", " remote pushremote ", ADDRESS },
	/* Editors and programs of hosts write these by themselves. */
	{ "branch.",
	  " vscode-merge-base gh-merge-base gk-merge-base gk-target-base gk-merge-target "
	  "gk-merge-target-user github-pr-base-branch ",
	  REF },
	{ "branch.",
	  " merge rebase description gk-last-accessed gk-last-modified gk-agent-last-activity "
	  "gk-associated-issues gk-disposition github-pr-owner-number ",
	  ANY },
	{ "branch", " autosetupmerge autosetuprebase sort ", ANY },
	{ "submodule.", " url ", ADDRESS },
	{ "submodule.", " update ", UPDATE },
	{ "submodule.", " active branch ignore shallow fetchrecursesubmodules ", ANY },
	{ "submodule", " active recurse fetchjobs ", ANY },
	{ "user", " name email useconfigonly signingkey ", ANY },
	{ "commit", " gpgsign verbose cleanup ", ANY },
	{ "tag", " gpgsign sort ", ANY },
	{ "log", " date decorate abbrevcommit ", ANY },
	{ "rerere", " enabled autoupdate ", ANY },
	{ "rebase", " autosquash autostash updaterefs ", ANY },
	{ "blame", " ignorerevsfile ", ANY },
	{ "init", " defaultbranch ", ANY },
	{ "pull", " rebase ff ", ANY },
	{ "push", " default autosetupremote followtags ", ANY },
	{ "fetch", " prune prunetags recursesubmodules parallel ", ANY },
	{ "merge", " ff conflictstyle renamelimit ", ANY },
	{ "diff", " renames renamelimit algorithm ", ANY },
	{ "status", " showuntrackedfiles ", ANY },
	{ "gc", " auto autodetach pruneexpire ", ANY },
	{ "maintenance", " auto strategy ", ANY },
	{ "index", " sparse version threads ", ANY },
	{ "color", "*", ANY },
	{ "advice", "*", ANY },
	{ "lfs", " repositoryformatversion ", ANY },
	{ "lfs.", " access locksverify ", ANY },
	{ "gui", " wmstate geometry ", ANY },
};

/* ---- values ---- */

/* The trusted schemes of addresses, each between blanks. */
static const char schemes[] = " https http ssh git file ";

static bool has_word(const char *words, const char *word, size_t len)
{
	const char *at = words;

	while (len > 0 && (at = memmem(at, strlen(at), word, len)) != NULL) {
		if (at > words && at[-1] == ' ' && at[len] == ' ')
			return true;
		at++;
	}
	return false;
}

static bool has_part(const char *path, const char *part, bool whole)
{
	size_t part_len = strlen(part);

	while (*path != '\0') {
		size_t len = strcspn(path, "/");

		if (len >= part_len && strncmp(path, part, part_len) == 0 &&
		    (!whole || len == part_len))
			return true;
		path += len + (path[len] == '/');
	}
	return false;
}

static bool is_part(const char *path, size_t len, const char *part)
{
	return strlen(part) == len && strncmp(path, part, len) == 0;
}

/* Returns whether a part of the path is as the name of a session's folder. */
static bool has_random_part(const char *path)
{
	while (*path != '\0') {
		size_t len = strcspn(path, "/");
		cleanup_free char *part = xmemdup(path, len);

		if (random_name_matches(part, ""))
			return true;
		path += len + (path[len] == '/');
	}
	return false;
}

bool gitconfig_passes_fd(const char *path)
{
	bool in_dev = false;
	bool in_fd = false;

	while (*path != '\0') {
		size_t len = strcspn(path, "/");
		bool is_fd = is_part(path, len, "fd");

		if ((in_dev && is_fd) || (in_fd && is_part(path, len, "..")))
			return true;
		if (len > 0 && !is_part(path, len, ".")) {
			in_dev = is_part(path, len, "dev");
			in_fd = in_fd || is_fd;
		}
		path += len + (path[len] == '/');
	}
	return false;
}

/*
 * Returns true if a path may lead to a folder of a session, which may have ended, where git would
 * run hooks of session code, or to /proc, which leads to one. The path may be relative to any
 * folder and may pass any link: an inspection leaves no link that leads there.
 */
static bool may_be_session(const char *value)
{
	cleanup_free char *path = percent_decode(value, strlen(value));
	const char *plain = path != NULL ? path : value;

	return (has_part(plain, HOME_SERVER_PREFIX, false) &&
		has_part(plain, HOME_SESSIONS, true)) ||
	       (has_part(plain, LASTING_FOLDER, true) && has_random_part(plain)) ||
	       has_part(plain, "proc", true) || gitconfig_passes_fd(plain);
}

/*
 * Returns true for an address: "transport::address" would run git-remote-transport, and "-" begins
 * an option.
 */
static bool is_address(const char *value)
{
	const char *scheme = strstr(value, "://");

	if (value[0] == '-' || strstr(value, "::") != NULL || strstr(value, "//-") != NULL)
		return false;
	if ((scheme == NULL || strncmp(value, "file:", 5) == 0) && may_be_session(value))
		return false;
	return scheme == NULL || has_word(schemes, value, (size_t)(scheme - value));
}

/* Returns true for a trusted value of `update`: "!command" is none. */
static bool is_update(const char *value)
{
	return has_word(" none checkout merge rebase ", value, strlen(value));
}

/*
 * Returns true unless the entry is of a remote whose name is no trusted address. git fetches from
 * remotes by name, also in status where objects are missing. A name without an address is one, and
 * a name that begins with "-" is an option of git fetch, such as one that names a program.
 */
static bool is_name(const struct gitini_entry *entry)
{
	return !str_eq(entry->section, REMOTES) || is_address(entry->subsection);
}

static bool is_allowed(const char *section, const char *name, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];

		if (!str_eq(row->section, section) ||
		    (!str_eq(row->names, "*") && !has_word(row->names, name, strlen(name))))
			continue;
		if (row->check == ADDRESS)
			return is_address(value);
		if (row->check == REF)
			return value[0] != '-';
		return row->check == ANY || is_update(value);
	}
	return false;
}

/* ---- entries ---- */

struct judgement {
	void (*fn)(void *data, const char *entry);
	void *data;
};

static void judge(void *data, const struct gitini_entry *entry)
{
	const struct judgement *judgement = data;
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (entry->odd != NULL)
		buf_putf(&text, "?%s", entry->odd);
	else if (is_name(entry) && is_allowed(entry->section, entry->name, entry->value))
		return;
	else
		buf_putf(&text, "%s%s.%s=%s", entry->section, entry->subsection, entry->name,
			 entry->value);
	judgement->fn(judgement->data, buf_str(&text));
}

void gitconfig_each_foreign(const char *text, size_t len, void (*fn)(void *data, const char *entry),
			    void *data)
{
	struct judgement judgement = { .fn = fn, .data = data };

	gitini_each(text, len, judge, &judgement);
}
