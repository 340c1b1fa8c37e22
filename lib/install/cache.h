/* SPDX-License-Identifier: MIT */
/*
 * cache.h - stores sets of installed packages that sessions share, below $PTYCELL_HOME/packages.
 *
 *   index/HASH      a record, by the text of its key: which entry, and what is in it
 *   sets/NAME/      an entry: files/ and manifest, made by `pack`
 *   wheels/SHA256   a file that is not downloaded again
 *
 * A key names everything that the set depends on. The record holds the whole key, because two keys
 * may have one hash. Entries appear whole and never change. The `link` step compares an entry with
 * its manifest. The time of the manifest is the time of the last use.
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

/* Returns true if a cache was ever opened below this home. */
bool cache_exists(const struct home *home);
/*
 * Opens the cache and makes its folders. Returns NULL and sets *err. `home` is borrowed for the
 * call.
 */
struct cache *cache_open(const struct home *home, struct err *err) MUST_CHECK;
/* Frees `cache`, which may be NULL. */
void cache_free(struct cache *cache);
/* Returns the folder of the entries. Borrowed. */
int cache_sets_fd(const struct cache *cache);
/* Returns the folder of the wheels, and its path. Borrowed. */
int cache_wheels_fd(const struct cache *cache);
const char *cache_wheels_path(const struct cache *cache);
/*
 * Returns the record of this key, a new reference. Returns NULL if there is none, if its entry is
 * gone, or if it is too old. It is too old after `max_age_s` seconds, or after its own "fresh"
 * seconds if these are fewer. With a `max_age_s` of 0 it is never too old.
 */
json_t *cache_find(const struct cache *cache, const char *key, uint64_t max_age_s);
/*
 * Stores {"entry": NAME, ...} for this key. A failure is only logged: the set is made again the
 * next time.
 */
void cache_put(const struct cache *cache, const char *key, const json_t *record);
/*
 * Starts ptycell-files (`helper`, its path) to remove the remains of killed installers, and the
 * least recently used entries while all take more than `bytes_max`. Entries in use stay. While it
 * runs, only the last request is queued. `loop` and `helper` must live as long as the cache.
 */
void cache_trim(struct cache *cache, struct loop *loop, const char *helper, uint64_t bytes_max);
/* Returns the entry's path below the home folder, for its removal. The caller frees it. */
char *cache_entry_path(const char *entry);

#endif
