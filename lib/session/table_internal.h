/* SPDX-License-Identifier: MIT */
/* table_internal.h - shared by table.c, which finds and makes sessions, and table_end.c. */
#ifndef SESSION_TABLE_INTERNAL_H
#define SESSION_TABLE_INTERNAL_H

#include "base/list.h"
#include "event/loop.h"
#include "session/endings.h"
#include "session/table.h"

/* An id that is not live any more: why it ended, and the generation of its next session. */
struct ended {
	struct list node;
	char *id;
	char *why;
	uint64_t generation;
};

struct row {
	struct list node;
	struct table *table;
	struct session *session;
	/* While the session saves its variables before it ends: */
	char *why; /* it ends; NULL: it does not */
	uint64_t quit_ms;
	struct loop_timer save_late;
	struct loop_defer save_over;
	bool expires; /* it goes on if its id is used meanwhile */
};

struct table {
	const struct session_host *host;
	struct map *rows;  /* id -> struct row */
	struct list order; /* rows, oldest first */
	struct map *ended; /* id -> struct ended */
	struct list ended_order;
	struct endings endings;
	void (*closed)(void *data); /* of table_close */
	void *closed_data;
	struct loop_timer cleanup;
	void (*changed)(void *data);
	void *changed_data;
	void (*saved)(void *data); /* of table_save; NULL: it is over */
	void *saved_data;
	size_t saves;                /* that it waits for */
	struct loop_timer save_late; /* gives up waiting */
	struct loop_defer save_over;
};

/* ---- table_end.c ---- */

/* Looks for expired sessions after the cleanup interval. */
void table_schedule_cleanup(struct table *table);
/* Calls what table_on_change set. */
void table_report_change(const struct table *table);
/* Calls what table_close was given, else what table_on_change set. `data` is the table. */
void table_on_none_left(void *data);
/*
 * Returns the session's row, or NULL. A session that saves its variables to end has ended then,
 * unless it expires: then it goes on.
 */
struct row *table_find_row(const struct table *table, const char *id);

#endif
