/* SPDX-License-Identifier: MIT */
/*
 * journal_events.h - records the events of a session's journal that are no cell's: those that a
 * second run needs (the files that came in, the packages that were installed, lost state,
 * versions), and others. Nothing is run here: journal/notebook_setup.h renders these events for a
 * notebook.
 *
 * Like history.h, a failure to record costs no answer: it is logged.
 */
#ifndef ANSWER_JOURNAL_EVENTS_H
#define ANSWER_JOURNAL_EVENTS_H

#include <jansson.h>

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
void journal_events_session(struct session *session, const struct session_event *event,
			    const struct settings *settings, const char *version);
/* Records an event that a second run does not need, with these fields. */
void journal_events_other(struct session *session, const char *event, json_t *fields_own);
/* Records the end of the session, with how many cells the journal has left out. */
void journal_events_end(struct session *session, const char *event, json_t *fields_own);
/* Returns the fields of the event of an installation that is over, a new reference. */
json_t *journal_events_installation(const struct broker_event *event);
/* Records it with these fields, as a note if the session has other packages after it. */
void journal_events_packages(struct session *session, const json_t *fields);
/*
 * Records an upload_file that is over, and has the file exported. Returns the event's fields, a new
 * reference.
 */
json_t *journal_events_import(struct session *session, const struct audit_import *import);
/* Records the interpreter's version before the first cell of its language. */
void journal_events_start(struct session *session, const struct cell *cell);

#endif
