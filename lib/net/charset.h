/* SPDX-License-Identifier: MIT */
/* charset.h - decodes texts of headers in the charsets that servers name. */
#ifndef NET_CHARSET_H
#define NET_CHARSET_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Appends the text as UTF-8. Returns false and appends nothing for an unknown charset, and for
 * bytes that are not valid in it.
 */
bool charset_decode(const char *charset, const char *bytes, size_t len, struct buf *out);
/*
 * Appends `text` with its encoded words of RFC 2047 ("=?utf-8?B?...?=") as UTF-8; blanks between
 * two of them are dropped. Returns false and appends nothing if it has none, or one that cannot be
 * read.
 */
bool charset_decode_words(const char *text, struct buf *out);

#endif
