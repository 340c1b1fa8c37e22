/* SPDX-License-Identifier: MIT */
/* bash.h - the row of bash: 5.0 and later. */
#ifndef RUNTIME_BASH_BASH_H
#define RUNTIME_BASH_BASH_H

struct language;

/* Static storage. */
const struct language *bash_language(void);

#endif
