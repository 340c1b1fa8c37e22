/* SPDX-License-Identifier: MIT */
/*
 * attribute.h - finds PostgreSQL's other way to call a function of one argument: x.f is f(x),
 * unless x has a column f.
 *
 * No refused function takes a row of a table, so x.f is harmless where x is a table. It may be a
 * call where x is a value: an expression, or the result of a function in FROM, whose name or alias
 * x is.
 */
#ifndef SQL_ATTRIBUTE_H
#define SQL_ATTRIBUTE_H

#include "sql/tokens.h"

/* Returns whether the name at token `i` may be a function called in this way. */
bool attribute_is_call(const struct tokens *t, size_t i);

#endif
