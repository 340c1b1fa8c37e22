/* SPDX-License-Identifier: MIT */
/* call.h - the results of functions in a query: texts, numbers, and dates in a known form. */
#ifndef SQL_CALL_H
#define SQL_CALL_H

#include "side.h"

/* Returns true for CURRENT_DATE, CURRENT_TIME and CURRENT_TIMESTAMP. */
bool call_is_now(const struct clause *clause, size_t at);
/*
 * Appends a text in the form that the date function or keyword at `at` returns; nothing for others.
 */
void call_put_given(struct buf *out, const struct clause *clause, size_t at);
/* Adds to the side the traits of the dates that the call returns. */
void call_add_moments(const struct clause *clause, size_t at, struct side *side);
/*
 * Returns the name that the date function at `at` reads as a date. Returns an empty side for
 * another argument, and when a modifier says what a number means.
 */
struct side call_dated_name(const struct clause *clause, size_t at);
/* Returns true when the CAST at `at` results in a number. */
bool call_casts_to_number(const struct clause *clause, size_t at);
/*
 * Adds the result of the call at `at` to the side. Returns the token behind the call, or `at`
 * itself when its arguments must be inspected.
 */
size_t call_behind(const struct clause *clause, size_t at, struct side *side);

#endif
