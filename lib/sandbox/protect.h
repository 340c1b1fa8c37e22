/* SPDX-License-Identifier: MIT */
/*
 * protect.h - names in a writable share through which its files would command the person's own
 * programs later: they stay as they are while a session runs.
 *
 * Covered are hooks, config, config.worktree and commondir of a .git, .mcp.json, .claude, .cursor,
 * .vscode, .envrc and a .git that is a file: at the share's top also when absent before, below it
 * those that exist at the session's start, down to PROTECT_DEPTH folders, until PROTECT_LOOKS
 * entries were looked at. Each is mounted read-only on itself, .git on itself so that it cannot be
 * moved away.
 *
 * Where nothing is at the top, a placeholder stands on the host meanwhile, which anybody may read:
 * an empty folder, which git passes over, or in .git what git reads as nothing. It is removed with
 * the last session that uses the share, whichever server's, also one that an earlier launcher left.
 *
 * Not covered: a folder below the share that the session makes, or moves away and makes anew.
 */
#ifndef SANDBOX_PROTECT_H
#define SANDBOX_PROTECT_H

#include "base/err.h"

enum { PROTECT_DEPTH = 6, PROTECT_LOOKS = 50000, PROTECT_MOUNTS = 256 };

/*
 * On the host, before the sandbox is made. What is returned, a descriptor of the caller's, holds
 * the placeholders in place until protect_release. What the server's user cannot create, the
 * session cannot either: no error.
 */
int protect_hold(int share, struct err *err) MUST_CHECK;
/* Removes the placeholders unless another session holds them, and closes. */
void protect_release(int *held);
/* In the sandbox, once the share is mounted at `path`; `root` is a descriptor of /. */
int protect_mount(int root, const char *path, struct err *err) MUST_CHECK;

#endif
