/* SPDX-License-Identifier: MIT */
/* repository.h - what git takes for a repository, and in which order to look for one. */
#ifndef SANDBOX_REPOSITORY_H
#define SANDBOX_REPOSITORY_H

#include <stdbool.h>

/*
 * HEAD and one of objects, refs and commondir are in the folder, which may be an O_PATH descriptor:
 * all that git demands, whatever the folder is called.
 */
bool repository_is(int dir);
/* Of its own folders: nothing in it is a repository that git would find by itself. */
bool repository_holds_none(const char *name);
/* A folder of packages and the like: many folders, made by others, in which nobody works. */
bool repository_comes_last(const char *name);

#endif
