/* SPDX-License-Identifier: MIT */
/* expect.h - searches a terminal's output for a literal text as it arrives. */
#ifndef RUNNER_EXPECT_H
#define RUNNER_EXPECT_H

#include <stdbool.h>
#include <stddef.h>

struct expect;

/* Makes a search. `text` is copied and must not be empty. */
struct expect *expect_new(const char *text, size_t len);
/* Frees it. May be NULL. */
void expect_free(struct expect *expect);
/*
 * Takes terminal bytes in chunks of any size. Returns true when the text is in them, or began in
 * earlier ones and ends in these. Escape sequences and carriage returns are skipped.
 */
bool expect_feed(struct expect *expect, const char *data, size_t len);

#endif
