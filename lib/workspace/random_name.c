/* SPDX-License-Identifier: MIT */
/*
 * random_name.c - makes random names. Each byte gives one of 32 characters, so no bias needs to be
 * removed.
 */
#include "workspace/random_name.h"

#include <string.h>

#include "base/mem.h"
#include "base/random.h"

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

void random_name_fill(char *out, size_t len)
{
	random_bytes(out, len); /* session code could create a guessed name first */
	for (size_t i = 0; i < len; i++)
		out[i] = alphabet[(unsigned char)out[i] % 32];
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
