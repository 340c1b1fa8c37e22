/* SPDX-License-Identifier: MIT */
/*
 * traps.h - restores the user's traps at the start of a cell: the driver removes them while it
 * works.
 */
#ifndef RUNTIME_BASH_TRAPS_H
#define RUNTIME_BASH_TRAPS_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Appends one `trap -- WORD SIGNAL` of bash's listing, in the form that the next cell must begin
 * with.
 */
void traps_put(struct buf *out, const char *word, size_t word_len, const char *signal);

#endif
