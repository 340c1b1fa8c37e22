/* SPDX-License-Identifier: MIT */
/* r.h - the row of R: 4.0 and later. */
#ifndef RUNTIME_R_R_H
#define RUNTIME_R_R_H

struct language;

/* Returns the row, which is static. */
const struct language *r_language(void);

#endif
