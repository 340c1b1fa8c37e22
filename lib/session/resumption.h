/* SPDX-License-Identifier: MIT */
/*
 * resumption.h - sentences about sessions that are resumed, or are not, for a first answer. The
 * caller frees them.
 */
#ifndef SESSION_RESUMPTION_H
#define SESSION_RESUMPTION_H

#include <stddef.h>

#include "base/err.h"

struct lasting_found;
struct session;

/* Says what is back and what is not: the session goes on in row `index` of `found`. */
char *resumption_describe(const struct session *session, const struct lasting_found *found,
			  size_t index);
/* Says what of it is back, and how its variables come back: a part of that text. */
char *resumption_ways_back(const struct session *session, const struct lasting_found *found,
			   size_t index);
/* Says that the session is new because another server has that of this id. */
char *resumption_in_use(const char *id, const struct lasting_found *found);
/* Says that the session is new because no folder could be taken over. */
char *resumption_failed(const char *id, const struct err *why);
/* Says that there is no live session, and how the last one is resumed. */
char *resumption_offer(const char *id, const struct lasting_found *found);

#endif
