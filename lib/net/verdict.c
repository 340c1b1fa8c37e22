/* SPDX-License-Identifier: MIT */
#include "net/verdict.h"

#include "base/util.h"

static const char *const words[] = {
	[VERDICT_ALLOWED] = "allowed",
	[VERDICT_MALFORMED] = "malformed",
	[VERDICT_NOT_LISTED] = "not_listed",
	[VERDICT_FORBIDDEN] = "forbidden",
	[VERDICT_PORT] = "port",
	[VERDICT_PRIVATE] = "private",
	[VERDICT_RESERVED] = "reserved",
	[VERDICT_TLS] = "tls",
	[VERDICT_BYTES] = "bytes",
	[VERDICT_UNRESOLVED] = "unresolved",
	[VERDICT_UNREACHABLE] = "unreachable",
};
_Static_assert(ARRAY_SIZE(words) == VERDICTS, "a word for each");

const char *verdict_word(enum verdict verdict)
{
	return words[verdict];
}

enum verdict verdict_find(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (str_eq(words[i], word))
			return (enum verdict)i;
	return VERDICTS;
}

bool verdict_is_refusal(enum verdict verdict)
{
	return verdict != VERDICT_ALLOWED && verdict != VERDICT_UNRESOLVED &&
	       verdict != VERDICT_UNREACHABLE;
}
