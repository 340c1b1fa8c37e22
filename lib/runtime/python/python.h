/* SPDX-License-Identifier: MIT */
/* python.h - the row of Python: CPython 3.9 and later. */
#ifndef RUNTIME_PYTHON_PYTHON_H
#define RUNTIME_PYTHON_PYTHON_H

struct language;

/* Returns the row, which is static. */
const struct language *python_language(void);

#endif
