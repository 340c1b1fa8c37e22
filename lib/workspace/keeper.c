/* SPDX-License-Identifier: MIT */
#include "workspace/keeper.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/make.h"
#include "text/clean.h"
#include "text/percent.h"
#include "workspace/home.h"
#include "workspace/name.h"

#define OUTPUT_PREFIX "output/"

enum { SUFFIX_LEN = 4, ID_MAX = 64, FOLDER_TRIES = 5 };

/* A file of the session and what was put for it; the helper tells our file from others by it. */
struct kept {
	struct list node;
	char *from; /* relative to data */
	char *to;   /* relative to the folder, encoded: ours only to hand back */
	json_int_t ino;
	json_int_t mtime_ns;
	json_int_t size;
	bool known; /* it was put there */
};

struct keeper {
	struct home_job job; /* in the home's list once freed with a copy running */
	struct loop *loop;
	const struct home *home;
	int data_fd; /* borrowed */
	char *helper_path;
	char *root;
	char *id;
	uint64_t quota;
	void *data;
	char *folder; /* below root, NULL before the first copy */
	char *shown;  /* the folder as people name it */
	bool made;
	uint64_t used;
	struct list all; /* every struct kept */
	struct map *by_path;
	/* The copy that runs. */
	struct helper *helper;
	struct loop_defer defer;
	struct kept **files;
	size_t file_count;
	int tries;
	size_t copied;
	char *problem;
	void (*done)(struct keeper *keeper, const struct keep_result *result);
};

static void free_copy(struct keeper *keeper)
{
	free(keeper->files);
	free(keeper->problem);
	keeper->files = NULL;
	keeper->problem = NULL;
	keeper->file_count = 0;
	keeper->copied = 0;
	keeper->tries = 0;
}

static void release(struct keeper *keeper)
{
	struct list *node;
	struct list *next;

	list_for_each (node, next, &keeper->all) {
		struct kept *kept = list_entry(node, struct kept, node);

		free(kept->from);
		free(kept->to);
		free(kept);
	}
	free_copy(keeper);
	map_free(keeper->by_path);
	free(keeper->helper_path);
	free(keeper->root);
	free(keeper->id);
	free(keeper->folder);
	free(keeper->shown);
	free(keeper);
}

static void leave(struct home_job *job, int wait_ms)
{
	struct keeper *keeper = container_of(job, struct keeper, job);

	helper_leave(keeper->helper, wait_ms);
	release(keeper);
}

static bool is_id_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

struct keeper *keeper_new(struct loop *loop, const struct workspace *workspace, const char *helper,
			  const char *root, const char *session_id, void *data)
{
	struct keeper *keeper = xcalloc(1, sizeof(*keeper));

	keeper->job.leave = leave;
	list_init(&keeper->job.node);
	keeper->loop = loop;
	keeper->home = workspace_home(workspace);
	keeper->data_fd = workspace_data_fd(workspace);
	keeper->helper_path = xstrdup(helper);
	keeper->root = root == NULL ? NULL : xstrdup(root);
	keeper->id = xmemdup(session_id, strnlen(session_id, ID_MAX));
	for (char *c = keeper->id; *c != '\0'; c++)
		if (!is_id_character(*c))
			*c = '-';
	keeper->data = data;
	list_init(&keeper->all);
	keeper->by_path = map_new();
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

void keeper_free(struct keeper *keeper)
{
	if (keeper == NULL)
		return;
	loop_defer_stop(&keeper->defer);
	keeper->done = NULL;
	if (keeper->helper == NULL)
		release(keeper);
	else
		home_add_job(keeper->home, &keeper->job);
}

const char *keeper_folder(const struct keeper *keeper)
{
	return keeper->made ? keeper->shown : NULL;
}

/* ---- the folder's name ---- */

/* "~/ptycell/x" for what lies in the person's own folder. */
static char *show_path(const char *root, const char *folder)
{
	const char *own = getenv("HOME");
	size_t len = own == NULL ? 0 : strlen(own);

	while (len > 0 && own[len - 1] == '/')
		len--;
	if (own != NULL && len > 0 && strncmp(root, own, len) == 0 && root[len] == '/')
		return xasprintf("~%s/%s", root + len, folder);
	return xasprintf("%s/%s", root, folder);
}

static void name_folder(struct keeper *keeper)
{
	char suffix[SUFFIX_LEN + 1];
	char date[16] = "";
	time_t now = time(NULL);
	struct tm local;

	if (localtime_r(&now, &local) != NULL)
		(void)strftime(date, sizeof(date), "%Y-%m-%d", &local);
	name_random(suffix, SUFFIX_LEN);
	free(keeper->folder);
	free(keeper->shown);
	keeper->folder = xasprintf("%s-%s-%s", date, keeper->id, suffix);
	assert(keeper->root != NULL);
	keeper->shown = show_path(keeper->root, keeper->folder);
}

/* ---- what the helper says ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

static void note_problem(struct keeper *keeper, const char *from, const char *reason)
{
	cleanup_free char *name = NULL;
	cleanup_free char *why = NULL;

	if (keeper->problem != NULL)
		return;
	if (str_eq(reason, "limit"))
		why = xasprintf("more than %" PRIu64 " MB would be kept for this session "
				"(PTYCELL_KEEP_MAX)",
				keeper->quota >> 20);
	else
		why = clean_quote(reason);
	if (from == NULL) {
		keeper->problem = xasprintf("Nothing was saved: %s.", why);
		return;
	}
	name = clean_quote(base_name(from));
	keeper->problem = xasprintf("'%s' was not saved: %s.", name, why);
}

static void take_copy(struct keeper *keeper, struct kept *kept, const json_t *progress)
{
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
	keeper->made = true;
	keeper->copied++;
}

static void on_progress(struct helper *helper, const json_t *progress)
{
	struct keeper *keeper = helper_data(helper);
	json_t *file = json_object_get(progress, "file");
	json_int_t index = json_integer_value(file);
	const char *problem = json_string_value(json_object_get(progress, "problem"));

	if (!json_is_integer(file) || index < 0 || (size_t)index >= keeper->file_count)
		return;
	if (problem != NULL)
		note_problem(keeper, keeper->files[index]->from, problem);
	else
		take_copy(keeper, keeper->files[index], progress);
}

/* ---- running ---- */

static void finish(struct keeper *keeper)
{
	void (*done)(struct keeper * keeper, const struct keep_result *result) = keeper->done;
	cleanup_free char *problem = mem_steal(&keeper->problem);
	struct keep_result result = { .copied = keeper->copied,
				      .failed = keeper->file_count - keeper->copied,
				      .error = problem };

	free_copy(keeper);
	helper_free(keeper->helper);
	keeper->helper = NULL;
	keeper->done = NULL;
	if (done != NULL) {
		done(keeper, &result);
		return;
	}
	list_remove(&keeper->job.node);
	release(keeper);
}

static int start_helper(struct keeper *keeper, struct err *err);

static void on_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct keeper *keeper = helper_data(helper);
	struct err again = { 0 };

	(void)result;
	/* Somebody has a folder of that name: another four characters. */
	if (keeper->done != NULL && err != NULL && err->code == ERR_BUSY && !keeper->made &&
	    ++keeper->tries < FOLDER_TRIES) {
		helper_free(helper);
		name_folder(keeper);
		if (start_helper(keeper, &again) == 0)
			return;
		err = &again;
	}
	if (err != NULL)
		note_problem(keeper, NULL, err->msg);
	finish(keeper);
}

static json_t *make_order(const struct keeper *keeper)
{
	json_t *order = json_object();
	json_t *files = json_array();
	cleanup_free char *root = percent_encode(keeper->root);
	uint64_t room = keeper->quota > keeper->used ? keeper->quota - keeper->used : 0;

	json_put_str(order, "op", "keep");
	json_put_str(order, "root", root);
	json_put_str(order, "folder", keeper->folder);
	json_put_bool(order, "fresh", !keeper->made);
	json_put_int(order, "room", (json_int_t)(room & INT64_MAX));
	for (size_t i = 0; i < keeper->file_count; i++) {
		const struct kept *kept = keeper->files[i];
		cleanup_free char *from = percent_encode(kept->from);
		json_t *file = json_object();

		json_put_str(file, "from", from);
		json_put_str(file, "to", kept->to);
		json_put_bool(file, "known", kept->known);
		json_put_int(file, "ino", kept->ino);
		json_put_int(file, "mtime", kept->mtime_ns);
		json_put_int(file, "size", kept->size);
		json_append(files, file);
	}
	json_put(order, "files", files);
	return order;
}

/*
 * The helper gets the data folder opened anew with a shared lock, which lasts as long as it holds
 * the descriptor: a removal waits for that.
 */
static int start_helper(struct keeper *keeper, struct err *err)
{
	static const struct helper_handlers handlers = { .progress = on_progress, .done = on_done };
	cleanup_fd int data = openat(keeper->data_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_json json_t *order = make_order(keeper);
	struct helper_spec spec = {
		.path = keeper->helper_path, .order = order, .fds = &data, .fd_count = 1
	};

	keeper->helper = NULL;
	if (data < 0)
		return err_sys(err, "opening the session's folder");
	(void)flock(data, LOCK_SH | LOCK_NB);
	keeper->helper = helper_start(keeper->loop, &spec, &handlers, keeper, err);
	return keeper->helper == NULL ? -1 : 0;
}

static void on_nothing_to_run(struct loop_defer *defer)
{
	finish(container_of(defer, struct keeper, defer));
}

/* What a person's own programs will show: no escapes, nothing hidden. */
static char *tame_name(const char *path)
{
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);

	clean_name(&name, path, strlen(path));
	return percent_encode(buf_str(&name));
}

static struct kept *find_kept(struct keeper *keeper, const char *path)
{
	struct kept *kept = map_get(keeper->by_path, path, strlen(path));

	if (kept != NULL)
		return kept;
	kept = xcalloc(1, sizeof(*kept));
	kept->from = xstrdup(path);
	kept->to = tame_name(path + strlen(OUTPUT_PREFIX));
	list_init(&kept->node);
	list_append(&keeper->all, &kept->node);
	(void)map_set(keeper->by_path, path, strlen(path), kept);
	return kept;
}

void keeper_copy(struct keeper *keeper, const char *const *paths, size_t count,
		 void (*done)(struct keeper *keeper, const struct keep_result *result))
{
	struct err err;

	assert(keeper->done == NULL);
	keeper->done = done;
	keeper->files = xcalloc(count + 1, sizeof(struct kept *));
	for (size_t i = 0; i < count && keeper->root != NULL; i++)
		if (strncmp(paths[i], OUTPUT_PREFIX, strlen(OUTPUT_PREFIX)) == 0)
			keeper->files[keeper->file_count++] = find_kept(keeper, paths[i]);
	if (keeper->file_count > 0) {
		if (keeper->folder == NULL)
			name_folder(keeper);
		if (start_helper(keeper, &err) == 0)
			return;
		note_problem(keeper, NULL, err.msg);
	}
	loop_defer_start(keeper->loop, &keeper->defer, on_nothing_to_run);
}
