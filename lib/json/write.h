/* SPDX-License-Identifier: MIT */
/*
 * write.h - values to compact JSON text in a buffer.
 *
 * One line (but see json_write_indented), valid UTF-8, control characters escaped, keys in the
 * order they were set. Characters that nobody sees (text/invisible.h) are escaped as well, except
 * by json_write_sorted and json_write_indented: a reader of the text sees them, a reader of the
 * value gets it as it is. A real is written with the digits that read back as the same number: 15,
 * what people expect of 0.1, or up to 17.
 */
#ifndef JSON_WRITE_H
#define JSON_WRITE_H

#include <jansson.h>

#include "base/buf.h"

/* ERR_LIMIT past the buffer's maximum, with a part of the text in it. */
int json_write(struct buf *out, const json_t *value, struct err *err) MUST_CHECK;
/* The same with sorted keys: equal values give equal text. */
int json_write_sorted(struct buf *out, const json_t *value, struct err *err) MUST_CHECK;
/* Over several lines, two blanks deep, for files that people edit. */
int json_write_indented(struct buf *out, const json_t *value, struct err *err) MUST_CHECK;
/* For values that our own code bounds; the caller frees the text. */
char *json_write_text(const json_t *value);

#endif
