/* SPDX-License-Identifier: MIT */
/*
 * map.c - chained hashing with FNV-1a. Clients choose the keys, so each map has a random seed: a
 * client cannot construct keys that share a slot. The table doubles when there are more entries
 * than slots and never shrinks.
 */
#include "base/map.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"

enum { MAP_FIRST_SLOTS = 16 };

struct entry {
	struct entry *next;
	uint64_t hash;
	void *value;
	size_t key_len;
	char key[];
};

struct map {
	struct entry **slots;
	size_t slot_count; /* a power of two */
	size_t count;
	uint64_t seed; /* random: clients choose the keys */
};

struct map *map_new(void)
{
	struct map *map = xcalloc(1, sizeof(*map));

	map->slot_count = MAP_FIRST_SLOTS;
	map->slots = xcalloc(map->slot_count, sizeof(struct entry *));
	if (getrandom(&map->seed, sizeof(map->seed), GRND_NONBLOCK) < 0)
		map->seed = (uintptr_t)map; /* getrandom is not ready early in a boot; an address is
					       better than a constant */
	return map;
}

void map_free(struct map *map)
{
	if (map == NULL)
		return;
	for (size_t i = 0; i < map->slot_count; i++) {
		struct entry *entry = map->slots[i];

		while (entry != NULL) {
			struct entry *next = entry->next;

			free(entry);
			entry = next;
		}
	}
	free(map->slots);
	free(map);
}

size_t map_count(const struct map *map)
{
	return map->count;
}

/* Hashes the key: FNV-1a with a random start. */
static uint64_t hash_key(const struct map *map, const void *key, size_t len)
{
	const unsigned char *bytes = key;
	uint64_t hash = 14695981039346656037U ^ map->seed;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * 1099511628211U;
	return hash ^ (hash >> 29);
}

/* Returns the link that points at the key's entry, or at the NULL where a new entry belongs. */
static struct entry **find_link(const struct map *map, const void *key, size_t len, uint64_t hash)
{
	struct entry **link = &map->slots[hash & (map->slot_count - 1)];

	while (*link != NULL) {
		const struct entry *entry = *link;

		if (entry->hash == hash && entry->key_len == len &&
		    memcmp(entry->key, key, len) == 0)
			break;
		link = &(*link)->next;
	}
	return link;
}

static void grow_slots(struct map *map)
{
	size_t slot_count = map->slot_count * 2;
	struct entry **slots = xcalloc(slot_count, sizeof(struct entry *));

	for (size_t i = 0; i < map->slot_count; i++) {
		struct entry *entry = map->slots[i];

		while (entry != NULL) {
			struct entry *next = entry->next;
			struct entry **slot = &slots[entry->hash & (slot_count - 1)];

			entry->next = *slot;
			*slot = entry;
			entry = next;
		}
	}
	free(map->slots);
	map->slots = slots;
	map->slot_count = slot_count;
}

void *map_get(const struct map *map, const void *key, size_t key_len)
{
	struct entry *const *link = find_link(map, key, key_len, hash_key(map, key, key_len));

	return *link != NULL ? (*link)->value : NULL;
}

void *map_set(struct map *map, const void *key, size_t key_len, void *value)
{
	uint64_t hash = hash_key(map, key, key_len);
	struct entry **link = find_link(map, key, key_len, hash);
	struct entry *entry = *link;

	assert(value != NULL);
	if (entry != NULL) {
		void *old = entry->value;

		entry->value = value;
		return old;
	}
	entry = xcalloc(1, sizeof(*entry) + key_len + 1);
	entry->hash = hash;
	entry->value = value;
	entry->key_len = key_len;
	if (key_len > 0)
		memcpy(entry->key, key, key_len);
	*link = entry;
	if (++map->count > map->slot_count)
		grow_slots(map);
	return NULL;
}

void *map_take(struct map *map, const void *key, size_t key_len)
{
	struct entry **link = find_link(map, key, key_len, hash_key(map, key, key_len));
	struct entry *entry = *link;
	void *value;

	if (entry == NULL)
		return NULL;
	*link = entry->next;
	value = entry->value;
	free(entry);
	map->count--;
	return value;
}
