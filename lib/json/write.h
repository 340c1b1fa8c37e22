/* SPDX-License-Identifier: MIT */
/*
 * write.h - writes values as compact JSON text into a buffer.
 *
 * The text is one line (except json_write_indented) of valid UTF-8, with control characters escaped
 * and keys in the order in which they were set. Invisible characters (text/invisible.h) are escaped
 * too, except by json_write_sorted and json_write_indented: readers of the text see them, while
 * readers of the value get them unchanged. A real is written with the fewest digits that read back
 * as the same number: 15, as users expect of 0.1, or up to 17.
 */
#ifndef JSON_WRITE_H
#define JSON_WRITE_H

#include <jansson.h>

#include "base/buf.h"

/*
 * Returns 0. Returns -1 and sets ERR_LIMIT past the buffer's maximum; the buffer then holds a part
 * of the text.
 */
int json_write(struct buf *out, const json_t *value, struct err *err) MUST_CHECK;
/* Writes with sorted keys: equal values give equal text. Returns -1 and sets *err. */
int json_write_sorted(struct buf *out, const json_t *value, struct err *err) MUST_CHECK;
/*
 * Writes several lines, indented by two blanks, for files that users edit. Returns -1 and sets
 * *err.
 */
int json_write_indented(struct buf *out, const json_t *value, struct err *err) MUST_CHECK;
/* Returns the text of a value that our own code bounds. The caller frees it. */
char *json_write_text(const json_t *value);
/* Writes such a value to a file, as fd_replace_file does. Returns -1 and sets *err. */
int json_write_file(int dir_fd, const char *name, const json_t *value, struct err *err) MUST_CHECK;

#endif
