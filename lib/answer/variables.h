/* SPDX-License-Identifier: MIT */
/* variables.h - the variables of a session's interpreters, as session_info shows them. */
#ifndef ANSWER_VARIABLES_H
#define ANSWER_VARIABLES_H

#include <jansson.h>
#include <stddef.h>

struct loop;
struct redact;
struct session;
struct variables;

enum { VARIABLES_MAX = 200 }; /* an answer is one line of less than 1,000,000 bytes */

/*
 * Asks every interpreter of the session, then puts into `answer` (borrowed until `done`)
 * - variables           [{language, name, type, shape, bytes, value}], members without a value
 *                       left out; at most VARIABLES_MAX, the same number for each language
 * - variables_left_out  the number of further ones, if any
 * - variables_problem   the interpreters that could not be asked, and why, if any
 * `redact` (borrowed, may be NULL) takes secrets out before values are cut. `done` is called once,
 * from the loop, also when the session ends meanwhile.
 */
struct variables *variables_ask(struct loop *loop, struct session *session,
				const struct redact *redact, json_t *answer,
				void (*done)(void *data), void *data);
/* Cancels: `done` is not called. */
void variables_cancel(struct variables *variables);

/*
 * Returns at most `max` of a driver's lines (`vars` in runtime/frame.h) as such an array, cleaned,
 * as a new reference. Sets *ret_left_out to the number of further lines. `redact` may be NULL.
 */
json_t *variables_parse(const char *language, const char *lines, size_t len, size_t max,
			const struct redact *redact, size_t *ret_left_out);

#endif
