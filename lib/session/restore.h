/* SPDX-License-Identifier: MIT */
/*
 * restore.h - runs the recorded cells of a session again, so that its variables come back.
 *
 * All recorded cells that ran to their end run again, of this life and of earlier ones, in their
 * order and with their numbers, in new interpreters. They are not recorded, counted or shown again.
 * Recorded input is typed again. A cell that raises, or meets its deadline, stops the replay.
 *
 * Before that, the variables that exist are saved, as at the end of the server. The cells change
 * nothing outside the session: they reach no hosts, and shared folders are read-only (refuser.h).
 * Only session_restore_start_outside lifts that.
 *
 * The session's files are set aside meanwhile (workspace/aside.h). Cells begin with an empty
 * folder, and get each imported file as it came, if its original still exists. Afterwards the
 * session's files are back, in the folder that the new interpreters use. No other code runs and no
 * file comes in while this lasts. Files in /tmp and /dev/shm end with the interpreters of before;
 * the report names them (restore_scratch.h).
 */
#ifndef SESSION_RESTORE_H
#define SESSION_RESTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "runner/runner.h"

struct journal;
struct restore_call;
struct session;

/* Returns the cells that a replay runs. Sets *ret_ms to the time that they took. */
size_t session_restore_count(const struct journal *journal, uint64_t *ret_ms);
/*
 * Begins a replay, unless one runs. Returns -1 and sets *err: ERR_NOT_FOUND if there is no cell to
 * run, ERR_BUSY if something else is under way in the session, ERR_DENIED if nothing confines code,
 * so that cells could change what is outside.
 */
int session_restore_start(struct session *session, struct err *err) MUST_CHECK;
/* Begins a replay as session_restore_start does, but cells may reach hosts and write in shares. */
int session_restore_start_outside(struct session *session, struct err *err) MUST_CHECK;
/*
 * Returns whether a replay runs, or saved variables are being brought back (session_values.h).
 */
bool session_restoring(const struct session *session);
/*
 * Returns -1 and sets *err to ERR_BUSY if session_restoring returns true: neither other code nor
 * new files are allowed then.
 */
int session_restore_check(const struct session *session, struct err *err) MUST_CHECK;
/*
 * Takes the report of a replay that ended when no call waited. Returns NULL if there is none. The
 * caller frees it.
 */
char *session_restore_take_report(struct session *session, bool *ret_failed);
/* Gets the report: `text` says in sentences what is back and what is not. Borrowed for the call. */
typedef void restore_done_fn(void *data, const char *text, bool failed);
/*
 * Waits for the end of the replay that runs. `done` is called once, from the loop, or when the
 * session ends. Valid until then, or until session_restore_forget.
 */
struct restore_call *session_restore_wait(struct session *session, restore_done_fn *done,
					  void *data);
/* Forgets a wait: its `done` is not called. */
void session_restore_forget(struct restore_call *call);
/* Stops the replay: the cell that runs is stopped in this way, and the files are put back. */
void session_restore_stop(struct session *session, enum runner_stop stop);

struct restore_status {
	uint64_t cell; /* that runs; 0: none */
	uint64_t ms;   /* since it began */
	size_t done;
	size_t total;
	bool putting_back;
	bool values; /* saved variables are brought back (session_values.h) */
};
/* Returns what the replay that runs does. */
struct restore_status session_restore_status(const struct session *session);

#endif
