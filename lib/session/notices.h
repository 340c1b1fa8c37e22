/* SPDX-License-Identifier: MIT */
/* notices.h - sentences that are due with the next answer, each once with how often it was said. */
#ifndef SESSION_NOTICES_H
#define SESSION_NOTICES_H

enum { NOTICES_MAX = 16 }; /* different ones; of the others only their number is told */

/* Zero-initialised. */
struct notices {
	struct notice {
		char *text;
		unsigned int times;
	} rows[NOTICES_MAX];
	unsigned int count;
	unsigned int others;
};

void notices_release(struct notices *notices);
void notices_add(struct notices *notices, const char *text);
/* All of them in the order of their first, a line each, for the caller to free; NULL without any.
 * They are gone then. */
char *notices_take(struct notices *notices);

#endif
