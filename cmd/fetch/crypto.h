/* SPDX-License-Identifier: MIT */
/* crypto.h - libcrypto's hashes, as storage/crypto.h wants them. */
#ifndef FETCH_CRYPTO_H
#define FETCH_CRYPTO_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "storage/crypto.h"

extern const struct storage_crypto crypto_functions;

/* SHA-256 in hexadecimal digits of a part of a file, which may be shorter by now. */
int crypto_hash_file(int fd, uint64_t offset, uint64_t length, char hex[2 * STORAGE_HASH_LEN + 1],
		     struct err *err) MUST_CHECK;
void crypto_hash_text(const void *data, size_t len, char hex[2 * STORAGE_HASH_LEN + 1]);
/* MD5 in Base64, as Content-MD5 has it; nothing where libcrypto does without it (FIPS). */
int crypto_md5_file(int fd, uint64_t offset, uint64_t length, struct buf *out,
		    struct err *err) MUST_CHECK;
void crypto_md5_text(const void *data, size_t len, struct buf *out);

#endif
