/* SPDX-License-Identifier: MIT */
/* until.h - a literal text, looked for in what a terminal shows as it comes. */
#ifndef RUNNER_EXPECT_H
#define RUNNER_EXPECT_H

#include <stdbool.h>
#include <stddef.h>

struct expect;

/* `text` is copied, and not empty. */
struct expect *expect_new(const char *text, size_t len);
/* NULL is allowed. */
void expect_free(struct expect *until);
/*
 * Takes terminal bytes in any chunking; true when the text is in them, escape sequences and
 * carriage returns aside, or began in those before and ends in these.
 */
bool expect_feed(struct expect *until, const char *data, size_t len);

#endif
