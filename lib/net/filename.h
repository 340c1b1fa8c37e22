/* SPDX-License-Identifier: MIT */
/*
 * filename.h - the name that a server or a link suggests for a file, made safe.
 *
 * What comes out is one part of a path: valid UTF-8 in NFC, 1 to FILENAME_MAX_LEN bytes, no control
 * or hidden character, none that some system refuses in names (`/ \ : * ? " < > |`), no dot or
 * blank at its ends. It says nothing about whether such a file exists.
 */
#ifndef NET_FILENAME_H
#define NET_FILENAME_H

#include <stddef.h>

enum { FILENAME_MAX_LEN = 200, FILENAME_HEADER_MAX = 8192 };

/* All return a string that the caller frees, or NULL when nothing usable is left. */

/* The last part of any name or path; a longer one is cut before its extension. */
char *filename_make_safe(const char *name, size_t len);
/*
 * The last part of an URL's path, percent-encoded as it is there, without the query. What is no
 * UTF-8 becomes "file-12345678" with a hash of it, and keeps its extension.
 */
char *filename_from_path(const char *path);
/*
 * Of a Content-Disposition field's value (RFC 6266, RFC 8187): filename* before filename, in the
 * charset that it names, and encoded words of RFC 2047. Other bytes that are no UTF-8 count as
 * ISO-8859-1. NULL for longer than FILENAME_HEADER_MAX.
 */
char *filename_from_disposition(const char *value, size_t len);

#endif
