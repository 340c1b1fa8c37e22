/* SPDX-License-Identifier: MIT */
/*
 * keeper.c - exports files with up to two helpers, one for results and one for the notebook. They
 * run at the same time, except while one makes the folder or renames copies. Each helper gets the
 * data folder with a shared flock, for which a removal waits. If the user's folder is replaced or
 * its name is taken, the exporter begins again in a new folder.
 */
#include "workspace/keeper_internal.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "json/make.h"
#include "workspace/home.h"
#include "workspace/keeplog.h"
#include "workspace/keepname.h"
#include "workspace/rescue_record.h"

/*
 * QUIET_MS: an export without progress for so long hangs, as on a network folder that does not
 * answer. Later exports get QUIET_AGAIN_MS until one succeeds, because each delays its cell.
 */
enum { FOLDER_TRIES = 5, QUIET_MS = 120 * 1000, QUIET_AGAIN_MS = 5 * 1000 };

static void copy_release(struct copy *copy)
{
	fd_close(&copy->from_fd);
	mem_cleanup(&copy->files);
	mem_cleanup(&copy->problem);
	mem_cleanup(&copy->renamed);
	mem_cleanup(&copy->suffix);
	json_decref(copy->report);
	copy->report = NULL;
	copy->redraw = false;
	fd_close(&copy->lock);
	copy->file_count = 0;
	copy->asked = 0;
	copy->copied = 0;
	copy->same = 0;
	copy->tries = 0;
	copy->size = 0;
}

static void release_keeper(struct keeper *keeper)
{
	kept_table_release(&keeper->kept);
	copy_release(&keeper->results);
	copy_release(&keeper->notebook);
	free(keeper->notebook.next_suffix);
	json_decref(keeper->notebook.next_report);
	free(keeper->helper_path);
	free(keeper->root);
	free(keeper->seen);
	free(keeper->id);
	free(keeper->title);
	free(keeper->folder);
	free(keeper->shown);
	free(keeper->path);
	free(keeper->recorded);
	free(keeper->recorded_report);
	free(keeper->notebooks);
	buf_release(&keeper->log);
	if (keeper->freed)
		fd_close(&keeper->journal_fd);
	free(keeper);
}

static void leave_keeper(struct home_job *job, int wait_ms)
{
	struct keeper *keeper = container_of(job, struct keeper, job);
	const char *path;
	bool due = keeper_count_due(keeper, &path) > 0 || keeper->results.waiting ||
		   keeper->notebook.waiting || keeper->notebook.next_suffix != NULL ||
		   keeper->notebook.problem != NULL;
	bool copies = keeper->notebook.helper != NULL;

	if (due)
		keeplog_set_due(keeper->journal_fd, true);
	(void)helper_leave(keeper->results.helper, wait_ms);
	/* A session that lasts has the mark since its end. A removal waits for the copy of results.
	 */
	if (helper_leave(keeper->notebook.helper, wait_ms) && copies && !due)
		keeplog_set_due(keeper->journal_fd, false);
	release_keeper(keeper);
}

static void name_folder(struct keeper *keeper)
{
	keeper->names++;
	free(keeper->folder);
	free(keeper->shown);
	keeper->folder = keepname_new(keeper->id, keeper->title);
	assert(keeper->root != NULL);
	keeper->shown = keepname_show(keeper->root, keeper->folder);
	keeper_record(keeper);
}

static bool is_there(const struct keeper *keeper)
{
	cleanup_free char *path = xasprintf("%s/%s", keeper->root, keeper->folder);

	return access(path, F_OK) == 0;
}

/* Goes on in the folder of the session's earlier life. Returns false if it had another root. */
static bool resume_folder(struct keeper *keeper, const struct keeper_spec *spec)
{
	keeper->folder = rescue_record_folder(keeper->journal_fd, keeper->root);
	if (keeper->folder == NULL)
		return false;
	keeper->resumed = true;
	keeper->shown = keepname_show(keeper->root, keeper->folder);
	keeper->made = keeplog_load(keeper);
	keeper->gone = keeper->made && !is_there(keeper);
	keeper->notebooks = xcalloc(spec->notebook_count, sizeof(*spec->notebooks));
	keeper->notebook_count = spec->notebook_count;
	for (size_t i = 0; i < spec->notebook_count; i++)
		keeper->notebooks[i] = spec->notebooks[i];
	keeper_record(keeper);
	return true;
}

struct keeper *keeper_new(const struct keeper_spec *spec)
{
	struct keeper *keeper = xcalloc(1, sizeof(*keeper));

	keeper->job.leave = leave_keeper;
	list_init(&keeper->job.node);
	keeper->loop = spec->loop;
	keeper->home = workspace_home(spec->workspace);
	keeper->data_fd = workspace_data_fd(spec->workspace);
	keeper->results.keeper = keeper;
	keeper->results.lock = -1;
	keeper->notebook.lock = -1;
	keeper->results.from_fd = -1;
	keeper->notebook.keeper = keeper;
	keeper->notebook.from_fd = -1;
	keeper->journal_fd = workspace_journal_fd(spec->workspace);
	keeper->helper_path = xstrdup(spec->helper);
	keeper->root = spec->root == NULL ? NULL : xstrdup(spec->root);
	keeper->seen = xstrdup(workspace_data_path(spec->workspace));
	keeper->room = spec->room;
	keeper->keeps_notebook = spec->notebook;
	keeper->id = xstrdup(spec->session_id);
	keeper->data = spec->data;
	kept_table_init(&keeper->kept);
	buf_init(&keeper->log, BUF_UNBOUNDED);
	if (spec->root != NULL && !(spec->resumed && resume_folder(keeper, spec)))
		name_folder(keeper);
	return keeper;
}

bool keeper_folder_is_gone(const struct keeper *keeper)
{
	return keeper->gone;
}

void *keeper_data(const struct keeper *keeper)
{
	return keeper->data;
}

void keeper_set_title(struct keeper *keeper, const char *title)
{
	if (keeper->root == NULL || keeper->title != NULL || keeper_has_folder(keeper) ||
	    keeper->results.helper != NULL || keeper->notebook.helper != NULL)
		return;
	keeper->title = xstrdup(title);
	name_folder(keeper);
}

void keeper_set_quota(struct keeper *keeper, uint64_t quota_bytes)
{
	keeper->quota = quota_bytes;
}

/* ---- running exports ---- */

static struct copy *other_of(struct copy *copy)
{
	struct keeper *keeper = copy->keeper;

	return copy == &keeper->results ? &keeper->notebook : &keeper->results;
}

static bool start_next(struct copy *copy);
static bool start_last(struct copy *copy);
static void start_copy(struct copy *copy);

/*
 * Marks results that are not settled as due. Takes the mark of the session's end away once the last
 * notebook is settled.
 */
static void settle_copy(struct copy *copy)
{
	struct keeper *keeper = copy->keeper;
	bool settled = true;

	for (size_t i = 0; i < copy->file_count; i++) {
		settled = settled && copy->files[i]->settled;
		if (copy == &keeper->results && !copy->files[i]->settled)
			copy->files[i]->owed = true;
	}
	if (copy == &keeper->notebook && keeper->freed && settled)
		keeplog_set_due(keeper->journal_fd, false);
}

static void finish_copy(struct copy *copy)
{
	struct keeper *keeper = copy->keeper;
	void (*done)(struct keeper * keeper, const struct keep_result *result) = copy->done;
	cleanup_free char *problem = NULL;
	cleanup_free char *renamed = NULL;
	struct keep_result result;

	helper_free(copy->helper);
	copy->helper = NULL;
	if (copy->next_suffix != NULL && start_next(copy))
		return;
	settle_copy(copy);
	keeplog_write(keeper);
	if (start_last(copy))
		return;
	if (copy == &keeper->results)
		keeper->compares = false;
	problem = keeper_take_problem(copy);
	renamed = mem_steal(&copy->renamed);
	result = (struct keep_result){ .redraw = copy->redraw,
				       .copied = copy->copied,
				       .failed = copy->file_count - copy->copied - copy->same,
				       .error = problem,
				       .renamed = renamed };
	copy_release(copy);
	copy->done = NULL;
	if (other_of(copy)->waiting)
		start_copy(other_of(copy));
	if (done != NULL) {
		done(keeper, &result);
		return;
	}
	if (!keeper->freed || keeper->results.helper != NULL || keeper->notebook.helper != NULL)
		return;
	list_remove(&keeper->job.node);
	release_keeper(keeper);
}

static bool try_start_copy(struct copy *copy);

/* Forgets the copies in the folder: it is no longer ours, and they are due again. */
static void forget_folder(struct keeper *keeper)
{
	if (keeper->made)
		log_warn("keeper", "'%s': the folder '%s' is another's now", keeper->id,
			 keeper->shown);
	keeper->made = false;
	keeper->resumed = false;
	keeper->used = 0;
	kept_forget(&keeper->kept);
	keeplog_renew(keeper);
	name_folder(keeper);
}

/*
 * Starts again in a folder with another random name, if the name is taken or our folder was
 * replaced.
 */
static bool goes_elsewhere(struct copy *copy, const struct err *err)
{
	struct keeper *keeper = copy->keeper;
	bool forgotten = copy->named != keeper->names; /* by the other copy */
	bool taken = err->code == ERR_BUSY && !keeper->made;
	bool lost = err->code == ERR_DENIED && (keeper_has_folder(keeper) || forgotten);

	if (keeper->freed || (!taken && !lost) || ++copy->tries == FOLDER_TRIES)
		return false;
	if (!forgotten)
		forget_folder(keeper);
	keeper_drop_report(copy);
	helper_free(copy->helper);
	copy->helper = NULL;
	return try_start_copy(copy);
}

/*
 * Starts again with folded names, if the helper found that the folder's file system ignores case,
 * and did nothing.
 */
static bool starts_folding(struct copy *copy)
{
	struct keeper *keeper = copy->keeper;

	if (!keeper->folds || keeptree_folds(keeper->kept.tree))
		return false;
	keeptree_fold(keeper->kept.tree);
	keeplog_renew(keeper);
	helper_free(copy->helper);
	copy->helper = NULL;
	return try_start_copy(copy);
}

static void on_copy_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct copy *copy = helper_data(helper);

	(void)result;
	copy->keeper->hung = err != NULL && err->code == ERR_TIMEOUT;
	if (starts_folding(copy))
		return;
	if (err != NULL && goes_elsewhere(copy, err))
		return;
	if (err != NULL)
		keeper_note_seen(copy);
	if (err != NULL && copy->helper != NULL && copy->asked > 0)
		keeper_note_problem(copy, NULL, err->msg);
	finish_copy(copy);
}

/*
 * Starts the helper with the data folder, opened again with a shared lock. The lock lasts as long
 * as the helper or the server holds the descriptor: a removal waits for it.
 */
static int start_helper(struct copy *copy, struct err *err)
{
	static const struct helper_handlers handlers = { .progress = keeper_take_progress,
							 .done = on_copy_done };
	struct keeper *keeper = copy->keeper;
	cleanup_json json_t *request = keeper_make_request(copy);
	struct helper_spec spec = { .path = keeper->helper_path,
				    .request = request,
				    .fd_count = 2,
				    .quiet_ms = keeper->hung ? QUIET_AGAIN_MS : QUIET_MS };

	copy->helper = NULL;
	copy->named = keeper->names;
	if (copy->lock < 0 || (copy == &keeper->notebook && copy->from_fd < 0))
		return err_sys(err, "opening the session's folder");
	spec.fds = (int[]){ copy == &keeper->results ? copy->lock : copy->from_fd, copy->lock };
	copy->helper = helper_start(keeper->loop, &spec, &handlers, copy, err);
	return copy->helper == NULL ? -1 : 0;
}

static void on_nothing_to_run(struct loop_defer *defer)
{
	finish_copy(container_of(defer, struct copy, defer));
}

/*
 * Starts the export, or queues it behind the other one. Returns false and notes the problem if it
 * cannot.
 */
static bool try_start_copy(struct copy *copy)
{
	struct keeper *keeper = copy->keeper;
	struct err err;

	if (copy->lock < 0) {
		copy->lock = openat(keeper->data_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		(void)flock(copy->lock, LOCK_SH | LOCK_NB);
	}
	/*
	 * A helper that makes the folder fails if it exists, so only one may. Copies must not be
	 * renamed while they are updated.
	 */
	copy->waiting = other_of(copy)->helper != NULL &&
			(!keeper->made || !list_empty(keeptree_moves(keeper->kept.tree)) ||
			 (copy == &keeper->results && keeper_names_changed(keeper)));
	if (copy->waiting)
		return true;
	if (copy->file_count == 0)
		return false;
	if (start_helper(copy, &err) == 0)
		return true;
	if (copy->asked > 0)
		keeper_note_problem(copy, NULL, err.msg);
	return false;
}

static void start_copy(struct copy *copy)
{
	if (!try_start_copy(copy) && !copy->keeper->freed)
		loop_defer_start(copy->keeper->loop, &copy->defer, on_nothing_to_run);
}

/* ---- files that are due ---- */

static struct kept *find_result(struct keeper *keeper, const char *path)
{
	return kept_find(&keeper->kept, path);
}

bool keeper_knows(const struct keeper *keeper, const char *path)
{
	return kept_knows(&keeper->kept, path);
}

int keeper_data_fd(const struct keeper *keeper)
{
	return keeper->data_fd;
}

void keeper_mark_due(struct keeper *keeper, const char *path)
{
	if (keeper->root != NULL)
		find_result(keeper, path)->owed = true;
}

/* Plans a copy, unless one is known. A later life may find one by its content. */
static bool owe(struct keeper *keeper, struct kept *kept)
{
	kept->owed = !kept->known;
	keeper->compares = keeper->compares || (keeper->resumed && kept->owed);
	return kept->owed;
}

bool keeper_mark_input(struct keeper *keeper, const char *name)
{
	return keeper->root != NULL && owe(keeper, kept_input(&keeper->kept, name));
}

char *keeper_mark_output(struct keeper *keeper, const char *file, const char *name, uint64_t size)
{
	uint64_t room = keeper->quota > keeper->used ? keeper->quota - keeper->used : 0;
	struct kept *kept;

	if (keeper->root == NULL || size > room / 2)
		return NULL;
	kept = kept_output(&keeper->kept, file, name);
	(void)owe(keeper, kept);
	return keeptree_path(kept->place);
}

void keeper_mark_missing(struct keeper *keeper, const char *path, uint64_t size, uint64_t mtime_ns)
{
	struct kept *kept;

	if (keeper->root == NULL)
		return;
	kept = find_result(keeper, path);
	if (kept->known && kept->size == (int64_t)size && kept->mtime_ns == (int64_t)mtime_ns)
		return;
	kept->owed = true;
	kept->seen_size = (int64_t)size;
	kept->seen_mtime_ns = (int64_t)mtime_ns;
	keeper->compares = keeper->resumed;
}

bool keeper_is_settled(const struct keeper *keeper)
{
	const char *path;

	return keeper->results.done == NULL && keeper_count_due(keeper, &path) == 0;
}

void keeper_forget_due(struct keeper *keeper)
{
	list_for_each (struct kept, kept, &keeper->kept.all, node)
		kept->owed = kept->owed && (kept->spare || kept->whole);
}

size_t keeper_count_due(const struct keeper *keeper, const char **ret_path)
{
	return kept_owed(&keeper->kept, ret_path);
}

static void add_file(struct copy *copy, struct kept *kept)
{
	kept_add(copy->files, &copy->file_count, kept);
}

static void add_others(struct copy *copy)
{
	copy->file_count = kept_add_others(&copy->keeper->kept, copy->files, copy->file_count);
}

/*
 * Exports what is still due a last time, when the exporter is freed, or when its export ends after
 * that.
 */
static bool start_last(struct copy *copy)
{
	struct keeper *keeper = copy->keeper;
	const char *path;
	size_t owed = keeper_count_due(keeper, &path);

	if (!keeper->freed || keeper->last || copy != &keeper->results || owed == 0)
		return false;
	keeper->last = true;
	mem_cleanup(&copy->problem);
	free(copy->files);
	copy->files = xcalloc(list_len(&keeper->kept.all), sizeof(struct kept *));
	copy->file_count = 0;
	copy->copied = 0;
	copy->same = 0;
	add_others(copy);
	copy->asked = copy->file_count;
	return try_start_copy(copy);
}

void keeper_copy(struct keeper *keeper, const char *const *paths, size_t count,
		 void (*done)(struct keeper *keeper, const struct keep_result *result))
{
	struct copy *copy = &keeper->results;

	assert(copy->done == NULL);
	copy->done = done;
	copy->files = xcalloc(count + list_len(&keeper->kept.all) + 1, sizeof(struct kept *));
	for (size_t i = 0; keeper->root != NULL && i < count; i++)
		add_file(copy, find_result(keeper, paths[i]));
	copy->asked = copy->file_count;
	add_others(copy);
	start_copy(copy);
}

/* Lists the report behind the notebook if there is one. Its problems are only logged. */
static void list_report(struct copy *copy)
{
	struct keeper *keeper = copy->keeper;

	copy->file_count = copy->asked;
	if (copy->report != NULL && keeper->root != NULL)
		add_file(copy, kept_report(&keeper->kept));
}

/* Starts the queued export of the notebook. Its file is the same; only the size differs. */
static bool start_next(struct copy *copy)
{
	free(copy->suffix);
	copy->suffix = mem_steal(&copy->next_suffix);
	copy->size = copy->next_size;
	json_decref(copy->report);
	copy->report = copy->next_report;
	copy->next_report = NULL;
	for (size_t i = 0; i < copy->asked; i++)
		copy->files[i]->settled = false;
	list_report(copy);
	copy->tries = 0;
	copy->copied = 0;
	return try_start_copy(copy);
}

void keeper_copy_notebook(struct keeper *keeper, const struct keeper_notebook_copy *wanted,
			  void (*done)(struct keeper *keeper, const struct keep_result *result))
{
	struct copy *copy = &keeper->notebook;

	if (copy->done != NULL) {
		if (wanted->report != NULL) {
			json_decref(copy->next_report);
			copy->next_report = json_incref(wanted->report);
		}
		free(copy->next_suffix);
		copy->next_suffix = xstrdup(wanted->suffix);
		copy->next_size = wanted->size;
		return;
	}
	copy->done = done;
	copy->size = wanted->size;
	copy->suffix = xstrdup(wanted->suffix);
	copy->report = json_incref(wanted->report);
	copy->from_fd = openat(keeper->journal_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	copy->files = xcalloc(2, sizeof(struct kept *));
	if (keeper->root != NULL)
		add_file(copy, kept_notebook(&keeper->kept, wanted->file));
	copy->asked = copy->file_count;
	list_report(copy);
	start_copy(copy);
}

void keeper_free(struct keeper *keeper)
{
	if (keeper == NULL)
		return;
	loop_defer_stop(&keeper->results.defer);
	loop_defer_stop(&keeper->notebook.defer);
	keeper->results.done = NULL;
	keeper->notebook.done = NULL;
	keeper->freed = true;
	if (keeper->results.helper == NULL && !keeper->results.waiting) {
		settle_copy(&keeper->results);
		(void)start_last(&keeper->results);
	}
	/* The session's own is closed soon. */
	keeper->journal_fd = openat(keeper->journal_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (keeper->results.helper == NULL && keeper->notebook.helper == NULL)
		release_keeper(keeper);
	else
		home_add_job(keeper->home, &keeper->job);
}
