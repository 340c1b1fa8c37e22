/* SPDX-License-Identifier: MIT */
/* digest.h - SHA-256, so that a user can compare a record with a file or a text. */
#ifndef JOURNAL_DIGEST_H
#define JOURNAL_DIGEST_H

#include <stddef.h>

enum { DIGEST_LEN = 64 };

/* Writes the SHA-256 of the bytes: lower-case hexadecimal digits and NUL. */
void digest_sha256(const void *data, size_t len, char text[DIGEST_LEN + 1]);

#endif
