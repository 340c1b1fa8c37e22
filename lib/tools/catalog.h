/* SPDX-License-Identifier: MIT */
/*
 * catalog.h - the list of tools and the instructions: the texts that a model reads.
 *
 * The texts are in catalog.json. Numbers in them, annotations and the form of answers depend on the
 * settings.
 */
#ifndef TOOLS_CATALOG_H
#define TOOLS_CATALOG_H

#include "config/settings.h"
#include "mcp/server.h"

struct catalog;

/* Budgets of the texts, in bytes (hosts cut or drop what is longer). */
enum {
	CATALOG_LIST_MAX = 8192, /* the serialised tools/list result */
	CATALOG_DESCRIPTION_MAX = 400,
	CATALOG_INSTRUCTIONS_MAX = 1024,
};

/* Fills in the texts. Aborts when they and the functions do not fit together. */
struct catalog *catalog_new(const struct settings *settings);
/* Frees the catalog; no server may use its features any more. `catalog` may be NULL. */
void catalog_free(struct catalog *catalog);
/* Returns the schemas of a tool's arguments, borrowed from the catalog, or NULL. */
json_t *catalog_properties(struct catalog *catalog, const char *tool);
/* Sets name, title, version, instructions and tools, all borrowed from the catalog. */
void catalog_features(const struct catalog *catalog, struct mcp_features *features);

#endif
