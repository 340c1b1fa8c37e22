/* SPDX-License-Identifier: MIT */
/*
 * keeproom.h - how much the results of all sessions may take together (PTYCELL_KEEP_TOTAL).
 *
 * A helper measures the root KEEPROOM_AFTER_MS after keeproom_new. It measures again after an
 * export when the size is older than KEEPROOM_OLD_MS: other servers may have added results, and the
 * user may have deleted some. Exports are counted in between. No answer waits for that. Until the
 * first size is known, nothing is refused. A helper that has no room by this count measures once
 * more before it refuses a file (cmd/files/room.h).
 */
#ifndef WORKSPACE_KEEPROOM_H
#define WORKSPACE_KEEPROOM_H

#include <stdbool.h>
#include <stdint.h>

enum { KEEPROOM_AFTER_MS = 100, KEEPROOM_OLD_MS = 10 * 60 * 1000 };

struct home;
struct keeproom;
struct loop;

/* Makes one whose size is not known yet. `loop` and `home` are borrowed until keeproom_free(). */
struct keeproom *keeproom_new(struct loop *loop, const struct home *home, const char *helper,
			      const char *root, uint64_t max_bytes);
/* Frees it; it may be NULL. A helper that still measures is left alone. */
void keeproom_free(struct keeproom *room);

/* Returns whether a root of `bytes` is so near the maximum that the user should know. */
bool keeproom_is_nearly_full(uint64_t bytes, uint64_t max);
uint64_t keeproom_max(const struct keeproom *room);
/* Returns how much may still be added, or UINT64_MAX while the size is not known. */
uint64_t keeproom_left(const struct keeproom *room);
/* Counts an export of `bytes` that replaced a file of `before`. Measures if the size is old. */
void keeproom_count(struct keeproom *room, uint64_t before, uint64_t bytes);
/* Takes a size that a helper has measured. */
void keeproom_set(struct keeproom *room, uint64_t bytes);
/*
 * Returns a sentence when the root is nearly full, once until it is not any more; the caller frees
 * it. Returns NULL otherwise.
 */
char *keeproom_take_warning(struct keeproom *room);

#endif
