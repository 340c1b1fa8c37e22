/* SPDX-License-Identifier: MIT */
/*
 * resource.h - what resources/list and resources/read serve.
 *
 *   sessions://                     the live sessions, JSON
 *   session://{id}                  one session, JSON
 *   session://{id}/files/{path}     a file; over RESOURCES_INLINE_MAX bytes by ?offset=&length=
 *                                   Offsets are the file's own, so that parts join up; in a text a
 *                                   secret is named in the part where it begins, and is in no other
 *   session://{id}/cells            its cells, JSON; /cells/{n} one, /cells/{n}/{k} its figure k
 *   session://{id}/notebook         a Jupyter notebook of them
 *   session://{id}/script           their code; ?language= for another than that of most cells
 *   ptycell://guide                 how to work with it, Markdown
 */
#ifndef RESOURCES_RESOURCES_H
#define RESOURCES_RESOURCES_H

#include "mcp/server.h"

#define RESOURCES_GUIDE "ptycell://guide"
#define RESOURCES_SESSIONS "sessions://"

enum { RESOURCES_INLINE_MAX = 700000 };

void resources_features(struct mcp_features *features);
/* The fixed ones, sessions, notebooks and files of output/ as last seen; page by page. */
void resource_list(struct mcp_call *call, const char *cursor, void *context);

#endif
