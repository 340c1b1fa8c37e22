/* SPDX-License-Identifier: MIT */
/*
 * dump.h - reads the stack dumps of Python's faulthandler.
 *
 * Their form is that of docs.python.org/3/library/faulthandler.html. They are untrusted text:
 * session code prints to the same terminal.
 */
#ifndef RUNTIME_PYTHON_DUMP_H
#define RUNTIME_PYTHON_DUMP_H

struct buf;

/* Removes frames of the driver and the list of extension modules from dumps in `text`. Text before
 * a dump stays. */
void dump_tidy(struct buf *text);
/*
 * Appends the place of the current thread in the last dump: its function, if that is not the
 * cell's, and the line of the cell. Appends nothing without a dump. Lines may end in "\r\n".
 */
void dump_place(const struct buf *text, struct buf *place);

#endif
