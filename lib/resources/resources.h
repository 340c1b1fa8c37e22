/* SPDX-License-Identifier: MIT */
/*
 * resources.h - the resources that resources/list and resources/read serve.
 *
 * - sessions://                     the live sessions, JSON
 * - session://{id}                  one session, JSON
 * - session://{id}/files/{path}     a file; over RESOURCES_INLINE_MAX bytes by ?offset=&length=
 * - session://{id}/cells            its cells, JSON; /cells/{n} one, /cells/{n}/{k} its figure k
 * - session://{id}/notebook         a Jupyter notebook of them
 * - session://{id}/script           their code; ?language= for another than that of most cells
 * - ptycell://guide                 how to work with it, Markdown
 *
 * Offsets are those of the file itself, so that parts join up. In a text, a secret is named in the
 * part in which it begins, and left out of the others.
 */
#ifndef RESOURCES_RESOURCES_H
#define RESOURCES_RESOURCES_H

#include "mcp/server.h"

#define RESOURCES_GUIDE "ptycell://guide"
#define RESOURCES_SESSIONS "sessions://"

enum { RESOURCES_INLINE_MAX = 700000 };

/* Sets the resources of `features`, whose context must be the service. */
void resources_features(struct mcp_features *features);
/*
 * Answers resources/list with a page: the fixed resources, then each session with its notebook and
 * the last seen files of output/. `cursor` may be NULL; `context` is the service.
 */
void resource_list(struct mcp_call *call, const char *cursor, void *context);

#endif
