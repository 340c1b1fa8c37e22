/* SPDX-License-Identifier: MIT */
/*
 * traps.h - the user's traps, as a cell begins with them: the driver takes them off while it works.
 */
#ifndef RUNTIME_BASH_TRAPS_H
#define RUNTIME_BASH_TRAPS_H

#include <stddef.h>

#include "base/buf.h"

/* Appends one `trap -- WORD SIGNAL` of bash's listing, as the next cell shall begin with it. */
void traps_put(struct buf *out, const char *word, size_t word_len, const char *signal);

#endif
