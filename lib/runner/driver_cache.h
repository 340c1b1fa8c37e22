/* SPDX-License-Identifier: MIT */
/*
 * driver_cache.h - compiled drivers, stored for later starts of the same interpreter.
 *
 * Compiling a driver's source takes an interpreter some 20 ms. The build has the code for one
 * version of Python; other versions return theirs (`preload` in runtime/frame.h). It is stored in
 * the home folder, where no session sees it. Its key is the driver and the interpreter's file:
 * device, inode, size and time, and those of a link that leads to it. Nothing is stored for virtual
 * environments, because code may have written there.
 *
 * Data for driver_cache_put must come from an interpreter in which no session code ever ran, nor
 * any code that a session could have left in its folders.
 */
#ifndef RUNNER_DRIVER_CACHE_H
#define RUNNER_DRIVER_CACHE_H

#include "base/buf.h"
#include "runtime/language.h"

struct home;

enum { DRIVER_CACHE_MAX = 1 << 20, DRIVER_CACHE_FILES_MAX = 16 };

/*
 * Returns the name under which the interpreter at `path` has its entry; the caller frees it.
 * Returns NULL when nothing may be stored for it. Must be called before the interpreter starts:
 * later the path may lead elsewhere.
 */
char *driver_cache_name(const struct language *language, const char *path) MUST_CHECK;

/* Both functions do nothing without a name. */

/* Appends the entry; nothing when there is none. */
void driver_cache_get(const struct home *home, const char *name, struct buf *out);
/* Stores an entry. If that fails, the next start compiles again. */
void driver_cache_put(const struct home *home, const char *name, const char *data, size_t len);

#endif
