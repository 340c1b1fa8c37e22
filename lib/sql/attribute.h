/* SPDX-License-Identifier: MIT */
/*
 * attribute.h - finds PostgreSQL's other way to call a function of one argument: x.f is f(x),
 * unless x has a column f.
 *
 * A table's row is no argument that a refused function takes, but a value is: of an expression, or
 * of a function in FROM, which has the function's name or alias.
 */
#ifndef SQL_ATTRIBUTE_H
#define SQL_ATTRIBUTE_H

#include "sql/tokens.h"

/* Returns whether the name at token `i` may be a function called in this way. */
bool attribute_is_call(const struct tokens *t, size_t i);

#endif
