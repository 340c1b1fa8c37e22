/* SPDX-License-Identifier: MIT */
/*
 * cache.h - sets of installed packages that sessions share, below $PTYCELL_HOME/packages.
 *
 *   index/HASH      a record, by the text of its key: which entry, and what is in it
 *   sets/NAME/      an entry: files/ and manifest, as `pack` of ptycell-files made it
 *
 * A key says all that the set depends on. The record holds the whole key, so that two keys with
 * one hash are not taken for each other. Entries appear whole and never change; what is in one is
 * compared with its manifest by whoever links it.
 */
#ifndef INSTALL_CACHE_H
#define INSTALL_CACHE_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"

struct cache;
struct home;

/* `home` is borrowed. */
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
/* The entry's path below the home folder, for its removal; the caller frees it. */
char *cache_entry_path(const char *entry);

#endif
