/* SPDX-License-Identifier: MIT */
/*
 * replayed.h - records in a session's journal what a second run needs besides the cells: the files
 * that came in, the packages that were installed, lost state, and versions.
 *
 * Like history.h, a failure to record costs no answer: it is logged.
 */
#ifndef ANSWER_REPLAYED_H
#define ANSWER_REPLAYED_H

struct audit_import;
struct broker_event;
struct cell;
struct session;
struct session_event;
struct settings;

/*
 * Records an event of a session. `version` is that of this program. A new session's journal gets
 * the names of the secrets in `settings`.
 */
void replayed_session(struct session *session, const struct session_event *event,
		      const struct settings *settings, const char *version);
/* Records an installation that is over. `session` is NULL if it has ended. */
void replayed_installation(struct session *session, const struct broker_event *event);
/* Records an upload_file that is over. */
void replayed_import(struct session *session, const struct audit_import *import);
/* Records the interpreter's version before the first cell of its language. */
void replayed_start(struct session *session, const struct cell *cell);

#endif
