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

enum { TABLE_ENDED_MAX = 1000, TABLE_LIVE_NAMED_MAX = 5 };

/* Makes an empty table. `host` is borrowed. */
struct table *table_new(const struct session_host *host);
/* Ends every session; `why` as in session_free. NULL is allowed. */
void table_free(struct table *table, const char *why);
/*
 * Returns the session of this id, resumes or makes it; `first` as in session_new. Returns NULL and
 * sets *err: ERR_INVALID for the id, ERR_LIMIT for too many sessions.
 */
struct session *table_open(struct table *table, const char *id, const struct language *first,
			   struct err *err) MUST_CHECK;
/*
 * Returns a live session. Returns NULL and sets *err to ERR_NOT_FOUND, which names the live ones.
 */
struct session *table_find(struct table *table, const char *id, struct err *err) MUST_CHECK;
int table_destroy(struct table *table, const char *id, struct err *err) MUST_CHECK;
/*
 * Removes the folder of the ended session that this id would resume. Returns false if there is
 * none. Sets *ret_left to the number of others of that id.
 */
bool table_forget(struct table *table, const char *id, size_t *ret_left);
/* Returns whether another server has a live session of this id, and this one has none. */
bool table_in_use(const struct table *table, const char *id);
/* Returns the sessions in the order in which they were made; NULL past the end. */
struct session *table_at(const struct table *table, size_t index);
/* Returns whether any session is busy. */
bool table_busy(const struct table *table);
/* Has `changed` called after a session was made or ended, or began to export files. */
void table_on_change(struct table *table, void (*changed)(void *data), void *data);

#endif
