/* SPDX-License-Identifier: MIT */
/*
 * auditor.h - the lines of PTYCELL_AUDIT: what ran, for those who have to answer for it.
 *
 * One line of JSON an event. README.md has the table of events and fields. A line is written when
 * its event happens: "began" before the code runs, "ended" before the answer. Nothing runs while
 * the file cannot be written.
 */
#ifndef ANSWER_AUDITOR_H
#define ANSWER_AUDITOR_H

#include <jansson.h>
#include <stdbool.h>

struct audited;
struct auditor;
struct session;
struct settings;

struct auditor *auditor_new(const struct settings *settings);
/* NULL is allowed. */
void auditor_free(struct auditor *auditor);
/* For the lines to come: what the client calls itself, and its version; "" when it does not say. */
void auditor_set_client(struct auditor *auditor, const char *name, const char *version);
/* The events besides the cells. */
struct audited *auditor_audited(const struct auditor *auditor);
/* Whether lines go anywhere: for what costs something to make. */
bool auditor_is_on(const struct auditor *auditor);
/*
 * Why nothing may be done now, as a sentence that says what to do; NULL when all is well, and no
 * line waits any more.
 */
char *auditor_refusal(struct auditor *auditor);
/*
 * Adds the line of an event with these fields (NULL: none) after those that every line has.
 * `session` is NULL when it has ended. A line that cannot be written waits, and those behind it.
 * The first is told in the session's next answer and in the log.
 */
void auditor_add(struct auditor *auditor, struct session *session, const char *session_id,
		 const char *event, json_t *fields_own);

#endif
