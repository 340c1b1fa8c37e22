/* SPDX-License-Identifier: MIT */
/* warnings.h - turns a database's warnings about a query into notes beside the rows. */
#ifndef SQL_WARNINGS_H
#define SQL_WARNINGS_H

#include "sink.h"

enum { WARNINGS_MAX = 5 };

/* Begins as { .sink = SINK }, borrowed. */
struct warnings {
	struct sink *sink;
	char *kinds[WARNINGS_MAX];
	unsigned count;
};

/*
 * Adds "the database WORD: MESSAGE (CODE)", at most WARNINGS_MAX times. Messages that differ only
 * in their values are added once: a query may have thousands of one kind.
 */
void warnings_put(struct warnings *warnings, const char *word, const char *message,
		  const char *code);
void warnings_end(struct warnings *warnings);

#endif
