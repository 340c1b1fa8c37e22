/* SPDX-License-Identifier: MIT */
/*
 * runnames.h - the names by which a file makes the user's programs run something unasked.
 *
 * A shell prompt, an editor, git, a package manager or an interpreter reads such a file where it
 * finds it, when somebody changes into its folder, opens the folder or works in it. Programs that
 * the user starts on the file itself, as make and pytest, are not meant.
 *
 * In kept results none of them stands (workspace/keeper.h), in shares some
 * (sandbox/rootfs/protect.h).
 *
 * HEAD is among them: git takes any folder with HEAD, objects and refs for a repository, whatever
 * its name, and runs what its config says.
 */
#ifndef BASE_RUNNAMES_H
#define BASE_RUNNAMES_H

#include <stdbool.h>
#include <stddef.h>

#define RUNNAMES_MARK "_"

/*
 * `path` with RUNNAMES_MARK before each part that is such a name, upper and lower case alike;
 * NULL when it has none. The caller frees it.
 */
char *runnames_alter(const char *path);
/*
 * Some of them code may not even make at the top of a folder that it may write: the one with this
 * number from 0 on, NULL past the last. The rest are names that code which works on a project
 * makes.
 */
const char *runnames_held(size_t index);
/* In this case. */
bool runnames_is_held(const char *name);
/* Whether code may not change it where it is already, in a folder that it may write. In this case.
 */
bool runnames_stays(const char *name, bool is_folder);
/*
 * Of a folder that programs write into all the time: the file in it with this number from 0 on that
 * stays nevertheless, as a path that begins with the folder's name. NULL past the last.
 */
const char *runnames_inside(const char *folder, size_t index);

#endif
