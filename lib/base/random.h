/* SPDX-License-Identifier: MIT */
/* random.h - bytes and tokens that cannot be guessed, from the kernel's generator. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>

/* Read where a filter forbids getrandom. */
#define RANDOM_DEVICE "/dev/urandom"

/* Fills `out` with at most 256 bytes, or ends the process. */
void random_bytes(void *out, size_t len);
/* Writes `len` (even) lower-case hexadecimal digits and a NUL. `out` has room for len + 1. */
void random_hex(char *out, size_t len);

#endif
