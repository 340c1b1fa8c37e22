/* SPDX-License-Identifier: MIT */
/*
 * network_json.h - the network of a session, for three readers: `network` of session_info, a line
 * of an answer, and a chapter of the guide.
 */
#ifndef ANSWER_NETWORK_JSON_H
#define ANSWER_NETWORK_JSON_H

#include <jansson.h>

#include "base/buf.h"
#include "config/settings.h"

struct confinement_facts;
struct exec_result;
struct proxy;

/*
 * Returns what a session may reach and has reached, as a new reference. `proxy` is the session's,
 * and NULL when it has none, or none yet.
 */
json_t *network_json_describe(const struct settings *settings,
			      const struct confinement_facts *facts, const struct proxy *proxy);
/* Appends what a session may reach, if the cell seems to have failed for lack of network. */
void network_json_explain(struct buf *text, const struct exec_result *result,
			  const struct confinement_facts *facts);
/* Appends the chapter of the guide, which knows only the settings. */
void network_json_guide(struct buf *text, const struct settings *settings);

#endif
