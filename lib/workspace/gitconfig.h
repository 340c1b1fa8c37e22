/* SPDX-License-Identifier: MIT */
/*
 * gitconfig.h - finds entries of a repository's config that untrusted code may have written.
 *
 * Trusted are the entries that git itself writes in init, clone, submodule and branch, and those
 * that only change how it displays or names something. An address must not lead into a folder of a
 * session, where a push would run hooks of session code. All other entries are untrusted: many of
 * them make git run a program, and later versions of git may add more. A line in a form that git
 * does not write is untrusted, too.
 */
#ifndef WORKSPACE_GITCONFIG_H
#define WORKSPACE_GITCONFIG_H

#include <stdbool.h>
#include <stddef.h>

/* This entry is reported like an untrusted one: the caller must judge the path in it. */
#define GITCONFIG_WORKTREE "core.worktree="

/*
 * Calls `fn` for each untrusted entry of the text: "section.name=value", or
 * "section.sub.name=value", section and name in lower case. A line that cannot be parsed is
 * reported as "?" and the line.
 */
void gitconfig_each_foreign(const char *text, size_t len, void (*fn)(void *data, const char *entry),
			    void *data);

/*
 * Returns true if a path goes through /dev/fd, or up from a folder named fd. From the fd folder of
 * a process, ".." leads to all processes, and so to the folders of sessions.
 */
bool gitconfig_passes_fd(const char *path);

#endif
