/* SPDX-License-Identifier: MIT */
/*
 * table.c - finds, makes and ends sessions. A timer looks for expired ones. It first asks such a
 * session for live children, because background work keeps a session alive. Their number comes
 * later, so that expiry is judged again when it arrives.
 */
#include "session/table.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "base/list.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/map.h"
#include "base/mem.h"
#include "config/room.h"
#include "confinement/confinement.h"
#include "confinement/shares.h"
#include "event/loop.h"
#include "session/resumption.h"
#include "workspace/keeper.h"
#include "workspace/lasting.h"
#include "workspace/workspace.h"

const char table_destroyed[] = "it was destroyed on request";
const char table_server_ends[] = "the server ends";

/* An id that is not live any more: why it ended, and the generation of its next session. */
struct ended {
	struct list node;
	char *id;
	char *why;
	uint64_t generation;
};

struct row {
	struct list node;
	struct session *session;
};

struct table {
	const struct session_host *host;
	struct map *rows;  /* id -> struct row */
	struct list order; /* rows, oldest first */
	struct map *ended; /* id -> struct ended */
	struct list ended_order;
	struct loop_timer cleanup;
	void (*changed)(void *data);
	void *changed_data;
};

static void on_cleanup(struct loop_timer *timer);

static void schedule_cleanup(struct table *t)
{
	loop_timer_start(t->host->loop, &t->cleanup,
			 loop_now(t->host->loop) + t->host->settings->cleanup_interval * 1000,
			 on_cleanup);
}

struct table *table_new(const struct session_host *host)
{
	struct table *t = xcalloc(1, sizeof(*t));

	t->host = host;
	t->rows = map_new();
	t->ended = map_new();
	list_init(&t->order);
	list_init(&t->ended_order);
	return t;
}

static void report_change(struct table *t)
{
	if (t->changed != NULL)
		t->changed(t->changed_data);
}

void table_on_change(struct table *t, void (*changed)(void *data), void *data)
{
	t->changed = changed;
	t->changed_data = data;
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

static void end_row(struct table *t, struct row *row, const char *why)
{
	struct session *session = row->session;

	log_info("table", "session '%s' ends: %s", session_id(session), why);
	remember_end(t, session, why);
	(void)map_take(t->rows, session_id(session), strlen(session_id(session)));
	list_remove(&row->node);
	free(row);
	session_free(session, why);
	report_change(t);
}

void table_free(struct table *t, const char *why)
{
	if (t == NULL)
		return;
	loop_timer_stop(&t->cleanup);
	t->changed = NULL;
	while (!list_empty(&t->order))
		end_row(t, list_entry(t->order.next, struct row, node), why);
	while (!list_empty(&t->ended_order))
		ended_free(t, list_entry(t->ended_order.next, struct ended, node));
	map_free(t->rows);
	map_free(t->ended);
	free(t);
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

	if (why != NULL && count == 0)
		end_row(t, map_get(t->rows, id, strlen(id)), why);
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
		schedule_cleanup(t);
}

int table_destroy(struct table *t, const char *id, struct err *err)
{
	if (table_find(t, id, err) == NULL)
		return -1;
	end_row(t, map_get(t->rows, id, strlen(id)), table_destroyed);
	return 0;
}

/* ---- finding and making ---- */

/* Returns "a, b and 3 more"; NULL when there is none. */
static char *name_live(const struct table *t)
{
	struct buf names;
	size_t count = 0;

	if (list_empty(&t->order))
		return NULL;
	buf_init(&names, BUF_UNBOUNDED);
	for (struct list *node = t->order.prev; node != &t->order; node = node->prev) {
		const struct row *row = container_of(node, struct row, node);

		if (count++ < TABLE_LIVE_NAMED_MAX)
			buf_putf(&names, "%s'%s'", names.len > 0 ? ", " : "",
				 session_id(row->session));
	}
	if (count > TABLE_LIVE_NAMED_MAX)
		buf_putf(&names, " and %zu more", count - TABLE_LIVE_NAMED_MAX);
	return buf_steal(&names);
}

/* Finds the ended sessions of this id, those of servers that died meanwhile too. */
static void find_earlier(const struct table *t, const char *id, struct lasting_found *ret)
{
	const struct session_host *host = t->host;

	*ret = (struct lasting_found){ .count = 0 };
	if (host->settings->resume == 0)
		return;
	if (host->adopt != NULL)
		host->adopt(host->owner);
	lasting_find(host->home, id, ret);
}

bool table_forget(struct table *t, const char *id, size_t *ret_left)
{
	const struct session_host *host = t->host;
	cleanup_lasting struct lasting_found found;
	cleanup_free char *name = NULL;

	find_earlier(t, id, &found);
	*ret_left = found.count > 0 ? found.count - 1 : 0;
	if (found.count == 0)
		return false;
	name = xasprintf(LASTING_FOLDER "/%s", found.rows[0].name);
	if (host->adopted != NULL)
		host->adopted(host->owner, found.rows[0].name);
	removal_start(host->loop, host->home, host->files_helper, name, NULL, NULL);
	return true;
}

bool table_in_use(const struct table *t, const char *id)
{
	cleanup_lasting struct lasting_found found = { .count = 0 };

	if (map_get(t->rows, id, strlen(id)) == NULL)
		find_earlier(t, id, &found);
	return found.in_use;
}

/* Says that an ended session can be resumed. The caller frees the result; NULL: there is none. */
static char *describe_earlier(const struct table *t, const char *id)
{
	cleanup_lasting struct lasting_found found;

	find_earlier(t, id, &found);
	return found.count > 0 && !found.in_use ? resumption_offer(id, &found) : NULL;
}

struct session *table_find(struct table *t, const char *id, struct err *err)
{
	const struct row *row;
	cleanup_free char *live = NULL;
	cleanup_free char *earlier = NULL;

	if (session_id_check(id, err) < 0)
		return NULL;
	row = map_get(t->rows, id, strlen(id));
	if (row != NULL)
		return row->session;
	live = name_live(t);
	earlier = describe_earlier(t, id);
	if (earlier != NULL)
		(void)err_set(err, ERR_NOT_FOUND, "%s", earlier);
	else if (live != NULL)
		(void)err_set(err, ERR_NOT_FOUND, "there is no session '%s'; live: %s", id, live);
	else
		(void)err_set(err, ERR_NOT_FOUND, "there is no session '%s'; none is live", id);
	return NULL;
}

static char *describe_new(const struct table *t, const char *id, const struct ended *ended)
{
	cleanup_free char *live = name_live(t);

	if (ended != NULL)
		return xasprintf("Session '%s' is a new one of that name (generation %ju): the "
				 "earlier one ended because %s. Its variables and files are gone.",
				 id, (uintmax_t)ended->generation, ended->why);
	if (live != NULL)
		return xasprintf("Session '%s' is new and empty. Other live sessions: %s.", id,
				 live);
	return xasprintf("Session '%s' is new and empty; there is no other.", id);
}

/* Appends what weakens the confinement, and shares that are missing. The caller frees the result.
 */
static char *opening_notice(const struct table *t, const char *text)
{
	const char *weak = confinement_facts(t->host->confinement).notice;
	cleanup_free char *absent = shares_absent(confinement_facts(t->host->confinement).shares);
	cleanup_buf struct buf notice = BUF_INIT(BUF_UNBOUNDED);

	buf_puts(&notice, text);
	if (weak != NULL)
		buf_putf(&notice, "\n%s", weak);
	if (absent != NULL)
		buf_putf(&notice, "\n%s", absent);
	return buf_steal(&notice);
}

static int check_room(const struct table *t, struct err *err)
{
	uint64_t max = t->host->settings->max_sessions;
	struct rlimit files;

	if (map_count(t->rows) >= max)
		return err_set(err, ERR_LIMIT,
			       "no more than %ju sessions may be open (PTYCELL_MAX_SESSIONS): "
			       "destroy one of those that list_sessions names",
			       (uintmax_t)max);
	if (map_count(t->rows) > 0 && getrlimit(RLIMIT_NOFILE, &files) == 0 &&
	    !room_for_session(map_count(t->rows), machine_open_files(), files.rlim_cur))
		return err_set(err, ERR_LIMIT,
			       "no more sessions than these %zu fit: ptycell may have %ju files "
			       "open at once (ulimit -n), and each session needs about %d. Destroy "
			       "one of those that list_sessions names, or ask the user to raise "
			       "that limit",
			       map_count(t->rows), (uintmax_t)files.rlim_cur, ROOM_SESSION_FILES);
	return 0;
}

/* Takes over the folder of an ended session. Returns NULL and sets *err. */
static struct session *resume_row(const struct table *t, const struct lasting *row, struct err *err)
{
	const struct session_host *host = t->host;
	struct workspace *workspace;

	if (host->adopted != NULL)
		host->adopted(host->owner, row->name);
	workspace = workspace_resume(host->home, row->name, err);
	if (workspace == NULL)
		return NULL;
	if (confinement_adopt(host->confinement, workspace, err) < 0) {
		(void)lasting_release(host->home, workspace_name(workspace));
		workspace_free(workspace);
		return NULL;
	}
	return session_resume(host, row->record.session_id,
			      &(struct session_earlier){ .workspace_own = workspace,
							 .generation = row->record.generation,
							 .next_cell = row->record.next_cell,
							 .limits = row->record.limits,
							 .exported = row->record.exported });
}

/* Resumes the last used of the ended sessions, or returns NULL and sets *ret_notice to why not. */
static struct session *resume(const struct table *t, const char *id,
			      const struct lasting_found *found, char **ret_notice)
{
	struct err err = { .msg = "" };

	if (found->in_use) {
		*ret_notice = resumption_in_use(id, found);
		return NULL;
	}
	for (size_t i = 0; i < found->count; i++) {
		struct session *session = resume_row(t, &found->rows[i], &err);

		if (session == NULL)
			continue;
		*ret_notice = resumption_describe(session, found, i);
		return session;
	}
	if (found->count > 0)
		*ret_notice = resumption_failed(id, &err);
	return NULL;
}

/* Resumes the session of this id, or makes a new one. */
static struct session *open_session(const struct table *t, const char *id,
				    const struct language *first, struct err *err)
{
	const struct ended *ended = map_get(t->ended, id, strlen(id));
	cleanup_lasting struct lasting_found found;
	cleanup_free char *text = NULL;
	cleanup_free char *notice = NULL;
	struct session *session;

	find_earlier(t, id, &found);
	session = resume(t, id, &found, &text);
	if (text == NULL)
		text = describe_new(t, id, ended);
	if (session == NULL)
		return session_new(t->host, id, ended != NULL ? ended->generation : 1,
				   opening_notice(t, text), first, err);
	notice = opening_notice(t, text);
	session_add_notice(session, notice);
	return session;
}

struct session *table_open(struct table *t, const char *id, const struct language *first,
			   struct err *err)
{
	struct row *row;
	struct session *session;

	if (session_id_check(id, err) < 0)
		return NULL;
	row = map_get(t->rows, id, strlen(id));
	if (row != NULL)
		return row->session;
	if (check_room(t, err) < 0)
		return NULL;
	session = open_session(t, id, first, err);
	if (session == NULL)
		return NULL;
	row = xcalloc(1, sizeof(*row));
	list_init(&row->node);
	row->session = session;
	(void)map_set(t->rows, id, strlen(id), row);
	list_append(&t->order, &row->node);
	if (!loop_timer_active(&t->cleanup))
		schedule_cleanup(t);
	report_change(t);
	return session;
}

struct session *table_at(const struct table *t, size_t index)
{
	list_for_each (struct row, row, &t->order, node)
		if (index-- == 0)
			return row->session;
	return NULL;
}

bool table_busy(const struct table *t)
{
	list_for_each (struct row, row, &t->order, node)
		if (session_busy(row->session))
			return true;
	return false;
}
