/* SPDX-License-Identifier: MIT */
/*
 * attribute.h - PostgreSQL's other way to call a function of one argument: x.f is f(x), unless x
 * has a column f.
 *
 * A table's row is no argument of what the guard refuses. A value is: of an expression, or of a
 * function in FROM, whose name or alias stands for it.
 */
#ifndef SQL_ATTRIBUTE_H
#define SQL_ATTRIBUTE_H

#include "sql/tokens.h"

/* Whether the name at token `i` may be a function that is called so. */
bool attribute_is_call(const struct tokens *t, size_t i);

#endif
