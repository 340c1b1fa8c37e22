/* SPDX-License-Identifier: MIT */
/*
 * magics.h - rewrites IPython's own lines of a Python cell as calls, as Jupyter exports them:
 *
 *   %pip install x   get_ipython().run_line_magic('pip', 'install x')
 *   !ls              get_ipython().system('ls')
 *   a = !ls          a = get_ipython().getoutput('ls')
 *   a?               get_ipython().run_line_magic('pinfo', 'a')
 *   %%bash -e        get_ipython().run_cell_magic('bash', '-e', 'the rest of the cell')
 *
 * Strings, comments and brackets are recognized, so that nothing else is changed.
 */
#ifndef JOURNAL_MAGICS_H
#define JOURNAL_MAGICS_H

#include <stddef.h>

#include "base/buf.h"

/* Appends the code with calls in place of magics. */
void magics_rewrite(struct buf *out, const char *code, size_t len);

#endif
