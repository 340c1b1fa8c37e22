/* SPDX-License-Identifier: MIT */
/* catalog_texts.h - the texts of catalog.json, which scripts/embed-catalog writes as C. */
#ifndef TOOLS_CATALOG_TEXTS_H
#define TOOLS_CATALOG_TEXTS_H

#include <stddef.h>

/* The last three are JSON without blanks. */
struct catalog_text {
	const char *name;
	const char *title;
	const char *description;
	const char *input_schema;
	const char *output_schema; /* NULL: the tool answers with text */
	const char *annotations;
};

/* The paragraphs, a line each. */
extern const char catalog_instructions[];
extern const struct catalog_text catalog_texts[];
extern const size_t catalog_text_count;

#endif
