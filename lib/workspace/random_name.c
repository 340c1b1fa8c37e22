/* SPDX-License-Identifier: MIT */
/*
 * random_name.c - random names. Each byte gives one of 32 characters, so no bias
 * needs to be removed.
 */
#include "workspace/random_name.h"

#include <string.h>

#include "base/mem.h"
#include "base/random.h"

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

void random_name_fill(char *out, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char byte;

		random_bytes(&byte, 1); /* session code could create a guessed name first */
		out[i] = alphabet[byte % 32];
	}
	out[len] = '\0';
}

static bool name_is_random(const char *text, size_t len)
{
	return strlen(text) == len && strspn(text, alphabet) == len;
}

char *random_name_new(const char *prefix)
{
	char random[RANDOM_NAME_RANDOM_LEN + 1];

	random_name_fill(random, RANDOM_NAME_RANDOM_LEN);
	return xasprintf("%s%s", prefix, random);
}

bool random_name_matches(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) == 0 &&
	       name_is_random(text + len, RANDOM_NAME_RANDOM_LEN);
}
