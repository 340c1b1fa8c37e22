/* SPDX-License-Identifier: MIT */
/* keeptext.h - sentences for the user about exported files. The caller frees them. */
#ifndef WORKSPACE_KEEPTEXT_H
#define WORKSPACE_KEEPTEXT_H

#include <stdint.h>

/*
 * Explains that `from` was not exported, or that nothing was if it is NULL. The reason "limit"
 * stands for the quota.
 */
char *keeptext_problem(const char *from, const char *reason, uint64_t quota);
/* Explains that `from` (below output/) was exported as `to`, a name that runnames.h altered. */
char *keeptext_renamed(const char *from, const char *to);

#endif
