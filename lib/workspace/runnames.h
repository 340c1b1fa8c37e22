/* SPDX-License-Identifier: MIT */
/*
 * runnames.h - the names by which a file makes the user's programs run something unasked.
 *
 * A shell prompt, an editor, git, a package manager or an interpreter reads such a file where it
 * finds it, when somebody changes into its folder, opens the folder or works in it. Programs that
 * the user starts on the file itself, as make and pytest, are not meant.
 *
 * HEAD is among them: git takes any folder with HEAD, objects and refs for a repository, whatever
 * its name, and runs what its config says.
 */
#ifndef WORKSPACE_RUNNAMES_H
#define WORKSPACE_RUNNAMES_H

#define RUNNAMES_MARK "_"

/*
 * `path` with RUNNAMES_MARK before each part that is such a name, upper and lower case alike;
 * NULL when it has none. The caller frees it.
 */
char *runnames_alter(const char *path);

#endif
