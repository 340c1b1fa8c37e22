/* SPDX-License-Identifier: MIT */
/* notices.h - sentences for the next answer, each once, with the number of its repetitions. */
#ifndef SESSION_NOTICES_H
#define SESSION_NOTICES_H

#include <stdint.h>

enum { NOTICES_MAX = 16 }; /* different sentences; further ones are only counted */

/* Zero-initialised. */
struct notices {
	struct notice {
		char *text;
		unsigned int times;
		uint64_t subject; /* what it is about; 0: it cannot be withdrawn */
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
/* Adds a sentence that notices_withdraw removes by its subject, which must not be 0. */
void notices_add_about(struct notices *notices, uint64_t subject, const char *text);
void notices_withdraw(struct notices *notices, uint64_t subject);

#endif
