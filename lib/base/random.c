/* SPDX-License-Identifier: MIT */
#include "base/random.h"

#include <stdlib.h>
#include <sys/random.h>

void random_hex(char *out, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i + 1 < len; i += 2) {
		unsigned char byte;

		/* A token that can be guessed is none: no way on without randomness. */
		if (getrandom(&byte, 1, 0) != 1)
			abort();
		out[i] = digits[byte >> 4];
		out[i + 1] = digits[byte & 15];
	}
	out[len] = '\0';
}
