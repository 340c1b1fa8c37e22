/* SPDX-License-Identifier: MIT */
/* notices.h - sentences for the next answer, each once, with the number of its repetitions. */
#ifndef SESSION_NOTICES_H
#define SESSION_NOTICES_H

enum { NOTICES_MAX = 16 }; /* different sentences; further ones are only counted */

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
/*
 * Returns all sentences in the order in which they came first, one a line, and forgets them. The
 * caller frees the result. Returns NULL when there are none.
 */
char *notices_take(struct notices *notices);

#endif
