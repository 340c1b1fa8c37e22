/* SPDX-License-Identifier: MIT */
/* variables.h - the names in a session's interpreters, as session_info shows them. */
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
 * Asks every interpreter of the session and then puts into `answer` (borrowed until then)
 *   variables           [{language, name, type, shape, bytes, value}], members without a value
 *                       left out; at most VARIABLES_MAX, the same number for each language
 *   variables_left_out  how many more there are, when there are
 *   variables_problem   which interpreters could not be asked, and why; when some could not
 * `redact` (borrowed, or NULL) takes secrets out before values are cut. `done` comes from the loop,
 * once; also when the session ends meanwhile.
 */
struct variables *variables_ask(struct loop *loop, struct session *session,
				const struct redact *redact, json_t *answer,
				void (*done)(void *data), void *data);
/* `done` will not be called. */
void variables_cancel(struct variables *variables);

/*
 * A driver's lines (`vars` in runtime/frame.h) as such an array, cleaned, at most `max` of them;
 * `ret_left_out` are the lines beyond.
 */
json_t *variables_parse(const char *language, const char *lines, size_t len, size_t max,
			const struct redact *redact, size_t *ret_left_out);

#endif
