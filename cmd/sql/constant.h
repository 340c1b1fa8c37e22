/* SPDX-License-Identifier: MIT */
/* constant.h - constants of a query that stand where they do nothing: a text for a column, NULL. */
#ifndef SQL_CONSTANT_H
#define SQL_CONSTANT_H

#include "side.h"
#include "sink.h"

/* Tells of each kind once. */
void constant_tell(const struct sides *sides, struct sink *sink);

#endif
