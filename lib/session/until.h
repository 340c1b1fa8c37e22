/* SPDX-License-Identifier: MIT */
/* until.h - a literal text, looked for in what a terminal shows as it comes. */
#ifndef SESSION_UNTIL_H
#define SESSION_UNTIL_H

#include <stdbool.h>
#include <stddef.h>

struct until;

/* `text` is copied, and not empty. */
struct until *until_new(const char *text, size_t len);
/* NULL is allowed. */
void until_free(struct until *until);
/*
 * Takes terminal bytes in any chunking; true when the text is in them, escape sequences and
 * carriage returns aside, or began in those before and ends in these.
 */
bool until_feed(struct until *until, const char *data, size_t len);

#endif
