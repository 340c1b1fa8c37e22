/* SPDX-License-Identifier: MIT */
/*
 * table.h - the sessions of a server by id: made at first use, ended by age, idleness or request.
 *
 * TTL and idle limits end a session only while nothing in it runs, waits or has live children. The
 * newest TABLE_ENDED_MAX ended ids are remembered, so that the next use can say what was lost. An
 * id whose folder still is there (workspace/lasting.h) is resumed, if no other server has it.
 */
#ifndef SESSION_TABLE_H
#define SESSION_TABLE_H

#include <stddef.h>

#include "session/session.h"

struct table;

/* The reasons for which table_destroy and the end of the server end a session. */
extern const char table_destroyed[];
extern const char table_server_ends[];

enum {
	TABLE_ENDED_MAX = 1000,
	TABLE_LIVE_NAMED_MAX = 5,
	TABLE_SAVE_MS = 50,  /* that an end may wait for a save; hosts kill soon */
	TABLE_QUIT_MS = 600, /* that it may wait for interpreters that end by themselves */
	/* The same for a session that ends while the server goes on, and for a save if it expires.
	 */
	TABLE_ALONE_MS = 5000,
};

/* Makes an empty table. `host` is borrowed. */
struct table *table_new(const struct session_host *host);
/* Ends every session at once and frees the table, which may be NULL; `why` as in session_end. */
void table_free(struct table *table, const char *why);
/*
 * Has all sessions save their variables (session_values.h), because the server ends. `done` is
 * called from the loop, after TABLE_SAVE_MS at the latest; only table_close or table_free may
 * follow.
 */
void table_save(struct table *table, void (*done)(void *data), void *data);
/*
 * Ends every session, because the server ends. Their interpreters have TABLE_QUIT_MS to end by
 * themselves. `done` is called once, from the loop or at once; only table_free may follow.
 */
void table_close(struct table *table, const char *why, void (*done)(void *data), void *data);
/*
 * Returns the session of this id, resumes or makes it; `first` as in session_new. Returns NULL and
 * sets *err: ERR_INVALID for the id, ERR_LIMIT for too many sessions.
 */
struct session *table_open(struct table *table, const char *id, const struct language *first,
			   struct err *err) MUST_CHECK;
/*
 * Returns a live session. Returns NULL and sets *err: ERR_INVALID for the id, or ERR_NOT_FOUND,
 * whose text says how an ended one is resumed, or names the live ones.
 */
struct session *table_find(struct table *table, const char *id, struct err *err) MUST_CHECK;
/* Ends a session at the request of a client. Returns -1 and sets *err as table_find does. */
int table_destroy(struct table *table, const char *id, struct err *err) MUST_CHECK;
/*
 * Ends a live session, whose folder lasts if it can be resumed; `why` as in session_end. Its
 * interpreters have TABLE_ALONE_MS. Returns -1 and sets *err as table_find does.
 */
int table_end(struct table *table, const char *id, const char *why, struct err *err) MUST_CHECK;
/*
 * Does the same, but saves its variables first (session_values.h): the session ends by then, or
 * after TABLE_SAVE_MS, or when its id is used again.
 */
int table_end_saved(struct table *table, const char *id, const char *why,
		    struct err *err) MUST_CHECK;
/*
 * Does the same as table_end_saved for a server that waits to resume the session: the interpreters
 * have TABLE_QUIT_MS.
 */
int table_hand_over(struct table *table, const char *id, const char *why,
		    struct err *err) MUST_CHECK;
/* An ended session that was destroyed. */
struct table_forgotten {
	uint64_t generation;
	char *kept;  /* the folder of its results, as users see it; or NULL. The caller frees it */
	bool is_due; /* results are exported before its folder is removed */
	size_t left; /* others of that id */
};
/*
 * Destroys the ended session that this id would resume: no id leads to it any more. Returns false
 * if there is none.
 */
bool table_forget(struct table *table, const char *id, struct table_forgotten *ret);
/* Returns whether table_open would resume an ended session. */
bool table_can_resume(const struct table *table, const char *id);
/*
 * Returns whether another server has a live session of this id, and this one has none; or whether
 * one that can be resumed still ends here. Sets *ret_leaving to whether that other server is about
 * to end.
 */
bool table_in_use(const struct table *table, const char *id, bool *ret_leaving);
/* Returns the sessions in the order in which they were made; NULL past the end. */
struct session *table_at(const struct table *table, size_t index);
/* Returns whether there is a session, or one whose interpreters still end. */
bool table_any(const struct table *table);
/* Returns whether any session is busy. */
bool table_busy(const struct table *table);
/*
 * Has `changed` called after a session was made or ended, or began to export files, and when no
 * interpreter of an ended session is left.
 */
void table_on_change(struct table *table, void (*changed)(void *data), void *data);

#endif
