/* SPDX-License-Identifier: MIT */
/*
 * audit_events.h - records the events other than cells in the journal and in the audit.
 * cmd/server/help/audit.md and lib/journal/FORMAT.md have their tables. A full journal drops no
 * line of the audit.
 *
 * Events that code can cause without end (hosts, limits, typed input, installations that it asks
 * for) are collected. They become one line for each cell and kind when the cell ends.
 */
#ifndef ANSWER_AUDIT_EVENTS_H
#define ANSWER_AUDIT_EVENTS_H

#include <jansson.h>
#include <stdint.h>

struct audit_events;
struct audit_log;
struct broker_event;
struct exec_result;
struct session;
struct session_event;
struct uploads_event;

/* Makes a recorder that borrows `log`. */
struct audit_events *audit_events_new(struct audit_log *log);
/* Frees it. `events` may be NULL. */
void audit_events_free(struct audit_events *events);

/* Records an event of a session. `session` is NULL when it has ended, here and below. */
void audit_events_session(struct audit_events *events, struct session *session,
			  const struct session_event *event);
/* Writes what was collected for a cell. Call it before the cell's end is recorded. */
void audit_events_end_cell(struct audit_events *events, const struct exec_result *result);
/* Records an upload of a result to the storage. */
void audit_events_stored(struct audit_events *events, struct session *session,
			 const struct uploads_event *event);
/* Records an installation that is over, or collects it for the cell whose code asked for it. */
void audit_events_installation(struct audit_events *events, struct session *session,
			       const struct broker_event *event);
/*
 * Collects what a program of the session says that it installed from the session's own files:
 * {"language", "asked", "from", "own": [NAME VERSION], "files"}. The server did not take part and
 * checked nothing, so no later life of the session installs it.
 */
void audit_events_own_installation(struct audit_events *events, struct session *session,
				   uint64_t cell, const json_t *fields);

/*
 * A file that upload_file brought, or failed to, or that a query made. All but `from` may be NULL.
 */
struct audit_import {
	const char *from; /* static: "content", "path", "url", "query" */
	const char
		*source;  /* the path, the URL without login and query, or the cell of the query */
	const char *path; /* relative to the session's folder */
	const char *problem;
	uint64_t size;
	const void *content; /* `size` bytes, of which the SHA-256 is recorded */
	const char *sha256;  /* of a file without `content`; NULL if it is not known */
};
/* Records an upload_file that is over. */
void audit_events_import(struct audit_events *events, struct session *session,
			 const struct audit_import *import);

/* Records the outcome of a question to the user. `answer` is a static word. */
void audit_events_question(struct audit_events *events, struct session *session, uint64_t cell,
			   const char *language, const char *answer);

#endif
