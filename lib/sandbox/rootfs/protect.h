/* SPDX-License-Identifier: MIT */
/*
 * protect.h - protects names in a writable share by which its files would later run in the user's
 * own programs.
 *
 * These names stay unchanged while a session runs:
 * - names for which runnames_stays() holds (base/runnames.h), and in folders of packages only those
 *   of runnames_held();
 * - files of runnames_inside();
 * - hooks, config, config.worktree, commondir, branches and remotes of each repository
 *   (repository.h), including submodules and worktrees;
 * - configs and hooks folders that those configs name (protect_config.h).
 *
 * Names that exist when the session starts are mounted read-only on themselves, at any depth, among
 * the first PROTECT_ENTRIES_MAX entries. The search is breadth first; folders of packages come
 * after all others, and a repository's own folders last. Repositories, .git folders and those above
 * them are mounted on themselves too, so that they cannot be moved away and made anew; folders of
 * packages are not. Hard links to such files, and to files in such folders, are mounted too, in all
 * writable shares.
 *
 * At the share's top, the names of runnames_held() are protected even if they do not exist. If a
 * repository is there, the names of struct protect_row are protected, too, in it, its submodules
 * and its worktrees. The launcher makes a placeholder on the host for each missing name; every user
 * may read it. A placeholder folder contains a .gitignore for itself, so that git neither lists,
 * adds nor cleans it; a file in .git means nothing to git. Placeholders are removed with the last
 * session that uses the share, of any server, including those of a killed launcher.
 *
 * Not protected: a repository that the session makes (cmd/files/inspect.h finds it), and names
 * below the top that do not exist.
 */
#ifndef SANDBOX_ROOTFS_PROTECT_H
#define SANDBOX_ROOTFS_PROTECT_H

#include "base/err.h"

enum { PROTECT_ENTRIES_MAX = 50000, PROTECT_MOUNTS = 16384 };

/* Names in a .git that is a repository. A session may write the rest of it. */
struct protect_row {
	const char *name;
	const char *content; /* content of a placeholder file; NULL: a folder */
};

enum { PROTECT_ROWS = 4 };

extern const struct protect_row protect_rows[PROTECT_ROWS];

/*
 * Makes the placeholders on the host; called before the sandbox is set up. Returns a descriptor
 * that holds them until protect_release, or -1 and sets *err. A name that the server's user cannot
 * create is no error, since the session cannot create it either.
 */
int protect_hold(int share, struct err *err) MUST_CHECK;
/* Removes the placeholders unless another session holds them, and closes the descriptor. */
void protect_release(int *held);
/* The mode of a placeholder folder: no other program makes one read-only and sticky. */
enum { PROTECT_FOLDER_MODE = 01555 };
/*
 * Mounts existing protected names of the writable shares at these paths on themselves; called in
 * the sandbox once the shares are mounted. `root` is a descriptor of /. Returns -1 and sets *err:
 * ERR_LIMIT for more than PROTECT_MOUNTS in one share.
 */
int protect_mount(int root, const char *const *paths, size_t count, struct err *err) MUST_CHECK;

#endif
