/* SPDX-License-Identifier: MIT */
/*
 * unreported.h - what inspections of shares found and no answer has said yet.
 *
 * Each session whose code may write to a share has a file in UNREPORTED_FOLDER of the home, locked
 * by its server (flock). The kernel releases the lock however the server ends. A file without a
 * lock is therefore of an ended server, or of an ended session: the next answer of any session of
 * this home says what it holds, once.
 */
#ifndef WORKSPACE_UNREPORTED_H
#define WORKSPACE_UNREPORTED_H

#include <stdbool.h>
#include <stddef.h>

#include "workspace/workspace.h"

struct unreported;

/* The folder of these files, in the home. No session can reach it. */
#define UNREPORTED_FOLDER "looks"

enum {
	UNREPORTED_TEXTS_MAX = 32, /* of a session; the others are counted */
	UNREPORTED_TAKEN_MAX = 16  /* files that one answer reports */
};

/*
 * Makes the file. It says that the shares at `paths` were not inspected to the end, until
 * unreported_complete(). `session_id` is copied. Returns NULL if that fails, which is only logged.
 */
struct unreported *unreported_new(const struct home *home, const char *session_id,
				  const char *const *paths, size_t count);
/* Adds a sentence. */
void unreported_add(struct unreported *unreported, const char *text);
/* Removes the sentences that were added, because an answer has them. */
void unreported_clear(struct unreported *unreported);
/* Notes that the shares were inspected to the end. */
void unreported_complete(struct unreported *unreported);
/* Returns whether no sentence is left. */
bool unreported_is_empty(const struct unreported *unreported);
/* Leaves the sentences to unreported_take(), and frees. May be NULL. */
void unreported_free(struct unreported *unreported);

/*
 * Returns the sentences of ended sessions and servers, one a line, and removes their files. Returns
 * NULL if there are none. The caller frees the result.
 */
char *unreported_take(const struct home *home);

#endif
