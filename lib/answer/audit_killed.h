/* SPDX-License-Identifier: MIT */
/*
 * audit_killed.h - the audit of cells that ran when their server was killed: the next server adds
 * the lines of their ends, and of what their code installed, to the target that the killed one had.
 */
#ifndef ANSWER_AUDIT_KILLED_H
#define ANSWER_AUDIT_KILLED_H

struct audit_log;
struct lostcells_report;
struct session;
struct settings;

/*
 * Records, in the session's journal folder, what the next server needs for these lines. Called when
 * a session begins and when its generation changes.
 */
void audit_killed_record(const struct audit_log *log, const struct session *session);
/* Adds the lines of a session of a killed server. A failure is logged. */
void audit_killed_add_lines(const struct settings *settings, const struct lostcells_report *report);

#endif
