/* SPDX-License-Identifier: MIT */
/*
 * doctor_sandbox.h - doctor's report about confinement: it starts a sandbox and inspects the
 * result.
 */
#ifndef SERVER_DOCTOR_SANDBOX_H
#define SERVER_DOCTOR_SANDBOX_H

#include <stdbool.h>

#include "config/settings.h"

/*
 * Prints the report, which takes some milliseconds. Returns false when no session code could run.
 */
bool doctor_sandbox(const struct settings *settings);

#endif
