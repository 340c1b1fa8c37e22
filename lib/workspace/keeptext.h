/* SPDX-License-Identifier: MIT */
/* keeptext.h - what is told about the copies of a session's results. The caller frees it. */
#ifndef WORKSPACE_KEEPTEXT_H
#define WORKSPACE_KEEPTEXT_H

#include <stdint.h>

/* `from` was not copied, or nothing was when it is NULL; "limit" is the reason of a quota. */
char *keeptext_problem(const char *from, const char *reason, uint64_t quota);
/* `from`, below output/, was copied to `to`, a name that runnames.h altered. */
char *keeptext_renamed(const char *from, const char *to);

#endif
