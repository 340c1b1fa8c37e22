/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - names of the proxy's verdicts on requests: a word for the server and a clause for
 * users. cmd/proxy decides, in connection.c by net/host_list.h and in dial.c by net/address.h.
 */
#ifndef NET_VERDICT_H
#define NET_VERDICT_H

#include <stdbool.h>

enum verdict {
	VERDICT_ALLOWED,
	VERDICT_MALFORMED,  /* not HTTP as we accept it, or its host is no name */
	VERDICT_NOT_LISTED, /* refused by PTYCELL_HOSTS: this one and the next two */
	VERDICT_FORBIDDEN,
	VERDICT_PORT,
	VERDICT_PRIVATE,    /* the name leads to this machine or its networks */
	VERDICT_RESERVED,   /* the name leads to an address that is never allowed */
	VERDICT_TLS,        /* the tunnel did not carry TLS for the host that was named */
	VERDICT_BYTES,      /* PTYCELL_NET_MAX is used up */
	VERDICT_UNRESOLVED, /* allowed, but its name does not resolve: this one and the next */
	VERDICT_UNREACHABLE,
	VERDICTS
};

/* Returns the word, "not_listed". The result is static. */
const char *verdict_word(enum verdict verdict);
/*
 * Returns the clause that follows a host in a sentence: "is not known to the name service". The
 * result is static.
 */
const char *verdict_clause(enum verdict verdict);
/* Returns VERDICTS for an unknown word. */
enum verdict verdict_find(const char *word);
/* Returns whether we refused it: neither allowed nor failed in the world. */
bool verdict_is_refusal(enum verdict verdict);

#endif
