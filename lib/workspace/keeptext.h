/* SPDX-License-Identifier: MIT */
/* keeptext.h - sentences for the user about exported files. The caller frees them. */
#ifndef WORKSPACE_KEEPTEXT_H
#define WORKSPACE_KEEPTEXT_H

#include <stdint.h>

#include "workspace/keepname.h"

/* The limits that the reasons "limit" and "total" stand for. */
struct keeptext_limits {
	uint64_t quota;   /* bytes of one session */
	uint64_t total;   /* bytes of all sessions */
	const char *root; /* their folder */
};

/*
 * Returns a sentence that says that `from` was not exported; if it is NULL, that an export ended
 * early, which may have copied some files. A reason that is none of keeptext_limits is a sentence
 * of its own. The caller frees the result.
 */
char *keeptext_problem(const char *from, const char *reason, const struct keeptext_limits *limits);
/*
 * Returns a sentence that says that, and why, `from` (below output/) was exported as `to`. The
 * caller frees it.
 */
char *keeptext_renamed(const char *from, const char *to, enum keepname_reason reason);
/* Appends a sentence to *text, which may be NULL. */
void keeptext_add(char **text, const char *sentence);

#endif
