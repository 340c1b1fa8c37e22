/* SPDX-License-Identifier: MIT */
/* digest.c - SHA-256 by FIPS 180-4, so that the server needs no library for one function. */
#include "journal/digest.h"

#include <stdio.h>
#include <string.h>

#include "base/util.h"

enum { BLOCK = DIGEST_BLOCK, ROUNDS = 64, LENGTH_AT = 56 };

static const uint32_t round_constants[ROUNDS] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static const uint32_t start[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static uint32_t rotate(uint32_t x, unsigned int n)
{
	return x >> n | x << (32 - n);
}

static void schedule(const unsigned char *block, uint32_t w[ROUNDS])
{
	for (size_t i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (size_t i = 16; i < ROUNDS; i++) {
		uint32_t a = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t b = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;

		w[i] = w[i - 16] + a + w[i - 7] + b;
	}
}

static void take_block(uint32_t state[8], const unsigned char *block)
{
	uint32_t w[ROUNDS];
	uint32_t v[8];

	schedule(block, w);
	memcpy(v, state, sizeof(v));
	for (size_t i = 0; i < ROUNDS; i++) {
		uint32_t sum1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
		uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
		uint32_t sum0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
		uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
		uint32_t one = v[7] + sum1 + choice + round_constants[i] + w[i];

		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += one;
		v[0] = one + sum0 + majority;
	}
	for (size_t i = 0; i < 8; i++)
		state[i] += v[i];
}

void digest_init(struct digest *digest)
{
	*digest = (struct digest){ .len = 0 };
	memcpy(digest->state, start, sizeof(start));
}

void digest_add(struct digest *digest, const void *data, size_t len)
{
	const unsigned char *bytes = data;

	while (len > 0) {
		size_t used = (size_t)(digest->len % BLOCK);
		size_t n = size_min(len, BLOCK - used);

		if (n == BLOCK) {
			take_block(digest->state, bytes);
		} else {
			memcpy(digest->rest + used, bytes, n);
			if (used + n == BLOCK)
				take_block(digest->state, digest->rest);
		}
		digest->len += n;
		bytes += n;
		len -= n;
	}
}

/* Hashes a bit, zeros and the length in bits. */
void digest_end(struct digest *digest, char text[DIGEST_LEN + 1])
{
	static const unsigned char padding[BLOCK] = { 0x80 };
	uint64_t bits = digest->len * 8;
	size_t used = (size_t)(digest->len % BLOCK);
	unsigned char length[sizeof(bits)];

	for (size_t i = 0; i < sizeof(length); i++)
		length[sizeof(length) - 1 - i] = (unsigned char)(bits >> 8 * i);
	digest_add(digest, padding, (used < LENGTH_AT ? LENGTH_AT : LENGTH_AT + BLOCK) - used);
	digest_add(digest, length, sizeof(length));
	for (size_t i = 0; i < ARRAY_SIZE(digest->state); i++)
		(void)snprintf(text + 8 * i, 9, "%08x", digest->state[i]);
}

void digest_sha256(const void *data, size_t len, char text[DIGEST_LEN + 1])
{
	struct digest digest;

	digest_init(&digest);
	digest_add(&digest, data, len);
	digest_end(&digest, text);
}
