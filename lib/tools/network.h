/* SPDX-License-Identifier: MIT */
/* network.h - what a session may reach and did, as `network` of session_info's confinement. */
#ifndef TOOLS_NETWORK_H
#define TOOLS_NETWORK_H

#include <jansson.h>

struct session;

/* A new reference. */
json_t *network_describe(const struct session *session);

#endif
