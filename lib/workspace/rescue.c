/* SPDX-License-Identifier: MIT */
/*
 * rescue.c - exports a dead server's results, one session after the other. If it was
 * killed, earlier copies stay: code may have been writing. Folders that last have no lock: two
 * servers that export the same one find the other's copies by their content.
 */
#include "workspace/rescue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/get.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "workspace/aside.h"
#include "workspace/beneath.h"
#include "workspace/home.h"
#include "workspace/keeplog.h"
#include "workspace/keepname.h"
#include "workspace/lasting.h"
#include "workspace/lostcells.h"
#include "workspace/random_name.h"
#include "workspace/removal.h"
#include "workspace/rescue_record.h"
#include "workspace/spool.h"

enum {
	QUIET_MS = 120 * 1000, /* as in keeper.c: a helper without progress for so long hangs */
};

/* The steps of a session, in this request: the results make the folder for the notebook. */
enum step { STEP_RESULTS, STEP_NOTEBOOK, STEP_CELLS, STEPS };

struct rescue {
	struct home_job job;
	struct loop *loop;
	struct loop_defer next;
	const struct home *home;
	struct helper *helper;
	char *helper_path;
	char *name;    /* NULL: sessions that last */
	char *current; /* of these: the folder of the current session; NULL: none */
	int lock;      /* on the folder, like a remover's: no other server takes it for stale */
	DIR *sessions;
	int unread; /* why not all sessions of the folder could be looked at, an errno; 0: all */
	uint64_t quota_bytes;
	uint64_t total_bytes;
	char *root;             /* of this server's results; NULL: it exports none */
	int session_fd;         /* the current session; -1 before the first */
	enum step step;         /* the next one for it */
	bool due;               /* a later server may be able to save what is missing of it */
	bool stays;             /* so the folder `name` must stay: one of its sessions is due */
	bool removed;           /* `name` may be a session's own folder, of a removal cut short */
	bool ended;             /* its server was not killed: it ended while results were due */
	json_t *record;         /* of where its results go; NULL if they were not exported */
	char *shown;            /* where its files go; NULL without a record */
	char *path;             /* the same for the system */
	struct lostcells *lost; /* those that ran when it was killed; may be NULL */
	size_t copied;          /* of the session */
	size_t failed;          /* in the current step */
	void (*killed)(void *data, const struct lostcells_report *report);
	void (*done)(void *data, const char *name);
	void *data;
};

/* ---- one session after the other ---- */

/* Reports the copies of all steps together. */
static void report_saved(struct rescue *rescue)
{
	if (rescue->copied > 0)
		log_warn("rescue", "saved what a server that %s had not: %zu %s in '%s'",
			 rescue->ended ? "ended" : "was killed", rescue->copied,
			 rescue->copied == 1 ? "file is" : "files are", rescue->shown);
	rescue->copied = 0;
}

static void forget_session(struct rescue *rescue)
{
	report_saved(rescue);
	json_decref(rescue->record);
	lostcells_free(rescue->lost);
	rescue->record = NULL;
	rescue->lost = NULL;
	mem_cleanup(&rescue->shown);
	mem_cleanup(&rescue->path);
	fd_close(&rescue->session_fd);
}

static void release_rescue(struct rescue *rescue)
{
	loop_defer_stop(&rescue->next);
	if (rescue->sessions != NULL)
		(void)closedir(rescue->sessions);
	forget_session(rescue);
	fd_close(&rescue->lock);
	free(rescue->helper_path);
	free(rescue->root);
	free(rescue->current);
	free(rescue->name);
	free(rescue);
}

static void leave_rescue(struct home_job *job, int wait_ms)
{
	struct rescue *rescue = container_of(job, struct rescue, job);

	(void)helper_leave(rescue->helper, wait_ms);
	release_rescue(rescue);
}

/* Counts a copy, and records it for the session's next life. */
static void take_copy(struct rescue *rescue, const json_t *progress)
{
	cleanup_fd int journal = -1;
	cleanup_fd int session = rescue->current == NULL
					 ? -1
					 : lasting_open(rescue->home, rescue->current, &journal);

	if (!json_is_true(json_object_get(progress, "same")))
		rescue->copied++;
	if (session >= 0)
		keeplog_append(journal, progress, rescue->record);
}

/* Counts a file that was not copied. A file that cannot be read is given up. */
static void take_problem(struct rescue *rescue, const json_t *progress)
{
	rescue->failed++;
	if (json_is_true(json_object_get(progress, "again")) &&
	    !json_is_true(json_object_get(progress, "unread")))
		rescue->due = true;
}

static void on_progress(struct helper *helper, const json_t *progress)
{
	struct rescue *rescue = helper_data(helper);
	const char *left = json_string_value(json_object_get(progress, "left"));
	json_t *installed = json_object_get(progress, "installed");

	if (installed != NULL)
		lostcells_add_installed(
			rescue->lost, (uint64_t)json_integer_value(json_object_get(progress, "by")),
			json_incref(installed));
	else if (json_object_get(progress, "cell") != NULL)
		lostcells_add(rescue->lost,
			      (uint64_t)json_integer_value(json_object_get(progress, "cell")),
			      json_string_value(json_object_get(progress, "language")),
			      json_string_value(json_object_get(progress, "state")),
			      json_incref(json_object_get(progress, "typed")));
	else if (left != NULL)
		log_warn("rescue", "not all of '%s' is saved: %s", rescue->shown, left);
	else if (json_object_get(progress, "problem") != NULL)
		take_problem(rescue, progress);
	else if (json_object_get(progress, "to") != NULL)
		take_copy(rescue, progress);
}

static void on_next(struct loop_defer *defer);

/* Reports a step that failed. Results are due then, and a notebook if the disk may be full. */
static void fail_step(struct rescue *rescue, const struct err *err)
{
	rescue->due = rescue->due || rescue->step == STEP_RESULTS ||
		      (rescue->step == STEP_NOTEBOOK && err->code == ERR_SYSTEM);
	if (rescue->step == STEP_RESULTS)
		log_warn("rescue", "results of '%s' are not saved yet: %s", rescue->shown,
			 err->msg);
	else if (rescue->step == STEP_NOTEBOOK)
		log_warn("rescue", "the notebook of '%s' is not finished: %s", rescue->shown,
			 err->msg);
	else
		log_warn("rescue", "the audit of a session that was killed lacks its end: %s",
			 err->msg);
}

/* Reports the cells that ran, once: the record goes. */
static void report_killed(const struct rescue *rescue)
{
	bool exported = rescue->path != NULL && access(rescue->path, F_OK) == 0;

	lostcells_deliver(rescue->lost, exported ? rescue->shown : NULL, rescue->killed,
			  rescue->data);
	(void)unlinkat(rescue->session_fd, "journal/" LOSTCELLS_RECORD, 0);
}

static void on_rescue_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct rescue *rescue = helper_data(helper);

	(void)result;
	if (err != NULL)
		fail_step(rescue, err);
	else if (rescue->step == STEP_CELLS)
		report_killed(rescue);
	else if (rescue->failed > 0)
		log_warn("rescue", "could not save %zu of the results of '%s': %s", rescue->failed,
			 rescue->shown, rescue->due ? "the next server tries again" : "lost");
	helper_free(helper);
	rescue->helper = NULL;
	rescue->step++;
	loop_defer_start(rescue->loop, &rescue->next, on_next);
}

/* Starts a helper for the session's folder `name`. Returns false if it cannot be started. */
static bool start_helper(struct rescue *rescue, const char *op, const char *name, json_t *request)
{
	static const struct helper_handlers handlers = { .progress = on_progress,
							 .done = on_rescue_done };
	cleanup_fd int fd = beneath_open(rescue->session_fd, name, O_RDONLY | O_DIRECTORY, 0);
	struct helper_spec spec = { .path = rescue->helper_path,
				    .request = request,
				    .fds = &fd,
				    .fd_count = 1,
				    .quiet_ms = QUIET_MS };
	struct err err;

	rescue->due = rescue->due || (fd < 0 && errno != ENOENT);
	if (fd < 0)
		return false;
	json_put_str(request, "op", op);
	json_put_bool(request, "durable", true);
	json_put_bool(request, "names", rescue->step == STEP_RESULTS);
	json_put_int(request, "room", (json_int_t)rescue->quota_bytes);
	json_put_int(request, "total_room", 0); /* not known: the helper measures */
	json_put_int(request, "total_max", (json_int_t)rescue->total_bytes);
	rescue->failed = 0;
	rescue->helper = helper_start(rescue->loop, &spec, &handlers, rescue, &err);
	if (rescue->helper == NULL)
		fail_step(rescue, &err);
	rescue->due = rescue->due || rescue->helper == NULL;
	return rescue->helper != NULL;
}

/* Starts the current step. Returns false if there is nothing to do. */
static bool start_step(struct rescue *rescue)
{
	cleanup_json json_t *request = NULL;

	switch (rescue->step) {
	case STEP_RESULTS:
		return rescue->shown != NULL &&
		       start_helper(rescue, "rescue", "data", rescue->record);
	case STEP_NOTEBOOK:
		if (rescue->shown == NULL ||
		    !json_is_string(json_object_get(rescue->record, "notebook")))
			return false;
		json_put_str(rescue->record, "shown", rescue->shown);
		return start_helper(rescue, "rescue-notebook", "journal", rescue->record);
	case STEP_CELLS:
		request = json_object();
		return rescue->lost != NULL &&
		       start_helper(rescue, "killed-cells", "journal", request);
	case STEPS:
		break;
	}
	return false;
}

static void enter_session(struct rescue *rescue, int session_fd_own)
{
	cleanup_fd int journal = beneath_open(session_fd_own, "journal", O_RDONLY | O_DIRECTORY, 0);
	cleanup_free char *decoded = NULL;
	const char *folder = NULL;

	rescue->session_fd = session_fd_own;
	rescue->step = STEP_RESULTS;
	rescue->due = false;
	rescue->lost = journal < 0 ? NULL : lostcells_read(journal);
	rescue->record = rescue_record_read(session_fd_own, "journal/" RESCUE_RECORD);
	if (rescue->record == NULL)
		rescue->record = rescue_record_earlier(session_fd_own, rescue->root);
	decoded = rescue_record_target(rescue->record, &folder);
	if (decoded == NULL)
		return;
	json_put(rescue->record, "recorded", keeplog_copies(journal));
	json_put_bool(rescue->record, "replaces", rescue->ended);
	rescue->shown = keepname_show(decoded, folder);
	rescue->path = xasprintf("%s/%s", decoded, folder);
}

static void finish_rescue(struct rescue *rescue)
{
	cleanup_free char *name = mem_steal(&rescue->name);
	void (*done)(void *data, const char *name) = rescue->done;
	void *data = rescue->data;
	bool whole = rescue->unread == 0 && !rescue->stays;

	if (rescue->unread != 0)
		log_warn("rescue", "'%s' stays for the next server: it could not be read: %s",
			 name != NULL ? name : LASTING_FOLDER, strerrordesc_np(rescue->unread));
	else if (!whole)
		log_warn("rescue", "'%s/%s' stays for the next server, which saves what is missing",
			 home_path(rescue->home), name);
	list_remove(&rescue->job.node);
	release_rescue(rescue);
	done(data, whole ? name : NULL);
}

/* ---- sessions that last ---- */

/*
 * Returns false if all was exported when the session ended, or by an earlier rescue. Sets
 * *ret_ended if its server was not killed.
 */
static bool wants_rescue(int journal_fd, bool *ret_ended)
{
	struct lasting_record record;
	struct err err;
	bool wants = lasting_read(journal_fd, &record, &err) == 0 &&
		     (!record.exported || keeplog_is_due(journal_fd)) &&
		     faccessat(journal_fd, LASTING_RESCUED, F_OK, AT_SYMLINK_NOFOLLOW) < 0;

	*ret_ended = record.why != NULL;
	lasting_record_release(&record);
	return wants;
}

bool rescue_is_due(const struct home *home, const char *name)
{
	cleanup_fd int journal = -1;
	cleanup_fd int session = lasting_open(home, name, &journal);
	bool ended;

	return session >= 0 && wants_rescue(journal, &ended);
}

/* Removes a session that was destroyed before its results were exported. */
static void remove_forgotten(const struct rescue *rescue, const char *name)
{
	cleanup_free char *path = xasprintf(LASTING_FOLDER "/%s", name);

	(void)removal_start(rescue->loop, rescue->home, rescue->helper_path, path, NULL, NULL);
}

/*
 * Marks the current session, unless another server has taken it over, or some of it is due: the
 * next server tries again. Outputs of cells that nothing records go.
 */
static void mark_rescued(struct rescue *rescue)
{
	cleanup_free char *current = mem_steal(&rescue->current);
	const char *name = rescue->due ? NULL : current;
	cleanup_fd int journal = -1;
	cleanup_fd int session = name == NULL ? -1 : lasting_open(rescue->home, name, &journal);
	cleanup_fd int spool = beneath_open(session, "spool", O_RDONLY | O_DIRECTORY, 0);

	if (rescue->session_fd >= 0 && !rescue->due && (current == NULL || session >= 0))
		(void)unlinkat(rescue->session_fd, "journal/" KEEPLOG_DUE, 0);
	fd_touch(journal, LASTING_RESCUED);
	spool_remove_unrecorded(journal, spool, UINT64_MAX);
	if (journal >= 0 && lasting_is_forgotten(journal))
		remove_forgotten(rescue, name);
}

/* Opens a session that lasts. Returns -1 if there is nothing to do for it. */
static int open_lasting(struct rescue *rescue, const char *name)
{
	cleanup_fd int journal = -1;
	cleanup_fd int session = lasting_open(rescue->home, name, &journal);

	if (session < 0 ||
	    (!wants_rescue(journal, &rescue->ended) && !lasting_is_forgotten(journal)))
		return -1;
	rescue->current = xstrdup(name);
	return fd_steal(&session);
}

void rescue_skip(struct rescue *rescue, const char *name)
{
	if (rescue->current == NULL || !str_eq(rescue->current, name))
		return;
	mem_cleanup(&rescue->current);
	helper_free(rescue->helper);
	rescue->helper = NULL;
	forget_session(rescue);
	loop_defer_stop(&rescue->next);
	loop_defer_start(rescue->loop, &rescue->next, on_next);
}

/* ---- all sessions ---- */

/* Notes an error that hides sessions. A name that is gone, or no folder, hides none. */
static void note_unread(struct rescue *rescue)
{
	if (fd_hides_entries(errno))
		rescue->unread = errno;
}

static int open_session(struct rescue *rescue, const char *name)
{
	int fd;

	if (name[0] == '.')
		return -1;
	if (rescue->name == NULL)
		return open_lasting(rescue, name);
	fd = beneath_open(dirfd(rescue->sessions), name, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		note_unread(rescue);
	return fd;
}

/* Has the session's own files in place. A session without them is not exported, and stays. */
static bool settle(struct rescue *rescue, int session_fd)
{
	struct err err;

	if (aside_settle(session_fd, &err) == 0)
		return true;
	log_warn("rescue", "a session's own files are still moved aside: %s", err.msg);
	rescue->unread = err.sys != 0 ? err.sys : EIO;
	return false;
}

/* Enters the folder itself if it is that of a session whose removal waited for a copy. */
static bool enter_removed(struct rescue *rescue)
{
	cleanup_fd int fd = rescue->removed ? beneath_open(home_fd(rescue->home), rescue->name,
							   O_RDONLY | O_DIRECTORY, 0)
					    : -1;

	rescue->removed = false;
	if (fd < 0 || faccessat(fd, "journal/" RESCUE_RECORD, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	rescue->ended = true;
	enter_session(rescue, fd_steal(&fd));
	lostcells_free(rescue->lost); /* it ended in good order */
	rescue->lost = NULL;
	return true;
}

/* Enters the next session. Returns false when there is none. */
static bool next_session(struct rescue *rescue)
{
	const struct dirent *entry;

	rescue->stays = rescue->stays || (rescue->due && rescue->name != NULL);
	mark_rescued(rescue);
	forget_session(rescue);
	if (rescue->sessions == NULL)
		return enter_removed(rescue);
	while ((entry = fd_next_entry(rescue->sessions)) != NULL) {
		int session_fd = open_session(rescue, entry->d_name);

		if (session_fd < 0)
			continue;
		if (!settle(rescue, session_fd)) {
			fd_close(&session_fd);
			continue;
		}
		enter_session(rescue, session_fd);
		return true;
	}
	if (errno != 0)
		note_unread(rescue);
	return false;
}

static void on_next(struct loop_defer *defer)
{
	struct rescue *rescue = container_of(defer, struct rescue, next);

	do
		for (; rescue->session_fd >= 0 && rescue->step < STEPS; rescue->step++)
			if (start_step(rescue))
				return;
	while (next_session(rescue));
	finish_rescue(rescue);
}

/* Opens the folder with the sessions. Returns -1 without one, or when another server has it. */
static int open_sessions(struct rescue *rescue)
{
	int fd = -1;

	if (rescue->name == NULL)
		return lasting_open_all(rescue->home);
	rescue->lock = beneath_open(home_fd(rescue->home), rescue->name, O_RDONLY | O_DIRECTORY, 0);
	if (random_name_matches(rescue->name, HOME_SPENT_PREFIX) || /* session code made it */
	    (rescue->lock >= 0 && flock(rescue->lock, LOCK_EX | LOCK_NB) < 0))
		return -1;
	if (rescue->lock >= 0)
		fd = beneath_open(rescue->lock, HOME_SESSIONS, O_RDONLY | O_DIRECTORY, 0);
	rescue->removed = rescue->lock >= 0 && fd < 0 && errno == ENOENT;
	if (fd < 0)
		note_unread(rescue);
	return fd;
}

struct rescue *rescue_start(const struct rescue_spec *spec,
			    void (*done)(void *data, const char *name), void *data)
{
	struct rescue *rescue = xcalloc(1, sizeof(*rescue));

	rescue->job.leave = leave_rescue;
	rescue->session_fd = -1;
	rescue->loop = spec->loop;
	rescue->helper_path = xstrdup(spec->helper);
	rescue->home = spec->home;
	rescue->lock = -1;
	rescue->name = spec->name == NULL ? NULL : xstrdup(spec->name);
	rescue->quota_bytes = spec->quota_bytes;
	rescue->total_bytes = spec->total_bytes;
	rescue->root = spec->root == NULL ? NULL : xstrdup(spec->root);
	rescue->killed = spec->killed;
	rescue->done = done;
	rescue->data = data;
	home_add_job(spec->home, &rescue->job);
	rescue->sessions = fd_list_own(open_sessions(rescue));
	loop_defer_start(rescue->loop, &rescue->next, on_next);
	return rescue;
}
