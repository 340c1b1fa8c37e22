/* SPDX-License-Identifier: MIT */
/*
 * trap_wrappers.h - restores one of the user's traps at the start of a cell: the driver removes
 * them while it works.
 *
 * DEBUG and RETURN are wrapped, so that they run for the user's code only; others are as bash lists
 * them. EXIT does not come here: codec.c passes it on, and the driver runs it (__ptycell_trap).
 */
#ifndef RUNTIME_BASH_TRAP_WRAPPERS_H
#define RUNTIME_BASH_TRAP_WRAPPERS_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Appends one `trap -- WORD SIGNAL` of bash's listing, in the form that the next cell must begin
 * with.
 */
void trap_wrappers_put(struct buf *out, const char *word, size_t word_len, const char *signal);

#endif
