/* SPDX-License-Identifier: MIT */
/*
 * identifier.c - the span of an identifier by libunistring's tables. All of ASCII passes, because
 * callers have rules of their own for it.
 */
#include "text/identifier.h"

#include <stdint.h>
#include <unictype.h>
#include <unistr.h>

size_t identifier_span(const char *s, size_t len)
{
	size_t at = 0;

	while (at < len) {
		ucs4_t c;
		int bytes = u8_mbtouc(&c, (const uint8_t *)s + at, len - at);

		/* An ill-formed character reads as U+FFFD, which is no letter. */
		if (c >= 0x80 && !uc_is_property_xid_continue(c))
			break;
		at += (size_t)bytes;
	}
	return at;
}
