/* SPDX-License-Identifier: MIT */
/*
 * notices.h - sentences that the next answer begins with, each once, with the number of its
 * repetitions.
 *
 * session_add_notice adds one to a session. session_take_notice takes all of them for an answer:
 * session_call.c for cells, the tool for any other. answer/render puts them before the rest. The
 * first answer of a session also says what became of earlier sessions of its id (resumption.h), and
 * what is weak or missing on this machine: table.c joins these in opening_notice.
 */
#ifndef SESSION_NOTICES_H
#define SESSION_NOTICES_H

#include <stdbool.h>
#include <stdint.h>

enum { NOTICES_MAX = 16 }; /* different sentences; further ones are only counted */

/* Zero-initialised. */
struct notices {
	struct notice {
		char *text;
		uint64_t subject; /* what it is about; 0: it cannot be withdrawn */
		unsigned int times;
		bool sure; /* others do not crowd it out */
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
/*
 * Adds a sentence that others do not crowd out: where there is no room, the last other one is only
 * counted.
 */
void notices_add_sure(struct notices *notices, const char *text);
/* Adds a sentence that notices_withdraw removes by its subject, which must not be 0. */
void notices_add_about(struct notices *notices, uint64_t subject, const char *text);
void notices_withdraw(struct notices *notices, uint64_t subject);
/* Removes a part of a sentence, wherever it is. */
void notices_cut(struct notices *notices, const char *part);

#endif
