/* SPDX-License-Identifier: MIT */
/* crypto_fixture.h - libcrypto's hashes for tests of what is signed. */
#ifndef CRYPTO_FIXTURE_H
#define CRYPTO_FIXTURE_H

#include <assert.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "storage/crypto.h"

static void fixture_sha256(const void *data, size_t len, unsigned char hash[STORAGE_HASH_LEN])
{
	int ok = EVP_Digest(data, len, hash, NULL, EVP_sha256(), NULL);

	assert(ok == 1);
}

static void fixture_hmac(const void *key, size_t key_len, const void *data, size_t len,
			 unsigned char hash[STORAGE_HASH_LEN])
{
	const unsigned char *done = HMAC(EVP_sha256(), key, (int)key_len, data, len, hash, NULL);

	assert(done != NULL);
}

static const struct storage_crypto fixture_crypto = {
	.sha256 = fixture_sha256,
	.hmac_sha256 = fixture_hmac,
};

#endif
