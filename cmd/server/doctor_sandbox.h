/* SPDX-License-Identifier: MIT */
/* doctor_sandbox.h - doctor's part about confinement, found out by confining something. */
#ifndef SERVER_DOCTOR_SANDBOX_H
#define SERVER_DOCTOR_SANDBOX_H

#include <stdbool.h>

#include "config/settings.h"

/* Prints it, some milliseconds later; false when no code would run. */
bool doctor_sandbox(const struct settings *settings);

#endif
