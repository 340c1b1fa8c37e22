/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - what the proxy made of a request, in a word for the server and a clause for people.
 */
#ifndef NET_VERDICT_H
#define NET_VERDICT_H

#include <stdbool.h>

enum verdict {
	VERDICT_ALLOWED,
	VERDICT_MALFORMED,  /* not HTTP as it is spoken here, or its host is no name */
	VERDICT_NOT_LISTED, /* refused by PTYCELL_HOSTS: this one and the next two */
	VERDICT_FORBIDDEN,
	VERDICT_PORT,
	VERDICT_PRIVATE,    /* the name leads to this machine or its networks */
	VERDICT_RESERVED,   /* or to an address that no session is to reach */
	VERDICT_TLS,        /* what came in the tunnel was not TLS for the host that was named */
	VERDICT_BYTES,      /* PTYCELL_NET_MAX is used up */
	VERDICT_UNRESOLVED, /* allowed, but its name leads nowhere: this one and the next */
	VERDICT_UNREACHABLE,
	VERDICTS
};

/* "not_listed" */
const char *verdict_word(enum verdict verdict);
/* "is not known to the name service": what stands behind a host in a sentence. */
const char *verdict_clause(enum verdict verdict);
/* VERDICTS for a word that is none. */
enum verdict verdict_find(const char *word);
/* Did we refuse it? Neither allowed nor failed in the world. */
bool verdict_is_refusal(enum verdict verdict);

#endif
