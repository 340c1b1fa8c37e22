/* SPDX-License-Identifier: MIT */
/*
 * protect.h - names in a writable share through which its files would command the person's own
 * programs later: they stay as they are while a session runs.
 *
 * Covered are the names of base/runnames.h that stay, in packages those that are held, and hooks,
 * config, config.worktree and commondir of each repository (repository.h), those of submodules and
 * worktrees too, and the configs and folders of hooks that these configs name (protect_config.h):
 * those that exist at the session's start, however deep, in the first PROTECT_LOOKS entries,
 * breadth first, folders of packages behind all others and a repository's own behind these. Each is
 * mounted read-only on itself. .git, repositories and all folders on the way to them are mounted on
 * themselves as well, so that nothing can be moved away and made anew; not the folders of packages.
 *
 * At the share's top the held names, and of a repository there with its submodules and worktrees
 * the rows below, are also held when absent before: a placeholder stands on the host meanwhile,
 * which anybody may read. A folder has a .gitignore for itself, so that git neither lists nor adds
 * nor cleans it; a file in .git says nothing to git. It is removed with the last session that uses
 * the share, whichever server's, also one that an earlier launcher left.
 *
 * Not covered: a repository that the session makes (cmd/files/look.h finds it), and absent names of
 * one below the top.
 */
#ifndef SANDBOX_ROOTFS_PROTECT_H
#define SANDBOX_ROOTFS_PROTECT_H

#include "base/err.h"

enum { PROTECT_LOOKS = 50000, PROTECT_MOUNTS = 16384 };

/* Of a .git that is a repository: the rest of it a session may well write. */
struct protect_row {
	const char *name;
	const char *content; /* of a placeholder that is a file; NULL: a folder */
};

enum { PROTECT_ROWS = 4 };

extern const struct protect_row protect_rows[PROTECT_ROWS];

/*
 * On the host, before the sandbox is made. What is returned, a descriptor of the caller's, holds
 * the placeholders in place until protect_release. What the server's user cannot create, the
 * session cannot either: no error.
 */
int protect_hold(int share, struct err *err) MUST_CHECK;
/* Removes the placeholders unless another session holds them, and closes. */
void protect_release(int *held);
/* A folder of this mode is a placeholder: nobody else makes one read-only and sticky. */
enum { PROTECT_FOLDER_MODE = 01555 };
/* In the sandbox, once the share is mounted at `path`; `root` is a descriptor of /. */
int protect_mount(int root, const char *path, struct err *err) MUST_CHECK;

#endif
