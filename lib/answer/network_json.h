/* SPDX-License-Identifier: MIT */
/* network.h - what a session may reach and did, as `network` of session_info's confinement. */
#ifndef ANSWER_NETWORK_JSON_H
#define ANSWER_NETWORK_JSON_H

#include <jansson.h>

#include "base/buf.h"
#include "config/settings.h"

struct confinement;
struct exec_result;
struct proxy;

/* A new reference. `proxy` is the session's; NULL when it has none, or none yet. */
json_t *network_json_describe(const struct settings *settings,
			      const struct confinement *confinement, const struct proxy *proxy);
/* After a cell that seems to have failed for want of network: a line that says what there is. */
void network_json_explain(struct buf *text, const struct exec_result *result);
/* The same for the guide, by the settings alone. */
void network_json_guide(struct buf *text, const struct settings *settings);

#endif
