/* SPDX-License-Identifier: MIT */
/* charset.h - texts of headers in the charsets that servers name. */
#ifndef NET_CHARSET_H
#define NET_CHARSET_H

#include <stddef.h>

#include "base/buf.h"

/* False, with nothing added, for a charset that is not known and for bytes that are none of it. */
bool charset_decode(const char *charset, const char *bytes, size_t len, struct buf *out);
/*
 * RFC 2047's encoded words ("=?utf-8?B?...?=") in `text` as UTF-8, what stands between two of them
 * and is blank left out. False, with nothing added, when there is none, or one that cannot be read.
 */
bool charset_decode_words(const char *text, struct buf *out);

#endif
