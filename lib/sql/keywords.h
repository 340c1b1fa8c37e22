/* SPDX-License-Identifier: MIT */
/* keywords.h - the words that a query that only reads must not contain, as data. */
#ifndef SQL_KEYWORDS_H
#define SQL_KEYWORDS_H

#include "base/util.h"
#include "sql/sql_dialect.h"

enum word_place {
	WORD_ANYWHERE, /* a reserved word: never a plain name */
	WORD_PAIR,     /* only before the word `next` */
	WORD_NAMED,    /* as any name, also in quotes */
	WORD_CALLED, /* only as a function: before "(", in PostgreSQL also as x.f; also in quotes */
	WORD_PREFIX, /* all names that begin so, as a function */
};

struct word_rule {
	const char *word;
	const char *next;
	const char *why; /* follows "WORD " in the message, without a full stop */
	unsigned dialects;
	enum word_place place;
};

/* Returns rule `index`, NULL past the end. */
const struct word_rule *keywords_rule(size_t index);

#endif
