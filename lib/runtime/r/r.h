/* SPDX-License-Identifier: MIT */
/* r.h - the row of R: 4.0 and later. */
#ifndef RUNTIME_R_R_H
#define RUNTIME_R_R_H

struct language;

/* Static storage. */
const struct language *r_language(void);

#endif
