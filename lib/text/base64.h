/* SPDX-License-Identifier: MIT */
/* base64.h - RFC 4648 section 4: standard alphabet, padding, one line. */
#ifndef TEXT_BASE64_H
#define TEXT_BASE64_H

#include <stddef.h>

#include "base/buf.h"

/* Returns the length of the encoding of `len` bytes. */
size_t base64_encoded_len(size_t len);
void base64_encode(struct buf *out, const void *data, size_t len);
/*
 * Appends the decoded bytes. Blanks and line breaks between characters are skipped. Returns -1 and
 * sets ERR_INVALID for any other character, missing padding and leftover bits. Sets ERR_LIMIT if
 * `out` has no room for len / 4 * 3 + 3 bytes. A failure appends nothing.
 */
int base64_decode(struct buf *out, const char *s, size_t len, struct err *err) MUST_CHECK;

#endif
