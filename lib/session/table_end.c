/* SPDX-License-Identifier: MIT */
/*
 * table_end.c - ends sessions, with a save of their variables where that is due. A timer looks for
 * expired ones. It first asks such a session for live children, because background work keeps a
 * session alive. Their number comes later, so that expiry is judged again when it arrives.
 */
#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "session/session_values.h"
#include "session/table_internal.h"

const char table_destroyed[] = "it was destroyed on request";
const char table_server_ends[] = "its server ended";

static void report_closed(struct table *t)
{
	void (*closed)(void *data) = t->closed;

	t->closed = NULL;
	closed(t->closed_data);
}

void table_report_change(const struct table *t)
{
	if (t->changed != NULL)
		t->changed(t->changed_data);
}

/* The table may be gone after it is reported as closed. */
void table_on_none_left(void *data)
{
	struct table *t = data;

	if (t->closed != NULL)
		report_closed(t);
	else
		table_report_change(t);
}

/* ---- ids that ended ---- */

static void ended_free(struct table *t, struct ended *ended)
{
	(void)map_take(t->ended, ended->id, strlen(ended->id));
	list_remove(&ended->node);
	free(ended->id);
	free(ended->why);
	free(ended);
}

static void remember_end(struct table *t, const struct session *session, const char *why)
{
	const char *id = session_id(session);
	struct ended *ended = map_get(t->ended, id, strlen(id));

	if (ended != NULL)
		ended_free(t, ended);
	ended = xcalloc(1, sizeof(*ended));
	list_init(&ended->node);
	ended->id = xstrdup(id);
	ended->why = xstrdup(why);
	ended->generation = session_generation(session) + 1;
	(void)map_set(t->ended, id, strlen(id), ended);
	list_append(&t->ended_order, &ended->node);
	if (map_count(t->ended) > TABLE_ENDED_MAX)
		ended_free(t, list_entry(t->ended_order.next, struct ended, node));
}

/* ---- ending ---- */

static void end_row(struct table *t, struct row *row, const char *why, uint64_t quit_ms)
{
	struct session *session = row->session;

	log_info("table", "session '%s' ends: %s", session_id(session), why);
	remember_end(t, session, why);
	(void)map_take(t->rows, session_id(session), strlen(session_id(session)));
	list_remove(&row->node);
	loop_timer_stop(&row->save_late);
	loop_defer_stop(&row->save_over);
	if (row->why != NULL)
		session_values_forget_last(session);
	free(row->why);
	free(row);
	if (quit_ms > 0)
		endings_add(&t->endings, session, why, quit_ms);
	else
		session_free(session, why);
	table_report_change(t);
}

void table_free(struct table *t, const char *why)
{
	if (t == NULL)
		return;
	loop_timer_stop(&t->cleanup);
	loop_timer_stop(&t->save_late);
	loop_defer_stop(&t->save_over);
	t->saved = NULL;
	t->changed = NULL;
	while (!list_empty(&t->order))
		end_row(t, list_entry(t->order.next, struct row, node), why, 0);
	endings_cut_all(&t->endings);
	while (!list_empty(&t->ended_order))
		ended_free(t, list_entry(t->ended_order.next, struct ended, node));
	map_free(t->rows);
	map_free(t->ended);
	free(t);
}

void table_close(struct table *t, const char *why, void (*done)(void *data), void *data)
{
	t->closed = done;
	t->closed_data = data;
	t->changed = NULL;
	loop_timer_stop(&t->cleanup);
	endings_hurry(&t->endings, TABLE_QUIT_MS);
	while (!list_empty(&t->order))
		end_row(t, list_entry(t->order.next, struct row, node), why, TABLE_QUIT_MS);
	if (list_empty(&t->endings.all))
		report_closed(t);
}

/* ---- ending with a save ---- */

static void end_saved(struct row *row)
{
	cleanup_free char *why = mem_steal(&row->why);

	session_values_forget_last(row->session);
	end_row(row->table, row, why, row->quit_ms);
}

static void on_row_late(struct loop_timer *timer)
{
	end_saved(container_of(timer, struct row, save_late));
}

static void on_row_over(struct loop_defer *defer)
{
	end_saved(container_of(defer, struct row, save_over));
}

/* The runner that saved is still in use. */
static void on_row_saved(void *data)
{
	struct row *row = data;

	loop_defer_start(row->table->host->loop, &row->save_over, on_row_over);
}

static void save_and_end(struct row *row, const char *why, uint64_t save_ms, uint64_t quit_ms)
{
	struct loop *loop = row->table->host->loop;

	if (row->why != NULL)
		return;
	if (!session_values_save_last(row->session, save_ms, on_row_saved, row)) {
		end_row(row->table, row, why, quit_ms);
		return;
	}
	row->why = xstrdup(why);
	row->quit_ms = quit_ms;
	loop_timer_start(loop, &row->save_late, loop_now(loop) + save_ms, on_row_late);
}

/* Keeps a session that was about to end. */
static void keep_row(struct row *row)
{
	loop_timer_stop(&row->save_late);
	loop_defer_stop(&row->save_over);
	session_values_stop_last(row->session);
	mem_cleanup(&row->why);
	row->expires = false;
}

struct row *table_find_row(const struct table *t, const char *id)
{
	struct row *row = map_get(t->rows, id, strlen(id));

	if (row == NULL || row->why == NULL)
		return row;
	if (row->expires) {
		keep_row(row);
		return row;
	}
	end_saved(row);
	return NULL;
}

/* ---- saving variables at the server's end ---- */

static void end_saving(struct table *t)
{
	void (*saved)(void *data) = t->saved;

	t->saved = NULL;
	loop_timer_stop(&t->save_late);
	loop_defer_stop(&t->save_over);
	saved(t->saved_data);
}

static void on_save_late(struct loop_timer *timer)
{
	end_saving(container_of(timer, struct table, save_late));
}

static void on_save_over(struct loop_defer *defer)
{
	end_saving(container_of(defer, struct table, save_over));
}

static void on_saved(void *data)
{
	struct table *t = data;

	if (--t->saves == 0 && t->saved != NULL)
		loop_defer_start(t->host->loop, &t->save_over, on_save_over);
}

void table_save(struct table *t, void (*done)(void *data), void *data)
{
	struct loop *loop = t->host->loop;

	t->saved = done;
	t->saved_data = data;
	t->saves = 1;
	list_for_each (struct row, row, &t->order, node)
		t->saves += session_values_save_last(row->session, TABLE_SAVE_MS, on_saved, t);
	loop_timer_start(loop, &t->save_late, loop_now(loop) + TABLE_SAVE_MS, on_save_late);
	on_saved(t);
}

static char *why_expired(struct session *session)
{
	const struct session_limits *limits = session_limits(session);

	if (session_busy(session) && !session_overdue(session))
		return NULL;
	if (session_idle_ms(session) >= limits->idle_timeout * 1000)
		return xasprintf("it was not used for %ju s (idle_timeout)",
				 (uintmax_t)limits->idle_timeout);
	if (session_age_ms(session) >= limits->session_ttl * 1000)
		return xasprintf("it was %ju s old (session_ttl)", (uintmax_t)limits->session_ttl);
	return NULL;
}

/* Live children are background work: the session stays. */
static void on_counted(struct session *session, int count, void *data)
{
	struct table *t = data;
	const char *id = session_id(session);
	cleanup_free char *why = why_expired(session);

	struct row *row = map_get(t->rows, id, strlen(id));

	if (why == NULL || count != 0 || row->why != NULL)
		return;
	row->expires = true;
	save_and_end(row, why, TABLE_ALONE_MS, TABLE_ALONE_MS);
}

static void on_cleanup(struct loop_timer *timer)
{
	struct table *t = container_of(timer, struct table, cleanup);

	list_for_each (struct row, row, &t->order, node) {
		cleanup_free char *why = why_expired(row->session);

		if (why != NULL)
			session_count_children(row->session, on_counted, t);
	}
	if (map_count(t->rows) > 0)
		table_schedule_cleanup(t);
}

void table_schedule_cleanup(struct table *t)
{
	loop_timer_start(t->host->loop, &t->cleanup,
			 loop_now(t->host->loop) + t->host->settings->cleanup_interval * 1000,
			 on_cleanup);
}

static int end_id(struct table *t, const char *id, const char *why, uint64_t quit_ms,
		  struct err *err)
{
	if (table_find(t, id, err) == NULL)
		return -1;
	end_row(t, map_get(t->rows, id, strlen(id)), why, quit_ms);
	return 0;
}

int table_end(struct table *t, const char *id, const char *why, struct err *err)
{
	return end_id(t, id, why, TABLE_ALONE_MS, err);
}

static int save_and_end_id(struct table *t, const char *id, const char *why, uint64_t quit_ms,
			   struct err *err)
{
	if (table_find(t, id, err) == NULL)
		return -1;
	save_and_end(map_get(t->rows, id, strlen(id)), why, TABLE_SAVE_MS, quit_ms);
	return 0;
}

int table_end_saved(struct table *t, const char *id, const char *why, struct err *err)
{
	return save_and_end_id(t, id, why, TABLE_ALONE_MS, err);
}

int table_hand_over(struct table *t, const char *id, const char *why, struct err *err)
{
	return save_and_end_id(t, id, why, TABLE_QUIT_MS, err);
}

int table_destroy(struct table *t, const char *id, struct err *err)
{
	return table_end(t, id, table_destroyed, err);
}
