/* SPDX-License-Identifier: MIT */
/* catalog.h - the list of tools with the texts that a model reads. */
#ifndef TOOLS_CATALOG_H
#define TOOLS_CATALOG_H

#include "config/settings.h"
#include "mcp/server.h"

/* Budgets of the texts, in bytes (hosts cut or drop what is longer). */
enum {
	CATALOG_LIST_MAX = 4608, /* the serialised tools/list result */
	CATALOG_DESCRIPTION_MAX = 400,
	CATALOG_INSTRUCTIONS_MAX = 1024,
};

/* Sets name, title, version and tools. */
void catalog_features(struct mcp_features *features);
/* The instructions, which the caller frees. */
char *catalog_instructions(const struct settings *settings);
/*
 * The annotations of the tools that run code: what it can do to the person's things, and whom it
 * can reach, depend on what is shared, which hosts are named, and whether it is confined. Static.
 */
const char *catalog_code_annotations(const struct settings *settings);

#endif
