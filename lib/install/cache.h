/* SPDX-License-Identifier: MIT */
/*
 * cache.h - sets of installed packages that sessions share, below $PTYCELL_HOME/packages.
 *
 *   index/HASH      a record, by the text of its key: which entry, and what is in it
 *   sets/NAME/      an entry: files/ and manifest, as `pack` of ptycell-files made it
 *
 * A key says all that the set depends on. The record holds the whole key, so that two keys with
 * one hash are not taken for each other. Entries appear whole and never change; what is in one is
 * compared with its manifest by whoever links it, and the manifest's time is that of the last use.
 */
#ifndef INSTALL_CACHE_H
#define INSTALL_CACHE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "event/loop.h"

struct cache;
struct home;

/* Was one ever opened below this home? */
bool cache_exists(const struct home *home);
/* `home` is borrowed for the call. */
struct cache *cache_open(const struct home *home, struct err *err) MUST_CHECK;
/* NULL is allowed. */
void cache_free(struct cache *cache);
/* The folder of the entries. */
int cache_sets_fd(const struct cache *cache);
/*
 * The record of this key, the caller's; NULL when there is none, its entry is gone, or it is older
 * than `max_age_s` (0: never too old).
 */
json_t *cache_find(const struct cache *cache, const char *key, uint64_t max_age_s);
/* Stores {"entry": NAME, ...} for this key. What cannot be written is found anew the next time. */
void cache_put(const struct cache *cache, const char *key, const json_t *record);
/*
 * Lets ptycell-files (`helper`, its path) take away what killed installers left, and what was
 * unused for longest when all is more than `bytes_max`; nothing that is in use. While it is at work
 * the last wish waits for its end. `loop` and `helper` live as long as the cache.
 */
void cache_trim(struct cache *cache, struct loop *loop, const char *helper, uint64_t bytes_max);
/* The entry's path below the home folder, for its removal; the caller frees it. */
char *cache_entry_path(const char *entry);

#endif
