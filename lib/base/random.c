/* SPDX-License-Identifier: MIT */
/*
 * random.c - hexadecimal tokens from getrandom, which blocks until the kernel's generator is ready.
 */
#include "base/random.h"

#include <stdlib.h>
#include <sys/random.h>

void random_hex(char *out, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i + 1 < len; i += 2) {
		unsigned char byte;

		/* A guessable token is worthless, so there is no fallback. */
		if (getrandom(&byte, 1, 0) != 1)
			abort();
		out[i] = digits[byte >> 4];
		out[i + 1] = digits[byte & 15];
	}
	out[len] = '\0';
}
