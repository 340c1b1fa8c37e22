/* SPDX-License-Identifier: MIT */
/* session_json.h - a session as session_info, list_sessions and resources describe it. */
#ifndef ANSWER_SESSION_JSON_H
#define ANSWER_SESSION_JSON_H

#include <jansson.h>

struct confinement;
struct session;
struct settings;

/* Returns the fields of session_info, as a new reference. */
json_t *session_json_describe(struct session *session);
/*
 * Returns the fields of session_info that hold for every session, as a new reference. `why` says
 * that no session has this id; it is a sentence without capital letter and full stop.
 */
json_t *session_json_none(const struct settings *settings, const struct confinement *confinement,
			  const char *id, const char *why);
/* Returns a row of list_sessions, as a new reference. */
json_t *session_json_row(const struct session *session);

#endif
