/* SPDX-License-Identifier: MIT */
/* refusal.h - explains a storage's refusal and what the user can do about it. */
#ifndef FETCH_REFUSAL_H
#define FETCH_REFUSAL_H

#include <stdbool.h>

#include "backend.h"
#include "request.h"

/* Returns true when the same request may succeed a little later. */
bool refusal_may_pass(const struct reception *reception);
/* Returns what a failed response means, and sets *err to the reason. */
enum storage_reply refusal_judge(const struct backend *backend, const struct reception *reception,
				 struct err *err);

#endif
