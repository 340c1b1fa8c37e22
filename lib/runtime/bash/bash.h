/* SPDX-License-Identifier: MIT */
/* bash.h - the language descriptor of bash 5.0 and later. */
#ifndef RUNTIME_BASH_BASH_H
#define RUNTIME_BASH_BASH_H

struct language;

/* Returns the descriptor. Static. */
const struct language *bash_language(void);

#endif
