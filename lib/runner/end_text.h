/* SPDX-License-Identifier: MIT */
/* end_text.h - the words for an interpreter that a signal ended, or that did not start. */
#ifndef RUNNER_END_TEXT_H
#define RUNNER_END_TEXT_H

struct language;

/* Which limit of processes and threads is reached: that of the session, or that of its user. */
enum crowd { CROWD_NONE, CROWD_SESSION, CROWD_USER };

/* Interpreters print this when no process can be made. */
#define END_TEXT_NO_PROCESS "Resource temporarily unavailable"

/* Returns the text that follows the signal of this status (as in WIRE_EXITED). Static. */
const char *end_text_signal(int wait_status);
/*
 * Returns what the user can do about an interpreter that has printed this instead of starting.
 * `crowd` is the limit that was reached then. The caller frees the result.
 */
char *end_text_advice(const struct language *language, const char *printed, enum crowd crowd);

#endif
