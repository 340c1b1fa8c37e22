/* SPDX-License-Identifier: MIT */
/* harden.h - what every helper program gives up before it looks at anything of a session's. */
#ifndef LOCKDOWN_HARDEN_H
#define LOCKDOWN_HARDEN_H

#include "base/err.h"

/* No core, no debugger, no new rights through exec. First of all. */
int harden_process(struct err *err) MUST_CHECK;

#endif
