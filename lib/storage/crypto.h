/* SPDX-License-Identifier: MIT */
/*
 * crypto.h - the hash functions for signing, which this layer does not compute. The program that
 * signs passes libcrypto's; the server itself never signs.
 */
#ifndef STORAGE_CRYPTO_H
#define STORAGE_CRYPTO_H

#include <stddef.h>

enum { STORAGE_HASH_LEN = 32 };

struct storage_crypto {
	void (*sha256)(const void *data, size_t len, unsigned char hash[STORAGE_HASH_LEN]);
	void (*hmac_sha256)(const void *key, size_t key_len, const void *data, size_t len,
			    unsigned char hash[STORAGE_HASH_LEN]);
};

#endif
