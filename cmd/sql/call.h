/* SPDX-License-Identifier: MIT */
/* call.h - what the functions of a query give: texts, numbers, dates in a known form. */
#ifndef SQL_CALL_H
#define SQL_CALL_H

#include "side.h"

/* CURRENT_DATE and its like. */
bool call_is_now(const struct clause *clause, size_t at);
/* Puts a text as the function of dates or the word at `at` gives; nothing for others. */
void call_put_given(struct buf *out, const struct clause *clause, size_t at);
/* Adds to the side what dates it gives. */
void call_add_moments(const struct clause *clause, size_t at, struct side *side);
/*
 * The name that the function of dates at `at` takes for a date; an empty side when it is none, or
 * when a modifier says what numbers are.
 */
struct side call_dated_name(const struct clause *clause, size_t at);
/* Whether the CAST at `at` gives a number. */
bool call_casts_to_number(const struct clause *clause, size_t at);
/*
 * What follows the call at `at`, which is passed over; `at` itself when its arguments are to be
 * looked at. What it gives is added to the side.
 */
size_t call_behind(const struct clause *clause, size_t at, struct side *side);

#endif
