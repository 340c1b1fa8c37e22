/* SPDX-License-Identifier: MIT */
/* harden.h - rights that every helper program drops before it reads anything of a session. */
#ifndef LOCKDOWN_HARDEN_H
#define LOCKDOWN_HARDEN_H

#include "base/err.h"

/*
 * Forbids core dumps, debuggers and new rights through exec. Must be called first. Returns -1 and
 * sets *err.
 */
int harden_process(struct err *err) MUST_CHECK;

#endif
