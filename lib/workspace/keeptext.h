/* SPDX-License-Identifier: MIT */
/* keeptext.h - sentences for the user about exported files. The caller frees them. */
#ifndef WORKSPACE_KEEPTEXT_H
#define WORKSPACE_KEEPTEXT_H

#include <stdint.h>

#include "workspace/keepname.h"

/*
 * Explains that `from` was not exported, or that nothing was if it is NULL. The reason "limit"
 * stands for the quota.
 */
char *keeptext_problem(const char *from, const char *reason, uint64_t quota);
/* Explains that, and why, `from` (below output/) was exported as `to`. */
char *keeptext_renamed(const char *from, const char *to, enum keepname_reason reason);
/* Appends a sentence to *text, which may be NULL. */
void keeptext_add(char **text, const char *sentence);

#endif
