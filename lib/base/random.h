/* SPDX-License-Identifier: MIT */
/* random.h - tokens that nobody can guess, from the kernel's generator. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>

/* `len` (even) hexadecimal digits in lower case and NUL; `out` has room for len + 1. */
void random_hex(char *out, size_t len);

#endif
