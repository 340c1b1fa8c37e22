/* SPDX-License-Identifier: MIT */
/*
 * audit_log.h - the lines of PTYCELL_AUDIT: a record of everything that ran, for later review.
 *
 * One line of JSON is one event. cmd/server/help/audit.md has the table of events and fields. A
 * line is written when its event happens: "began" before the code runs, "ended" before the answer.
 * No code runs while the file cannot be written.
 */
#ifndef ANSWER_AUDIT_LOG_H
#define ANSWER_AUDIT_LOG_H

#include <jansson.h>
#include <stdbool.h>

struct audit_events;
struct audit_log;
struct session;
struct settings;

/* Makes a log, which does nothing without PTYCELL_AUDIT. `settings` is borrowed. */
struct audit_log *audit_log_new(const struct settings *settings);
/* Frees it. `log` may be NULL. */
void audit_log_free(struct audit_log *log);
/* Sets the client's name and version for the lines to come; "" when the client sends none. */
void audit_log_set_client(struct audit_log *log, const char *name, const char *version);
/* Returns the recorder of events other than cells; borrowed from the log. */
struct audit_events *audit_log_events(const struct audit_log *log);
/* Returns {target, instance, client}, as a new reference. */
json_t *audit_log_describe(const struct audit_log *log);
/* Returns whether lines are written. If not, callers need not make their fields. */
bool audit_log_is_on(const struct audit_log *log);
/* Returns whether lines could not be written yet. */
bool audit_log_waits(const struct audit_log *log);
/*
 * Tries to write the queued lines. Returns NULL when none is left, else why nothing may be done now
 * and the remedy, as sentences that the caller frees.
 */
char *audit_log_refusal(struct audit_log *log);
/*
 * Adds the line of an event: the fields that every line has, then `fields_own`, which may be NULL.
 * `session` is NULL when it has ended. A line that cannot be written is queued, and so are those
 * after it. The first such failure is reported in the session's next answer and in the log.
 */
void audit_log_add(struct audit_log *log, struct session *session, const char *session_id,
		   const char *event, json_t *fields_own);

#endif
