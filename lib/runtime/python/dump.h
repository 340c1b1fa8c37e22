/* SPDX-License-Identifier: MIT */
/*
 * dump.h - what Python's faulthandler prints (docs.python.org/3/library/faulthandler.html) without
 * what says nothing of a cell: frames of the driver, and every extension module there is.
 */
#ifndef RUNTIME_PYTHON_DUMP_H
#define RUNTIME_PYTHON_DUMP_H

struct buf;

/* Takes these lines out of text that may have such dumps in it. What stands before them stays. */
void dump_tidy(struct buf *text);
/*
 * Appends where the thread of the last dump was: the function, where that is not of the cell, and
 * the line of the cell. Nothing when there is no dump. Lines end as on a terminal.
 */
void dump_place(const struct buf *text, struct buf *place);

#endif
