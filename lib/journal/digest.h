/* SPDX-License-Identifier: MIT */
/* digest.h - SHA-256, so that a user can compare a record with a file or a text. */
#ifndef JOURNAL_DIGEST_H
#define JOURNAL_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { DIGEST_LEN = 64, DIGEST_BLOCK = 64 };

struct digest {
	uint32_t state[8];
	uint64_t len;
	unsigned char rest[DIGEST_BLOCK]; /* the last len % DIGEST_BLOCK bytes */
};

void digest_init(struct digest *digest);
void digest_add(struct digest *digest, const void *data, size_t len);
/* Ends the bytes and writes what digest_sha256() writes. */
void digest_end(struct digest *digest, char text[DIGEST_LEN + 1]);

/* Writes the SHA-256 of the bytes: lower-case hexadecimal digits and NUL. */
void digest_sha256(const void *data, size_t len, char text[DIGEST_LEN + 1]);

#endif
