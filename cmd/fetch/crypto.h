/* SPDX-License-Identifier: MIT */
/* crypto.h - libcrypto's hashes behind the interface of storage/crypto.h. */
#ifndef FETCH_CRYPTO_H
#define FETCH_CRYPTO_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "storage/crypto.h"

extern const struct storage_crypto crypto_functions;

/*
 * Computes the SHA-256 of a range of a file, in hexadecimal digits. The file may have become
 * shorter. Returns -1 and sets *err.
 */
int crypto_hash_file(int fd, uint64_t offset, uint64_t length, char hex[2 * STORAGE_HASH_LEN + 1],
		     struct err *err) MUST_CHECK;
void crypto_hash_text(const void *data, size_t len, char hex[2 * STORAGE_HASH_LEN + 1]);
/*
 * Appends the MD5 in base64, as Content-MD5 has it. Appends nothing where libcrypto lacks MD5
 * (FIPS). Returns -1 and sets *err.
 */
int crypto_md5_file(int fd, uint64_t offset, uint64_t length, struct buf *out,
		    struct err *err) MUST_CHECK;
void crypto_md5_text(const void *data, size_t len, struct buf *out);

#endif
