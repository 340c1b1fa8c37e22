/* SPDX-License-Identifier: MIT */
/*
 * percent.h - file names as ASCII, in URIs and in requests to helpers (RFC 3986, section 2.1).
 *
 * A name is bytes, and JSON text is Unicode: every byte except unreserved characters and "/"
 * becomes %XX.
 */
#ifndef TEXT_PERCENT_H
#define TEXT_PERCENT_H

#include <stddef.h>

/* Each returns a string that the caller frees. */
char *percent_encode(const char *bytes);
/*
 * Decodes; a "%" without two hexadecimal digits stands for itself. Returns NULL for %00, which no
 * name contains.
 */
char *percent_decode(const char *text, size_t len);

#endif
