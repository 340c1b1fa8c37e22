/* SPDX-License-Identifier: MIT */
/*
 * rescue.c - exports a dead server's results, one session after the other: first the results,
 * because they make the folder, then the notebook. A flock on the server's folder keeps other
 * servers from taking it for stale.
 */
#include "workspace/rescue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "text/percent.h"
#include "workspace/beneath.h"
#include "workspace/home.h"
#include "workspace/keepname.h"

/* Versions without a record wrote events, of which some name the folder of the results. */
#define EARLIER_EVENTS "journal/records"
#define EARLIER_SAVED "\"saved\":\""

enum {
	EARLIER_MAX = 64 << 20,
	RECORD_MAX = 16 << 10,
	QUIET_MS = 120 * 1000, /* as in keeper.c: a helper without progress for so long hangs */
};

struct rescue {
	struct home_job job;
	struct loop *loop;
	struct loop_defer next;
	struct helper *helper;
	char *helper_path;
	char *name;
	int lock; /* on the folder, like a remover's: no other server takes it for stale */
	DIR *sessions;
	uint64_t quota_bytes;
	char *root;     /* of this server's results; NULL: it exports none */
	char *shown;    /* where the files of the current session go */
	json_t *record; /* of the current session, for its notebook; may be NULL */
	int journal_fd; /* the journal of that record */
	bool at_notebook;
	size_t copied;
	size_t failed;
	void (*done)(void *data, const char *name);
	void *data;
};

/* ---- the record ---- */

void rescue_record(int journal_fd, const char *root, const char *folder, const char *notebook)
{
	cleanup_fd int fd = openat(journal_fd, RESCUE_RECORD,
				   O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	cleanup_json json_t *record = json_object();
	cleanup_free char *encoded = percent_encode(root);
	cleanup_free char *text = NULL;
	struct err err;

	json_put_str(record, "root", encoded);
	json_put_str(record, "folder", folder);
	json_put_str(record, "notebook", notebook);
	text = json_write_text(record);
	if (fd < 0)
		(void)err_sys(&err, "making it");
	else if (fd_write_all(fd, text, strlen(text), &err) == 0)
		return;
	log_warn("rescue", "should this server be killed, results of '%s' would be lost: %s",
		 folder, err.msg);
}

static json_t *read_record(int session_fd)
{
	struct err err;
	size_t len = 0;
	cleanup_free char *text =
		fd_read_file(session_fd, "journal/" RESCUE_RECORD, RECORD_MAX, &len, &err);

	return text == NULL ? NULL : json_parse(text, len, &err);
}

/*
 * Returns the name after the last "saved" among a session's events, or a new name. No code can
 * write such a member: its quotes are escaped in strings.
 */
static char *last_folder(const char *events)
{
	const char *saved = NULL;
	const char *name;
	cleanup_free char *path = NULL;

	for (const char *at = events; (at = strstr(at, EARLIER_SAVED)) != NULL;)
		saved = at += strlen(EARLIER_SAVED);
	if (saved == NULL)
		return keepname_new("rescued");
	path = xmemdup(saved, strcspn(saved, "\""));
	name = strrchr(path, '/');
	return xstrdup(name == NULL ? path : name + 1);
}

/*
 * Returns a record for a session of a version that wrote none, to `root`. Such a version wrote
 * EARLIER_EVENTS whether results were exported or not. Returns NULL if there are no such events.
 */
static json_t *earlier_record(int session_fd, const char *root)
{
	struct err err;
	size_t len = 0;
	cleanup_free char *events =
		fd_read_file(session_fd, EARLIER_EVENTS, EARLIER_MAX, &len, &err);
	cleanup_free char *encoded = root == NULL ? NULL : percent_encode(root);
	cleanup_free char *folder = NULL;
	json_t *record;

	if (events == NULL || encoded == NULL)
		return NULL;
	folder = last_folder(events);
	record = json_object();
	json_put_str(record, "root", encoded);
	json_put_str(record, "folder", folder);
	return record;
}

/* ---- one session after the other ---- */

static void forget_session(struct rescue *rescue)
{
	json_decref(rescue->record);
	rescue->record = NULL;
	fd_close(&rescue->journal_fd);
}

static void release_rescue(struct rescue *rescue)
{
	loop_defer_stop(&rescue->next);
	if (rescue->sessions != NULL)
		(void)closedir(rescue->sessions);
	forget_session(rescue);
	fd_close(&rescue->lock);
	free(rescue->helper_path);
	free(rescue->shown);
	free(rescue->root);
	free(rescue->name);
	free(rescue);
}

static void leave_rescue(struct home_job *job, int wait_ms)
{
	struct rescue *rescue = container_of(job, struct rescue, job);

	if (rescue->helper != NULL)
		helper_leave(rescue->helper, wait_ms);
	release_rescue(rescue);
}

static void on_progress(struct helper *helper, const json_t *progress)
{
	struct rescue *rescue = helper_data(helper);

	const char *left = json_string_value(json_object_get(progress, "left"));

	if (left != NULL)
		log_warn("rescue", "not all of '%s' is saved: %s", rescue->shown, left);
	else if (json_object_get(progress, "problem") != NULL)
		rescue->failed++;
	else if (json_object_get(progress, "to") != NULL)
		rescue->copied++;
}

static void on_next(struct loop_defer *defer);

static void log_lost_results(const struct rescue *rescue, const struct err *err)
{
	if (rescue->at_notebook)
		log_warn("rescue", "the notebook of '%s' is not finished: %s", rescue->shown,
			 err->msg);
	else
		log_warn("rescue", "results of '%s' are lost: %s", rescue->shown, err->msg);
}

static void on_rescue_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct rescue *rescue = helper_data(helper);

	(void)result;
	if (rescue->copied > 0)
		log_warn("rescue", "saved what a server that was killed had not: %zu %s in '%s'",
			 rescue->copied, rescue->copied == 1 ? "file is" : "files are",
			 rescue->shown);
	if (err != NULL)
		log_lost_results(rescue, err);
	else if (rescue->failed > 0)
		log_warn("rescue", "%zu results of '%s' are lost", rescue->failed, rescue->shown);
	helper_free(helper);
	rescue->helper = NULL;
	loop_defer_start(rescue->loop, &rescue->next, on_next);
}

/* Starts a helper for the folder `fd`. Returns false if it cannot be started. */
static bool start_helper(struct rescue *rescue, const char *op, int fd)
{
	static const struct helper_handlers handlers = { .progress = on_progress,
							 .done = on_rescue_done };
	struct helper_spec spec = { .path = rescue->helper_path,
				    .order = rescue->record,
				    .fds = &fd,
				    .fd_count = 1,
				    .quiet_ms = QUIET_MS };
	struct err err;

	json_put_str(rescue->record, "op", op);
	json_put_bool(rescue->record, "durable", true);
	json_put_int(rescue->record, "room", (json_int_t)rescue->quota_bytes);
	rescue->copied = 0;
	rescue->failed = 0;
	rescue->helper = helper_start(rescue->loop, &spec, &handlers, rescue, &err);
	if (rescue->helper == NULL)
		log_lost_results(rescue, &err);
	return rescue->helper != NULL;
}

/* Starts the export of a session. Returns false if there is nothing to do. */
static bool start_session(struct rescue *rescue, int session_fd)
{
	cleanup_fd int data_fd = beneath_open(session_fd, "data", O_RDONLY | O_DIRECTORY, 0);
	cleanup_free char *decoded = NULL;
	const char *root;
	const char *folder;

	forget_session(rescue);
	rescue->at_notebook = false;
	rescue->record = read_record(session_fd);
	if (rescue->record == NULL)
		rescue->record = earlier_record(session_fd, rescue->root);
	root = json_string_value(json_object_get(rescue->record, "root"));
	folder = json_string_value(json_object_get(rescue->record, "folder"));
	decoded = root == NULL ? NULL : percent_decode(root, strlen(root));
	if (decoded == NULL || folder == NULL || data_fd < 0)
		return false;
	free(rescue->shown);
	rescue->shown = keepname_show(decoded, folder);
	if (json_is_string(json_object_get(rescue->record, "notebook")))
		rescue->journal_fd = beneath_open(session_fd, "journal", O_RDONLY | O_DIRECTORY, 0);
	return start_helper(rescue, "rescue", data_fd);
}

/* Starts the export of the notebook, after the results, which make the folder. */
static bool start_notebook(struct rescue *rescue)
{
	cleanup_fd int fd = fd_steal(&rescue->journal_fd);

	rescue->at_notebook = true;
	return fd >= 0 && start_helper(rescue, "rescue-notebook", fd);
}

static void finish_rescue(struct rescue *rescue)
{
	cleanup_free char *name = mem_steal(&rescue->name);
	void (*done)(void *data, const char *name) = rescue->done;
	void *data = rescue->data;

	list_remove(&rescue->job.node);
	release_rescue(rescue);
	done(data, name);
}

static void on_next(struct loop_defer *defer)
{
	struct rescue *rescue = container_of(defer, struct rescue, next);
	const struct dirent *entry;

	if (start_notebook(rescue))
		return;
	while (rescue->sessions != NULL && (entry = readdir(rescue->sessions)) != NULL) {
		cleanup_fd int session_fd = -1;

		if (entry->d_name[0] == '.')
			continue;
		session_fd = beneath_open(dirfd(rescue->sessions), entry->d_name,
					  O_RDONLY | O_DIRECTORY, 0);
		if (session_fd >= 0 && start_session(rescue, session_fd))
			return;
	}
	finish_rescue(rescue);
}

void rescue_start(const struct rescue_spec *spec, void (*done)(void *data, const char *name),
		  void *data)
{
	struct rescue *rescue = xcalloc(1, sizeof(*rescue));
	int sessions = -1;

	rescue->job.leave = leave_rescue;
	rescue->journal_fd = -1;
	rescue->loop = spec->loop;
	rescue->helper_path = xstrdup(spec->helper);
	rescue->name = xstrdup(spec->name);
	rescue->quota_bytes = spec->quota_bytes;
	rescue->root = spec->root == NULL ? NULL : xstrdup(spec->root);
	rescue->done = done;
	rescue->data = data;
	home_add_job(spec->home, &rescue->job);
	rescue->lock = beneath_open(home_fd(spec->home), spec->name, O_RDONLY | O_DIRECTORY, 0);
	if (rescue->lock >= 0 && flock(rescue->lock, LOCK_EX | LOCK_NB) == 0)
		sessions = beneath_open(rescue->lock, HOME_SESSIONS, O_RDONLY | O_DIRECTORY, 0);
	rescue->sessions = sessions < 0 ? NULL : fdopendir(sessions);
	if (rescue->sessions == NULL)
		fd_close(&sessions);
	loop_defer_start(rescue->loop, &rescue->next, on_next);
}
