/* SPDX-License-Identifier: MIT */
/* punycode.h - names of hosts in any alphabet as the names of the DNS (RFC 3492, IDNA 2008). */
#ifndef TEXT_PUNYCODE_H
#define TEXT_PUNYCODE_H

#include <stddef.h>

/*
 * "Bücher.example" as "xn--bcher-kva.example": in lower case, composed, and each part that is not
 * ASCII encoded. The caller frees it. NULL for what is no UTF-8, or has a part too long to encode.
 */
char *punycode_host(const char *text, size_t len);

#endif
