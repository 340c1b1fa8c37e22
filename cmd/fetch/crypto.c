/* SPDX-License-Identifier: MIT */
/*
 * crypto.c - calls libcrypto by EVP, as its old interfaces are deprecated in OpenSSL 3. A system in
 * FIPS mode has no MD5: Content-MD5 is then left out, which storages accept. Other failures mean
 * that memory is exhausted.
 */
#include "crypto.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "text/base64.h"

enum { READ_SIZE = 256 << 10, MD5_LEN = 16 };

/* Aborts on failure, which only happens when memory is exhausted. */
static void hash(const void *data, size_t len, unsigned char out[STORAGE_HASH_LEN])
{
	if (EVP_Digest(data, len, out, NULL, EVP_sha256(), NULL) != 1)
		abort();
}

static void sign(const void *key, size_t key_len, const void *data, size_t len,
		 unsigned char out[STORAGE_HASH_LEN])
{
	if (HMAC(EVP_sha256(), key, (int)key_len, data, len, out, NULL) == NULL)
		abort();
}

const struct storage_crypto crypto_functions = { .sha256 = hash, .hmac_sha256 = sign };

static void put_hex(const unsigned char out[STORAGE_HASH_LEN], char hex[2 * STORAGE_HASH_LEN + 1])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < STORAGE_HASH_LEN; i++) {
		*hex++ = digits[out[i] >> 4];
		*hex++ = digits[out[i] & 15];
	}
	*hex = '\0';
}

void crypto_hash_text(const void *data, size_t len, char hex[2 * STORAGE_HASH_LEN + 1])
{
	unsigned char out[STORAGE_HASH_LEN];

	hash(data, len, out);
	put_hex(out, hex);
}

static int feed(EVP_MD_CTX *context, int fd, uint64_t offset, uint64_t length, struct err *err)
{
	cleanup_free char *data = xcalloc(1, READ_SIZE);

	while (length > 0) {
		ssize_t n = fd_read_at(fd, data, length < READ_SIZE ? (size_t)length : READ_SIZE,
				       offset);

		if (n < 0)
			return err_sys(err, "reading it");
		if (n == 0)
			return err_set(err, ERR_INVALID, "it became shorter meanwhile");
		if (EVP_DigestUpdate(context, data, (size_t)n) != 1)
			abort();
		offset += (uint64_t)n;
		length -= (uint64_t)n;
	}
	return 0;
}

static int hash_file(const EVP_MD *kind, int fd, uint64_t offset, uint64_t length,
		     unsigned char *out, struct err *err)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	int result;

	if (context == NULL || EVP_DigestInit_ex(context, kind, NULL) != 1)
		abort();
	result = feed(context, fd, offset, length, err);
	if (result == 0 && EVP_DigestFinal_ex(context, out, NULL) != 1)
		abort();
	EVP_MD_CTX_free(context);
	return result;
}

int crypto_hash_file(int fd, uint64_t offset, uint64_t length, char hex[2 * STORAGE_HASH_LEN + 1],
		     struct err *err)
{
	unsigned char out[STORAGE_HASH_LEN];

	if (hash_file(EVP_sha256(), fd, offset, length, out, err) != 0)
		return -1;
	put_hex(out, hex);
	return 0;
}

static bool md5(const void *data, size_t len, unsigned char out[MD5_LEN])
{
	return EVP_Digest(data, len, out, NULL, EVP_md5(), NULL) == 1;
}

int crypto_md5_file(int fd, uint64_t offset, uint64_t length, struct buf *out, struct err *err)
{
	unsigned char hashed[MD5_LEN];

	if (!md5("", 0, hashed))
		return 0;
	if (hash_file(EVP_md5(), fd, offset, length, hashed, err) != 0)
		return -1;
	base64_encode(out, hashed, sizeof(hashed));
	return 0;
}

void crypto_md5_text(const void *data, size_t len, struct buf *out)
{
	unsigned char hashed[MD5_LEN];

	if (md5(data, len, hashed))
		base64_encode(out, hashed, sizeof(hashed));
}
