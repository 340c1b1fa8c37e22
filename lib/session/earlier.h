/* SPDX-License-Identifier: MIT */
/* earlier.h - the ended sessions of an id, in the order in which they are resumed. */
#ifndef SESSION_EARLIER_H
#define SESSION_EARLIER_H

#include "workspace/lasting.h"

struct session_host;

/*
 * Finds the ended sessions of this id, also those of servers that died meanwhile. The last used one
 * comes first, but those in which no cell ran come after the others. The caller releases the
 * result.
 */
void earlier_find(const struct session_host *host, const char *id, struct lasting_found *ret);

#endif
