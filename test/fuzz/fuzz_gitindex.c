/* SPDX-License-Identifier: MIT */
/* layers: base */
/*
 * Indexes and lists of conflicts are read within their bytes, with hashes of either length. What is
 * sound is read to its last byte, and has no path out of the work tree.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/gitindex.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER = 12, VERSION = 7 /* its last byte */, STAT = 40, EXTENDED = 0x40 };

static void assert_within(const char *path)
{
	assert(path[0] != '/' && strncmp(path, "../", 3) != 0 && strstr(path, "/../") == NULL);
	assert(strncmp(path, ".git/", 5) != 0 && strstr(path, "/.git/") == NULL);
}

/* Versions 2 and 3 have all of a path in one place. */
static void check_entries(const uint8_t *data, size_t hash_len)
{
	size_t count =
		(size_t)data[8] << 24 | (size_t)data[9] << 16 | (size_t)data[10] << 8 | data[11];
	const uint8_t *entry = data + HEADER;

	for (size_t i = 0; i < count; i++) {
		const uint8_t *flags = entry + STAT + hash_len;
		const char *path = (const char *)flags + ((flags[0] & EXTENDED) != 0 ? 4 : 2);

		assert_within(path);
		entry += ((size_t)((const uint8_t *)path - entry) + strlen(path) + 8) / 8 * 8;
	}
}

static void check_index(const uint8_t *data, size_t size, size_t hash_len)
{
	if (!gitindex_is_sound((const char *)data, size, hash_len))
		return;
	assert(!gitindex_is_sound((const char *)data, size - 1, hash_len));
	if (data[VERSION] < 4)
		check_entries(data, hash_len);
}

static void check_conflicts(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xmemdup(data, size); /* with a NUL behind it */

	if (!gitindex_are_conflicts_sound(text, size))
		return;
	for (size_t at = 0; at < size; at += strlen(text + at) + 1)
		assert_within(strchr(text + at, '\t') + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_index(data, size, GITINDEX_HASH_SHORT);
	check_index(data, size, GITINDEX_HASH_MAX);
	check_conflicts(data, size);
	return 0;
}
