/* SPDX-License-Identifier: MIT */
/*
 * table.h - the sessions of a server by id: made at first use, ended by age, idleness or wish.
 *
 * TTL and idle limits end a session only while nothing of it runs, waits or has live children.
 * Ended ids are remembered (newest TABLE_ENDED_MAX) so that the next use says what was lost.
 */
#ifndef SESSION_TABLE_H
#define SESSION_TABLE_H

#include <stddef.h>

#include "session/session.h"

struct table;

/* Why a session ended that table_destroy ended. */
extern const char table_destroyed[];

enum { TABLE_ENDED_MAX = 1000, TABLE_LIVE_NAMED_MAX = 5 };

/* `host` is borrowed. */
struct table *table_new(const struct session_host *host);
/* Ends every session; `why` as session_free takes it. NULL is allowed. */
void table_free(struct table *table, const char *why);
/*
 * The session of this id, made when it is new, then with `first` as session_new has it. ERR_INVALID
 * (the id), ERR_LIMIT (too many).
 */
struct session *table_open(struct table *table, const char *id, const struct language *first,
			   struct err *err) MUST_CHECK;
/* ERR_NOT_FOUND names the live ones. */
struct session *table_find(struct table *table, const char *id, struct err *err) MUST_CHECK;
int table_destroy(struct table *table, const char *id, struct err *err) MUST_CHECK;
/* In order of making; NULL past the end. */
struct session *table_at(const struct table *table, size_t index);
size_t table_count(const struct table *table);
/* Any of them is. */
bool table_busy(const struct table *table);
/* Called after a session was made, ended or began to keep files. */
void table_on_change(struct table *table, void (*changed)(void *data), void *data);

#endif
