/* SPDX-License-Identifier: MIT */
/* constant.h - finds constants that have no effect where they are: a text for a column, or NULL. */
#ifndef SQL_CONSTANT_H
#define SQL_CONSTANT_H

#include "side.h"
#include "sink.h"

/* Reports each kind once. */
void constant_report(const struct sides *sides, struct sink *sink);

#endif
