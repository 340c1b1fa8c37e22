/* SPDX-License-Identifier: MIT */
/*
 * table.c - finds and makes sessions; table_end.c ends them. An id without a live session may lead
 * to ended ones, or to one that another server has: earlier.h finds these.
 */
#include "session/table.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/list.h"
#include "base/machine.h"
#include "base/map.h"
#include "base/mem.h"
#include "config/room.h"
#include "confinement/confinement.h"
#include "confinement/shares.h"
#include "event/loop.h"
#include "session/earlier.h"
#include "session/resumption.h"
#include "session/table_internal.h"
#include "workspace/lasting.h"
#include "workspace/removal.h"
#include "workspace/rescue.h"
#include "workspace/rescue_record.h"
#include "workspace/workspace.h"

struct table *table_new(const struct session_host *host)
{
	struct table *t = xcalloc(1, sizeof(*t));

	t->host = host;
	t->rows = map_new();
	t->ended = map_new();
	list_init(&t->order);
	list_init(&t->ended_order);
	endings_init(&t->endings, table_on_none_left, t);
	return t;
}

void table_on_change(struct table *t, void (*changed)(void *data), void *data)
{
	t->changed = changed;
	t->changed_data = data;
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

/* Has the session's results exported before its folder is removed. Returns false if none are due.
 */
static bool forget_later(const struct session_host *host, const char *name)
{
	if (host->forgotten == NULL || !rescue_is_due(host->home, name) ||
	    !lasting_forget(host->home, name))
		return false;
	host->forgotten(host->owner);
	return true;
}

static void forget_now(const struct session_host *host, const char *name)
{
	cleanup_free char *path = xasprintf(LASTING_FOLDER "/%s", name);

	if (host->adopted != NULL)
		host->adopted(host->owner, name);
	(void)removal_start(host->loop, host->home, host->files_helper, path, NULL, NULL);
}

/* Returns the folder of the session's results for a text, or NULL if there is none. */
static char *find_kept(const struct session_host *host, const char *name)
{
	cleanup_fd int journal = -1;
	cleanup_fd int session = lasting_open(host->home, name, &journal);
	cleanup_free char *path = session < 0 ? NULL : rescue_record_path(journal);

	return path != NULL && access(path, F_OK) == 0 ? rescue_record_shown(journal) : NULL;
}

bool table_forget(struct table *t, const char *id, struct table_forgotten *ret)
{
	cleanup_lasting struct lasting_found found;
	const struct lasting *row;

	earlier_find(t->host, id, &found);
	if (found.count == 0)
		return false;
	row = &found.rows[0];
	*ret = (struct table_forgotten){ .generation = row->record.generation,
					 .kept = find_kept(t->host, row->name),
					 .left = found.count - 1 };
	ret->is_due = forget_later(t->host, row->name);
	if (!ret->is_due)
		forget_now(t->host, row->name);
	return true;
}

bool table_can_resume(const struct table *t, const char *id)
{
	cleanup_lasting struct lasting_found found;

	earlier_find(t->host, id, &found);
	return found.count > 0 && !found.in_use;
}

bool table_in_use(const struct table *t, const char *id, bool *ret_leaving)
{
	cleanup_lasting struct lasting_found found = { .count = 0 };

	if (map_get(t->rows, id, strlen(id)) == NULL)
		earlier_find(t->host, id, &found);
	*ret_leaving = found.leaving;
	return found.in_use || endings_have(&t->endings, id);
}

/* Says that an ended session can be resumed. The caller frees the result; NULL: there is none. */
static char *describe_earlier(const struct table *t, const char *id)
{
	cleanup_lasting struct lasting_found found;

	earlier_find(t->host, id, &found);
	return found.count > 0 && !found.in_use ? resumption_offer(id, &found) : NULL;
}

struct session *table_find(struct table *t, const char *id, struct err *err)
{
	const struct row *row;
	cleanup_free char *live = NULL;
	cleanup_free char *earlier = NULL;
	static const char *const begun = "exec_code or upload_file begins one";

	if (session_id_check(id, err) < 0)
		return NULL;
	row = table_find_row(t, id);
	if (row != NULL)
		return row->session;
	live = name_live(t);
	earlier = describe_earlier(t, id);
	if (earlier != NULL)
		(void)err_set(err, ERR_NOT_FOUND, "%s", earlier);
	else if (live != NULL)
		(void)err_set(err, ERR_NOT_FOUND, "there is no session '%s'; live: %s; %s", id,
			      live, begun);
	else
		(void)err_set(err, ERR_NOT_FOUND, "there is no session '%s'; none is live; %s", id,
			      begun);
	return NULL;
}

static char *describe_unrelated(const struct table *t, const char *id, const struct ended *ended)
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

static char *describe_new(const struct table *t, const char *id, const struct ended *ended,
			  bool cut)
{
	cleanup_free char *text = describe_unrelated(t, id, ended);

	return cut ? xasprintf("%s Not all ended sessions could be read now: an earlier one of "
			       "that name may be among them.",
			       text)
		   : mem_steal(&text);
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

/* Returns whether the server may open enough files for one session more. */
static bool has_files(const struct table *t, struct rlimit *ret_files)
{
	size_t count = map_count(t->rows) + endings_count(&t->endings);

	return count == 0 || getrlimit(RLIMIT_NOFILE, ret_files) < 0 ||
	       room_for_session(count, machine_open_files(), ret_files->rlim_cur);
}

/* Sessions that end by themselves give way to a new one. As many of them may be left as may be
 * open. */
static void make_room(struct table *t)
{
	struct rlimit files;

	while (endings_count(&t->endings) > 0 &&
	       (endings_count(&t->endings) >= t->host->settings->max_sessions ||
		!has_files(t, &files)))
		endings_cut_oldest(&t->endings);
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
	if (!has_files(t, &files))
		return err_set(err, ERR_LIMIT,
			       "no more sessions than these %zu fit: ptycell may have %ju files "
			       "open at once (ulimit -n), and each session needs about %d. Destroy "
			       "one of those that list_sessions names, or ask the user to raise "
			       "that limit",
			       map_count(t->rows), (uintmax_t)files.rlim_cur, ROOM_SESSION_FILES);
	return 0;
}

/* Takes over the folder of an ended session. Returns NULL and sets *err. */
static struct session *resume_row(const struct table *t, const char *id, const struct lasting *row,
				  struct err *err)
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
	return session_resume(host, id,
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
		struct session *session = resume_row(t, id, &found->rows[i], &err);

		if (session == NULL)
			continue;
		*ret_notice = resumption_describe(session, found, i);
		session_set_ways_back(session, resumption_ways_back(session, found, i));
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

	earlier_find(t->host, id, &found);
	session = resume(t, id, &found, &text);
	if (text == NULL)
		text = describe_new(t, id, ended, found.cut);
	if (session == NULL)
		return session_new(t->host, id, ended != NULL ? ended->generation : 1,
				   opening_notice(t, text), first, err);
	notice = opening_notice(t, text);
	session_add_notice(session, notice);
	session_report_gone(session);
	return session;
}

struct session *table_open(struct table *t, const char *id, const struct language *first,
			   struct err *err)
{
	struct row *row;
	struct session *session;

	if (session_id_check(id, err) < 0)
		return NULL;
	row = table_find_row(t, id);
	if (row != NULL)
		return row->session;
	make_room(t);
	if (check_room(t, err) < 0)
		return NULL;
	endings_cut(&t->endings, id);
	session = open_session(t, id, first, err);
	if (session == NULL)
		return NULL;
	row = xcalloc(1, sizeof(*row));
	list_init(&row->node);
	row->table = t;
	row->session = session;
	(void)map_set(t->rows, id, strlen(id), row);
	list_append(&t->order, &row->node);
	if (!loop_timer_active(&t->cleanup))
		table_schedule_cleanup(t);
	table_report_change(t);
	return session;
}

struct session *table_at(const struct table *t, size_t index)
{
	list_for_each (struct row, row, &t->order, node)
		if (index-- == 0)
			return row->session;
	return NULL;
}

bool table_any(const struct table *t)
{
	return !list_empty(&t->order) || endings_count(&t->endings) > 0;
}

bool table_busy(const struct table *t)
{
	list_for_each (struct row, row, &t->order, node)
		if (session_busy(row->session))
			return true;
	return false;
}
