/* SPDX-License-Identifier: MIT */
/* prompts.h - the prompts that a host offers its user in a menu, and completion of their arguments.
 */
#ifndef TOOLS_PROMPTS_H
#define TOOLS_PROMPTS_H

#include "mcp/server.h"

/* Sets the prompts of `features`, whose context must be the service. */
void prompts_features(struct mcp_features *features);

#endif
