/* SPDX-License-Identifier: MIT */
/*
 * told.h - a variable's name in the lines that a driver tells, escaped as runtime/frame.h says.
 */
#ifndef TEXT_TOLD_H
#define TEXT_TOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Undoes the escapes of a field. */
void told_field(struct buf *out, const char *field, size_t len);
/*
 * Takes the name from the beginning of a line of `names`, plain; says whether it is gone. Returns
 * what follows the name and its blank.
 */
const char *told_name(struct buf *out, const char *line, const char *end, bool *ret_gone);
/*
 * `names` with the blanks in what stands for secrets (text/redact.h) written as in a name where it
 * is part of one, and as _ in the words behind: they end neither. The caller frees it.
 */
char *told_marks(const char *names);

#endif
