/* SPDX-License-Identifier: MIT */
#include "workspace/keeper.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/make.h"
#include "text/percent.h"
#include "workspace/home.h"
#include "workspace/keepname.h"
#include "workspace/keeptext.h"
#include "workspace/kept.h"
#include "workspace/rescue.h"

#define NOTEBOOK_KEY "/"

/*
 * A copy that does not get on for so long hangs, as on a network folder that does not answer. One
 * after it is given less, until one ends: each holds its cell up.
 */
enum { FOLDER_TRIES = 5, QUIET_MS = 120 * 1000, QUIET_AGAIN_MS = 5 * 1000 };

/* A helper that copies; results and the notebook are copied beside each other. */
struct copy {
	struct keeper *keeper;
	int from_fd; /* the notebook's folder; results come from `lock` */
	struct helper *helper;
	struct loop_defer defer;
	struct kept **files;
	size_t file_count;
	size_t asked;  /* of them; the others are tried once more, and no trouble is told again */
	uint64_t size; /* copied of the only file, with `suffix` behind it; 0: all */
	char *suffix;
	uint64_t next_size; /* of the copy that follows at once, when next_suffix is not NULL */
	char *next_suffix;
	bool waiting; /* for the other one to make the folder */
	int lock;     /* shared, on the data folder, from the first copy to the last */
	int tries;
	unsigned int named; /* keeper->names when its helper began */
	size_t copied;
	char *problem;
	char *renamed; /* the sentence about the first altered name */
	void (*done)(struct keeper *keeper, const struct keep_result *result);
};

struct keeper {
	struct home_job job; /* in the home's list once freed with a copy running */
	bool freed;
	struct loop *loop;
	const struct home *home;
	int data_fd; /* borrowed, as the next: not after keeper_free */
	int journal_fd;
	bool keeps_notebook;
	char *helper_path;
	char *root;
	char *id;
	uint64_t quota;
	void *data;
	char *folder; /* below root, made by the first copy */
	char *shown;  /* the folder as people name it */
	char *beside; /* its folder for what lies beside output/; NULL: not yet */
	bool made;
	unsigned int names; /* that `folder` has had */
	bool hung;          /* the last copy did */
	bool last;          /* freed, and what was owed then is on its way */
	bool renamed_told;
	uint64_t used;
	struct kept_table kept;
	struct copy results;
	struct copy notebook;
};

static void copy_release(struct copy *copy)
{
	fd_close(&copy->from_fd);
	mem_cleanup(&copy->files);
	mem_cleanup(&copy->problem);
	mem_cleanup(&copy->renamed);
	mem_cleanup(&copy->suffix);
	fd_close(&copy->lock);
	copy->file_count = 0;
	copy->asked = 0;
	copy->copied = 0;
	copy->tries = 0;
	copy->size = 0;
}

static void release(struct keeper *keeper)
{
	kept_table_release(&keeper->kept);
	copy_release(&keeper->results);
	copy_release(&keeper->notebook);
	free(keeper->notebook.next_suffix);
	free(keeper->helper_path);
	free(keeper->root);
	free(keeper->id);
	free(keeper->folder);
	free(keeper->shown);
	free(keeper->beside);
	free(keeper);
}

static void leave(struct home_job *job, int wait_ms)
{
	struct keeper *keeper = container_of(job, struct keeper, job);

	if (keeper->results.helper != NULL)
		helper_leave(keeper->results.helper, wait_ms);
	if (keeper->notebook.helper != NULL)
		helper_leave(keeper->notebook.helper, wait_ms);
	release(keeper);
}

static void name_folder(struct keeper *keeper)
{
	keeper->names++;
	free(keeper->folder);
	free(keeper->shown);
	keeper->folder = keepname_new(keeper->id);
	assert(keeper->root != NULL);
	keeper->shown = keepname_show(keeper->root, keeper->folder);
	rescue_record(keeper->journal_fd, keeper->root, keeper->folder, keeper->keeps_notebook);
}

struct keeper *keeper_new(const struct keeper_spec *spec)
{
	struct keeper *keeper = xcalloc(1, sizeof(*keeper));

	keeper->job.leave = leave;
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
	keeper->keeps_notebook = spec->notebook;
	keeper->id = xstrdup(spec->session_id);
	keeper->data = spec->data;
	kept_table_init(&keeper->kept);
	if (spec->root != NULL)
		name_folder(keeper);
	return keeper;
}

void *keeper_data(const struct keeper *keeper)
{
	return keeper->data;
}

void keeper_set_quota(struct keeper *keeper, uint64_t quota_bytes)
{
	keeper->quota = quota_bytes;
}

const char *keeper_folder(const struct keeper *keeper)
{
	return keeper->made ? keeper->shown : NULL;
}

/* ---- what the helper says ---- */

static void note_problem(struct copy *copy, const char *from, const char *reason)
{
	if (copy->problem != NULL || copy->asked == 0)
		return;
	copy->problem = keeptext_problem(from, reason, copy->keeper->quota);
	if (copy->keeper->freed) /* nobody asks any more */
		log_warn("keeper", "'%s': %s", copy->keeper->id, copy->problem);
}

static void note_renamed(struct copy *copy, const struct kept *kept)
{
	cleanup_free char *to = percent_decode(kept->to, strlen(kept->to));

	if (!kept->altered || copy->keeper->renamed_told || to == NULL)
		return;
	copy->keeper->renamed_told = true;
	copy->renamed = keeptext_renamed(keepname_result(kept->from), to);
	if (copy->keeper->freed)
		log_info("keeper", "'%s': saved %s", copy->keeper->id, copy->renamed);
}

static void take_copy(struct copy *copy, struct kept *kept, const json_t *progress)
{
	struct keeper *keeper = copy->keeper;
	const char *to = json_string_value(json_object_get(progress, "to"));
	json_int_t size = json_integer_value(json_object_get(progress, "size"));

	if (to == NULL || size < 0)
		return;
	if (kept->known)
		keeper->used -= (uint64_t)kept->size;
	keeper->used += (uint64_t)size;
	free(kept->to);
	kept->to = xstrdup(to);
	kept->ino = json_integer_value(json_object_get(progress, "ino"));
	kept->mtime_ns = json_integer_value(json_object_get(progress, "mtime"));
	kept->size = size;
	kept->known = true;
	note_renamed(copy, kept);
	keeper->made = true;
	copy->copied++;
}

static void on_progress(struct helper *helper, const json_t *progress)
{
	struct copy *copy = helper_data(helper);
	json_t *file = json_object_get(progress, "file");
	json_int_t index = json_integer_value(file);
	const char *problem = json_string_value(json_object_get(progress, "problem"));

	if (!json_is_integer(file) || index < 0 || (size_t)index >= copy->file_count)
		return;
	copy->files[index]->settled = !json_is_true(json_object_get(progress, "again"));
	if (copy->files[index]->settled)
		copy->files[index]->owed = false;
	if (problem == NULL)
		take_copy(copy, copy->files[index], progress);
	if (json_is_true(json_object_get(progress, "mixed")))
		problem = "mixed";
	if (problem != NULL && (size_t)index < copy->asked)
		note_problem(copy, copy->files[index]->from, problem);
}

/* ---- running ---- */

static struct copy *other_of(struct copy *copy)
{
	struct keeper *keeper = copy->keeper;

	return copy == &keeper->results ? &keeper->notebook : &keeper->results;
}

static bool start_next(struct copy *copy);
static bool start_last(struct copy *copy);
static void start(struct copy *copy);

/* What is not settled is owed from here on. */
static void settle(struct copy *copy)
{
	for (size_t i = 0; copy == &copy->keeper->results && i < copy->file_count; i++)
		if (!copy->files[i]->settled)
			copy->files[i]->owed = true;
}

static void finish(struct copy *copy)
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
	settle(copy);
	if (start_last(copy))
		return;
	problem = mem_steal(&copy->problem);
	renamed = mem_steal(&copy->renamed);
	result = (struct keep_result){ .copied = copy->copied,
				       .failed = copy->file_count - copy->copied,
				       .error = problem,
				       .renamed = renamed };
	copy_release(copy);
	copy->done = NULL;
	if (other_of(copy)->waiting)
		start(other_of(copy));
	if (done != NULL) {
		done(keeper, &result);
		return;
	}
	if (!keeper->freed || keeper->results.helper != NULL || keeper->notebook.helper != NULL)
		return;
	list_remove(&keeper->job.node);
	release(keeper);
}

static bool try_start(struct copy *copy);

/* What was put into it is no longer ours, and due once more. */
static void forget_folder(struct keeper *keeper)
{
	if (keeper->made)
		log_warn("keeper", "'%s': the folder '%s' is another's now", keeper->id,
			 keeper->shown);
	keeper->made = false;
	keeper->used = 0;
	kept_forget(&keeper->kept, NOTEBOOK_KEY);
	name_folder(keeper);
}

/* Somebody has a folder of that name, or put theirs in the place of ours: another four characters.
 */
static bool goes_elsewhere(struct copy *copy, const struct err *err)
{
	struct keeper *keeper = copy->keeper;
	bool forgotten = copy->named != keeper->names; /* by the other copy */
	bool taken = err->code == ERR_BUSY && !keeper->made;
	bool lost = err->code == ERR_DENIED && (keeper->made || forgotten);

	if (keeper->freed || (!taken && !lost) || ++copy->tries == FOLDER_TRIES)
		return false;
	if (!forgotten)
		forget_folder(keeper);
	helper_free(copy->helper);
	copy->helper = NULL;
	return try_start(copy);
}

static void on_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct copy *copy = helper_data(helper);

	(void)result;
	copy->keeper->hung = err != NULL && err->code == ERR_TIMEOUT;
	if (err != NULL && goes_elsewhere(copy, err))
		return;
	if (err != NULL && copy->helper != NULL)
		note_problem(copy, NULL, err->msg);
	finish(copy);
}

static json_t *order_file(const struct copy *copy, const struct kept *kept)
{
	cleanup_free char *from = percent_encode(kept->from);
	json_t *file = json_object();

	json_put_str(file, "from", from);
	json_put_str(file, "to", kept->to);
	json_put_bool(file, "known", kept->known);
	json_put_int(file, "ino", kept->ino);
	json_put_int(file, "mtime", kept->mtime_ns);
	json_put_int(file, "size", kept->size);
	if (copy->suffix != NULL) {
		json_put_int(file, "take", (json_int_t)(copy->size & INT64_MAX));
		json_put_str(file, "suffix", copy->suffix);
	}
	return file;
}

static json_t *make_order(const struct copy *copy)
{
	const struct keeper *keeper = copy->keeper;
	json_t *order = json_object();
	json_t *files = json_array();
	cleanup_free char *root = percent_encode(keeper->root);
	uint64_t room = keeper->quota > keeper->used ? keeper->quota - keeper->used : 0;

	json_put_str(order, "op", "keep");
	json_put_str(order, "root", root);
	json_put_str(order, "folder", keeper->folder);
	json_put_bool(order, "fresh", !keeper->made);
	json_put_int(order, "room", (json_int_t)(room & INT64_MAX));
	for (size_t i = 0; i < copy->file_count; i++)
		json_append(files, order_file(copy, copy->files[i]));
	json_put(order, "files", files);
	return order;
}

/*
 * The helper gets the data folder opened anew with a shared lock, which lasts as long as it or we
 * hold the descriptor: a removal waits for that.
 */
static int start_helper(struct copy *copy, struct err *err)
{
	static const struct helper_handlers handlers = { .progress = on_progress, .done = on_done };
	struct keeper *keeper = copy->keeper;
	cleanup_json json_t *order = make_order(copy);
	struct helper_spec spec = { .path = keeper->helper_path,
				    .order = order,
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
	finish(container_of(defer, struct copy, defer));
}

/* False, and noted why, when it neither runs nor waits for its turn. */
static bool try_start(struct copy *copy)
{
	struct keeper *keeper = copy->keeper;
	struct err err;

	if (copy->lock < 0) {
		copy->lock = openat(keeper->data_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		(void)flock(copy->lock, LOCK_SH | LOCK_NB);
	}
	/* Who makes the folder refuses one that is there already: only one may. */
	copy->waiting = !keeper->made && other_of(copy)->helper != NULL;
	if (copy->waiting)
		return true;
	if (copy->file_count == 0)
		return false;
	if (start_helper(copy, &err) == 0)
		return true;
	note_problem(copy, NULL, err.msg);
	return false;
}

static void start(struct copy *copy)
{
	if (!try_start(copy) && !copy->keeper->freed)
		loop_defer_start(copy->keeper->loop, &copy->defer, on_nothing_to_run);
}

/* ---- what is owed ---- */

static struct kept *find_result(struct keeper *keeper, const char *path)
{
	cleanup_free char *to = keepname_place(path, keeper->data_fd, &keeper->beside);

	return kept_find(&keeper->kept, path, path, to);
}

bool keeper_knows(const struct keeper *keeper, const char *path)
{
	return kept_knows(&keeper->kept, path);
}

int keeper_data_fd(const struct keeper *keeper)
{
	return keeper->data_fd;
}

void keeper_owe(struct keeper *keeper, const char *path)
{
	if (keeper->root != NULL)
		find_result(keeper, path)->owed = true;
}

size_t keeper_owed(const struct keeper *keeper, const char **ret_path)
{
	return kept_owed(&keeper->kept, ret_path);
}

static void add_file(struct copy *copy, struct kept *kept)
{
	kept->owed = false;
	kept->settled = false;
	copy->files[copy->file_count++] = kept;
}

static void add_owed(struct copy *copy)
{
	struct list *node;
	struct list *next;

	list_for_each (node, next, &copy->keeper->kept.all)
		if (list_entry(node, struct kept, node)->owed)
			add_file(copy, list_entry(node, struct kept, node));
}

/* Once more, and then never again: what is owed when the keeper is freed, or its copy ends. */
static bool start_last(struct copy *copy)
{
	struct keeper *keeper = copy->keeper;
	const char *path;
	size_t owed = keeper_owed(keeper, &path);

	if (!keeper->freed || keeper->last || copy != &keeper->results || owed == 0)
		return false;
	keeper->last = true;
	mem_cleanup(&copy->problem);
	free(copy->files);
	copy->files = xcalloc(owed, sizeof(struct kept *));
	copy->file_count = 0;
	copy->copied = 0;
	add_owed(copy);
	copy->asked = copy->file_count;
	return try_start(copy);
}

void keeper_copy(struct keeper *keeper, const char *const *paths, size_t count,
		 void (*done)(struct keeper *keeper, const struct keep_result *result))
{
	struct copy *copy = &keeper->results;
	const char *path;

	assert(copy->done == NULL);
	copy->done = done;
	copy->files = xcalloc(count + keeper_owed(keeper, &path) + 1, sizeof(struct kept *));
	for (size_t i = 0; keeper->root != NULL && i < count; i++)
		add_file(copy, find_result(keeper, paths[i]));
	copy->asked = copy->file_count;
	add_owed(copy);
	start(copy);
}

/* The files of a copy stand: only how much of them differs. */
static bool start_next(struct copy *copy)
{
	struct err err;

	free(copy->suffix);
	copy->suffix = mem_steal(&copy->next_suffix);
	copy->size = copy->next_size;
	copy->tries = 0;
	copy->copied = 0;
	if (start_helper(copy, &err) == 0)
		return true;
	note_problem(copy, NULL, err.msg);
	return false;
}

void keeper_copy_notebook(struct keeper *keeper, const char *file, uint64_t size,
			  const char *suffix,
			  void (*done)(struct keeper *keeper, const struct keep_result *result))
{
	struct copy *copy = &keeper->notebook;

	if (copy->done != NULL) {
		free(copy->next_suffix);
		copy->next_suffix = xstrdup(suffix);
		copy->next_size = size;
		return;
	}
	copy->done = done;
	copy->size = size;
	copy->suffix = xstrdup(suffix);
	copy->from_fd = openat(keeper->journal_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	copy->files = xcalloc(1, sizeof(struct kept *));
	if (keeper->root != NULL)
		add_file(copy, kept_find(&keeper->kept, NOTEBOOK_KEY, file, file));
	copy->asked = copy->file_count;
	start(copy);
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
		settle(&keeper->results);
		(void)start_last(&keeper->results);
	}
	if (keeper->results.helper == NULL && keeper->notebook.helper == NULL)
		release(keeper);
	else
		home_add_job(keeper->home, &keeper->job);
}
