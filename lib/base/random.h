/* SPDX-License-Identifier: MIT */
/* random.h - tokens that cannot be guessed, from the kernel's generator. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>

/* Writes `len` (even) lower-case hexadecimal digits and a NUL. `out` has room for len + 1. */
void random_hex(char *out, size_t len);

#endif
