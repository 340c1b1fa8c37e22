/* SPDX-License-Identifier: MIT */
/* map.h - byte-string keys to borrowed pointers, chained hashing. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>

struct map;

struct map *map_new(void);
/* Values are not freed. NULL is allowed. */
void map_free(struct map *map);
size_t map_count(const struct map *map);
/* NULL when there is none. */
void *map_get(const struct map *map, const void *key, size_t key_len);
/* Copies the key, borrows the value (not NULL); replaces and returns the old value, else NULL. */
void *map_set(struct map *map, const void *key, size_t key_len, void *value);
/* Returns the value taken out, NULL when there was none. */
void *map_take(struct map *map, const void *key, size_t key_len);

#endif
