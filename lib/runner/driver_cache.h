/* SPDX-License-Identifier: MIT */
/*
 * compiled.h - drivers as their interpreters compiled them, kept for the starts to come.
 *
 * A driver's source takes an interpreter some 20 ms to compile. The build holds the code for one
 * version of Python; other versions hand theirs back (`preload` in runtime/frame.h). It is kept in
 * the home folder, where no session sees it, by what tells one interpreter from another: the file's
 * device, inode, size and time, those of a link that leads to it, and the driver. Nothing is kept
 * for virtual environments, which lie where code may have written.
 *
 * What is given to driver_cache_put must come from an interpreter in which no code of a session
 * ever ran, nor any that a session could have left in its folders.
 */
#ifndef RUNNER_DRIVER_CACHE_H
#define RUNNER_DRIVER_CACHE_H

#include "base/buf.h"
#include "runtime/language.h"

struct home;

enum { DRIVER_CACHE_MAX = 1 << 20, DRIVER_CACHE_FILES_MAX = 16 };

/*
 * What is kept for the interpreter at `path` has this name, for the caller to free; NULL when
 * nothing is to be kept for it. To be taken before it is started: later the path may be another's.
 */
char *driver_cache_name(const struct language *language, const char *path) MUST_CHECK;

/* Both do nothing without a name. */

/* Appends what is kept; nothing when there is none. */
void driver_cache_get(const struct home *home, const char *name, struct buf *out);
/* Keeps it; when that fails, the next start compiles again. */
void driver_cache_put(const struct home *home, const char *name, const char *data, size_t len);

#endif
