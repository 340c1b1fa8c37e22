/* SPDX-License-Identifier: MIT */
/*
 * name_lines.h - reads the names of variables in the lines that a driver sends (runtime/frame.h
 * gives their escapes).
 */
#ifndef TEXT_NAME_LINES_H
#define TEXT_NAME_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Undoes the escapes of a field. */
void name_lines_field(struct buf *out, const char *field, size_t len);
/*
 * Takes the name from the beginning of a line of `names`, plain; says whether it is gone. Returns
 * what follows the name and its blank.
 */
const char *name_lines_name(struct buf *out, const char *line, const char *end, bool *ret_gone);

#endif
