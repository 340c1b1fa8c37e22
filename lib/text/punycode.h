/* SPDX-License-Identifier: MIT */
/* punycode.h - names of hosts in any alphabet, as names of the DNS (RFC 3492, IDNA 2008). */
#ifndef TEXT_PUNYCODE_H
#define TEXT_PUNYCODE_H

#include <stddef.h>

/*
 * Returns "Bücher.example" as "xn--bcher-kva.example": in lower case, composed, with each part that
 * is not ASCII encoded. The caller frees it. Returns NULL for ill-formed UTF-8 and for a part that
 * is too long to encode.
 */
char *punycode_host(const char *text, size_t len);

#endif
