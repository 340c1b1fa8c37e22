/* SPDX-License-Identifier: MIT */
/*
 * gitconfig.h - which entries of a repository's config may come from code that nobody read.
 *
 * Those that git itself writes in init, clone, submodule and branch, and those that only say how
 * it shows or names something; no address in a folder of a session, where a push would run hooks
 * that code made. All others are foreign: many make git run a program, and later
 * versions know more. So is a line that is written in a way that git does not write.
 */
#ifndef WORKSPACE_GITCONFIG_H
#define WORKSPACE_GITCONFIG_H

#include <stdbool.h>
#include <stddef.h>

/* What names this folder is for the caller to judge: it comes as an entry, too. */
#define GITCONFIG_WORKTREE "core.worktree="

/*
 * Calls `fn` for each foreign entry of this text: "section.name=value", or
 * "section.sub.name=value", section and name in lower case; of a line that is not understood "?"
 * and the line.
 */
void gitconfig_each_foreign(const char *text, size_t len, void (*fn)(void *data, const char *entry),
			    void *data);

/*
 * Whether a path goes through /dev/fd, or up from a folder that is called fd: from that of a
 * process, ".." leads to all processes, and so to the folders of sessions.
 */
bool gitconfig_passes_fd(const char *path);

#endif
