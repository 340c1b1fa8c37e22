/* SPDX-License-Identifier: MIT */
/*
 * name_lines.h - reads the names of variables in the lines that a driver sends (runtime/frame.h
 * defines their escapes).
 */
#ifndef TEXT_NAME_LINES_H
#define TEXT_NAME_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Appends a field with its escapes undone. */
void name_lines_field(struct buf *out, const char *field, size_t len);
/*
 * Appends the plain name at the beginning of a line of `names`, and sets *ret_gone if it was
 * deleted. Returns the text behind the name and its blank.
 */
const char *name_lines_name(struct buf *out, const char *line, const char *end, bool *ret_gone);

#endif
