/* SPDX-License-Identifier: MIT */
/*
 * verdict.c - two tables, one row for each verdict. The proxy sends words, the server makes
 * sentences of them, so that a proxy under an attacker's control cannot write text for the model.
 */
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

static const char *const clauses[] = {
	[VERDICT_ALLOWED] = "is allowed",
	[VERDICT_MALFORMED] = "cannot be asked for like this",
	[VERDICT_NOT_LISTED] = "is not among the hosts that this session may reach",
	[VERDICT_FORBIDDEN] = "is forbidden by an entry of PTYCELL_HOSTS",
	[VERDICT_PORT] = "may be reached, but not on this port",
	[VERDICT_PRIVATE] = "leads to this machine or its networks",
	[VERDICT_RESERVED] = "leads to a reserved address, which is never reached",
	[VERDICT_TLS] = "is reached by TLS with its own name only",
	[VERDICT_BYTES] = "is not reached: this session's PTYCELL_NET_MAX is used up",
	[VERDICT_UNRESOLVED] = "is not known to the name service",
	[VERDICT_UNREACHABLE] = "does not answer",
};
_Static_assert(ARRAY_SIZE(clauses) == VERDICTS, "a clause for each");

const char *verdict_word(enum verdict verdict)
{
	return words[verdict];
}

const char *verdict_clause(enum verdict verdict)
{
	return clauses[verdict];
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
