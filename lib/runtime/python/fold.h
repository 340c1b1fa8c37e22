/* SPDX-License-Identifier: MIT */
/* fold.h - a traceback without the frames of libraries, which say nothing about the user's code. */
#ifndef RUNTIME_PYTHON_FOLD_H
#define RUNTIME_PYTHON_FOLD_H

struct buf;

/*
 * Appends the traceback. Each row of two or more frames of libraries becomes a line that counts
 * them and names the last one.
 */
void fold_traceback(const char *traceback, struct buf *out);

#endif
