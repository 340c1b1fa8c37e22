/* SPDX-License-Identifier: MIT */
/*
 * runnames.h - names of files that make the user's programs run commands unasked.
 *
 * A shell prompt, an editor, git, a package manager or an interpreter reads such a file where it
 * finds it: when the user changes into its folder, opens the folder or works in it. Files of
 * programs that the user starts on purpose, such as make and pytest, are not listed.
 *
 * Kept results contain none of these names (workspace/keeper.h); shares protect some
 * (sandbox/rootfs/protect.h).
 *
 * HEAD is one of them. git takes any folder with HEAD, objects and refs for a repository, under any
 * name, and runs the commands of its configuration.
 */
#ifndef BASE_RUNNAMES_H
#define BASE_RUNNAMES_H

#include <stdbool.h>
#include <stddef.h>

#define RUNNAMES_MARK "_"

/*
 * Returns `path` with RUNNAMES_MARK before each part that is such a name, in upper or lower case
 * and with dots and blanks behind it. Returns NULL if there is none. The caller frees the result.
 */
char *runnames_alter(const char *path);
/*
 * Returns name number `index` of those that session code may not even create at the top of a folder
 * that it may write. Returns NULL past the last. Code that works on a project creates the other
 * names, so these are allowed.
 */
const char *runnames_held(size_t index);
/* Returns whether runnames_held lists the name; case matters. */
bool runnames_is_held(const char *name);
/*
 * Returns whether session code must not change an existing file or folder of this name in a folder
 * that it may write. Case matters.
 */
bool runnames_stays(const char *name, bool is_folder);
/*
 * Returns file number `index` that stays protected within a folder into which programs write all
 * the time. The result is a path that begins with the folder's name; NULL past the last.
 */
const char *runnames_inside(const char *folder, size_t index);

#endif
