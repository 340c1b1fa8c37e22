/* SPDX-License-Identifier: MIT */
/* words.h - which words a query that only reads does not hold, as data. */
#ifndef SQL_KEYWORDS_H
#define SQL_KEYWORDS_H

#include "base/util.h"
#include "sql/dialect.h"

enum word_place {
	WORD_ANYWHERE, /* it is a reserved word there: nobody's plain name */
	WORD_PAIR,     /* only before the word `next` */
	WORD_NAMED,    /* as any name, also in quotes */
	WORD_CALLED,   /* only as a function: before "(", PostgreSQL's as x.f; also in quotes */
	WORD_PREFIX,   /* the same for all names that begin so */
};

struct word_rule {
	const char *word;
	const char *next;
	const char *why; /* after "WORD ", no full stop */
	unsigned dialects;
	enum word_place place;
};

/* Row `index`, NULL past the end. */
const struct word_rule *keywords_rule(size_t index);

#endif
