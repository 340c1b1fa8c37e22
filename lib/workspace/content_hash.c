/* SPDX-License-Identifier: MIT */
/*
 * content_hash.c - FNV-1a's multiplication over 8 bytes at a time. A weak hash is enough: code that
 * could make a collision can also set the times of the file.
 */
#include "workspace/content_hash.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "workspace/beneath.h"

enum { READ_SIZE = 16 << 10 };

/* Mixes 8 bytes at a time into the hash, and the rest. */
static uint64_t mix(uint64_t hash, const char *data, size_t len)
{
	uint64_t word;

	for (; len >= sizeof(word); data += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3U;
		hash ^= hash >> 29;
	}
	for (; len > 0; data++, len--)
		hash = (hash ^ (unsigned char)*data) * 0x100000001b3U;
	return hash;
}

int content_hash(int dir_fd, const char *path, uint64_t *ret_hash)
{
	struct err err;
	cleanup_fd int fd = beneath_open_regular(dir_fd, path, NULL, &err);
	uint64_t hash = 0xcbf29ce484222325U;
	size_t total = 0;

	*ret_hash = 0;
	if (fd < 0)
		return err.code == ERR_SYSTEM ? err.sys : 0;
	while (total < CONTENT_HASH_MAX) {
		char data[READ_SIZE];
		ssize_t n = read(fd, data, sizeof(data));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			break;
		hash = mix(hash, data, (size_t)n);
		total += (size_t)n;
	}
	*ret_hash = hash;
	return 0;
}
