/* SPDX-License-Identifier: MIT */
/* refusal.h - what a storage's refusal means, and what the person can do about it. */
#ifndef FETCH_REFUSAL_H
#define FETCH_REFUSAL_H

#include <stdbool.h>

#include "backend.h"
#include "request.h"

/* Whether the same request may go well a little later. */
bool refusal_may_pass(const struct reception *reception);
/* Says why in `err`. */
enum verdict refusal_judge(const struct backend *backend, const struct reception *reception,
			   struct err *err);

#endif
