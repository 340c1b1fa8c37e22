/* SPDX-License-Identifier: MIT */
/*
 * filename.h - makes the file name that a server or a link suggests safe.
 *
 * The result is one part of a path: valid UTF-8 in NFC, 1 to FILENAME_MAX_LEN bytes. It has no
 * control or invisible character, none that some system refuses in names (`/ \ : * ? " < > |`), and
 * no dot or blank at its ends. A file of this name may exist.
 */
#ifndef NET_FILENAME_H
#define NET_FILENAME_H

#include <stddef.h>

enum { FILENAME_MAX_LEN = 200, FILENAME_HEADER_MAX = 8192 };

/* Each returns a string that the caller frees, or NULL if no usable name is left. */

/* Takes the last part of any name or path. A long one is shortened before its extension. */
char *filename_make_safe(const char *name, size_t len);
/*
 * Takes the last part of an URL's path, percent-encoded and without the query. Bytes that are not
 * UTF-8 become "file-12345678" with a hash of them, and keep their extension.
 */
char *filename_from_path(const char *path);
/*
 * Takes the value of a Content-Disposition field (RFC 6266, RFC 8187): filename* before filename,
 * in the charset that it names, and encoded words of RFC 2047. Other bytes that are not UTF-8 count
 * as ISO-8859-1. Returns NULL for more than FILENAME_HEADER_MAX bytes.
 */
char *filename_from_disposition(const char *value, size_t len);

#endif
