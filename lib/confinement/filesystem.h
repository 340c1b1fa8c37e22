/* SPDX-License-Identifier: MIT */
/* filesystem.h - whether a file system allows files in a share to be held read-only. */
#ifndef CONFINEMENT_FILESYSTEM_H
#define CONFINEMENT_FILESYSTEM_H

/*
 * Returns the end of a sentence about the folder that says why names in it cannot be held, or NULL
 * when they can. On a file system that is not known to allow it, this is tried with a file of a
 * random name.
 */
const char *filesystem_objection(int folder);
/* Returns as filesystem_objection does, but tries it on any file system. */
const char *filesystem_try(int folder);

#endif
