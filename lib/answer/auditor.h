/* SPDX-License-Identifier: MIT */
/*
 * auditor.h - the lines of PTYCELL_AUDIT: a record of everything that ran, for later review.
 *
 * One line of JSON is one event. cmd/server/help/audit.md has the table of events and fields. A
 * line is written when its event happens: "began" before the code runs, "ended" before the answer.
 * No code runs while the file cannot be written.
 */
#ifndef ANSWER_AUDITOR_H
#define ANSWER_AUDITOR_H

#include <jansson.h>
#include <stdbool.h>

struct audited;
struct auditor;
struct session;
struct settings;

/* Makes an auditor, which does nothing without PTYCELL_AUDIT. `settings` is borrowed. */
struct auditor *auditor_new(const struct settings *settings);
/* Frees it. `auditor` may be NULL. */
void auditor_free(struct auditor *auditor);
/* Sets the client's name and version for the lines to come; "" when the client sends none. */
void auditor_set_client(struct auditor *auditor, const char *name, const char *version);
/* Returns the recorder of events other than cells; borrowed from the auditor. */
struct audited *auditor_audited(const struct auditor *auditor);
/* Returns {target, instance, client}, as a new reference. */
json_t *auditor_describe(const struct auditor *auditor);
/* Returns whether lines are written. If not, callers need not make their fields. */
bool auditor_is_on(const struct auditor *auditor);
/*
 * Tries to write the queued lines. Returns NULL when none is left, else why nothing may be done now
 * and the remedy, as sentences that the caller frees.
 */
char *auditor_refusal(struct auditor *auditor);
/*
 * Adds the line of an event: the fields that every line has, then `fields_own`, which may be NULL.
 * `session` is NULL when it has ended. A line that cannot be written is queued, and so are those
 * after it. The first such failure is reported in the session's next answer and in the log.
 */
void auditor_add(struct auditor *auditor, struct session *session, const char *session_id,
		 const char *event, json_t *fields_own);

#endif
