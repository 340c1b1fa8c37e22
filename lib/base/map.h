/* SPDX-License-Identifier: MIT */
/* map.h - a hash map from byte strings to borrowed pointers. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>

struct map;

struct map *map_new(void);
/* Frees the map, not its values. `map` may be NULL. */
void map_free(struct map *map);
size_t map_count(const struct map *map);
/* Returns the value, NULL if there is none. */
void *map_get(const struct map *map, const void *key, size_t key_len);
/*
 * Copies the key and borrows the value, which must not be NULL. Returns the value that it replaced,
 * or NULL.
 */
void *map_set(struct map *map, const void *key, size_t key_len, void *value);
/* Removes the key. Returns its value, NULL if there was none. */
void *map_take(struct map *map, const void *key, size_t key_len);

#endif
