/* SPDX-License-Identifier: MIT */
/*
 * removal.c - renames the tree to a hidden name at once, then removes it in ptycell-files. By the
 * hidden name, the next server finds a removal that was interrupted.
 */
#include "workspace/removal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/make.h"
#include "workspace/beneath.h"
#include "workspace/home.h"
#include "workspace/random_name.h"

struct removal {
	struct home_job job;
	struct helper *helper;
	struct loop_defer defer; /* the end of a removal that could not start */
	void (*done)(void *data, bool ok);
	void *data;
};

static void leave_removal(struct home_job *job, int wait_ms)
{
	struct removal *removal = container_of(job, struct removal, job);

	loop_defer_stop(&removal->defer);
	(void)helper_leave(removal->helper, wait_ms);
	free(removal);
}

static void finish_removal(struct removal *removal, bool ok)
{
	list_remove(&removal->job.node);
	if (removal->done != NULL)
		removal->done(removal->data, ok);
	helper_free(removal->helper);
	free(removal);
}

static void on_removal_done(struct helper *helper, const json_t *result, const struct err *err)
{
	const char *problem = json_string_value(json_object_get(result, "problem"));

	if (err != NULL)
		problem = err->msg;
	if (problem != NULL)
		log_warn("workspace", "removing a session's files: %s", problem);
	finish_removal(helper_data(helper), problem == NULL);
}

static void on_not_started(struct loop_defer *defer)
{
	finish_removal(container_of(defer, struct removal, defer), false);
}

/*
 * Renames the tree to a hidden name. Returns the name; the caller frees it. If the tree's mode
 * forbids the rename, the helper removes it under its old name.
 */
static char *hide(const struct home *home, const char *name, const char *prefix)
{
	char *hidden;

	if (home_is_removed(name) || !beneath_path_valid(name))
		return xstrdup(name);
	hidden = random_name_new(prefix);
	if (renameat(home_fd(home), name, home_fd(home), hidden) == 0)
		return hidden;
	free(hidden);
	return xstrdup(name);
}

void removal_forget(struct removal *removal)
{
	if (removal != NULL)
		removal->done = NULL;
}

static struct removal *new_removal(const struct home *home, void (*done)(void *data, bool ok),
				   void *data)
{
	struct removal *removal = xcalloc(1, sizeof(*removal));

	removal->done = done;
	removal->data = data;
	removal->job.leave = leave_removal;
	home_add_job(home, &removal->job);
	return removal;
}

static struct removal *start_removal(struct removal *removal, struct loop *loop,
				     const struct home *home, const char *helper, const char *name,
				     const char *prefix)
{
	static const struct helper_handlers handlers = { .done = on_removal_done };
	cleanup_free char *hidden = hide(home, name, prefix);
	cleanup_json json_t *request = json_object();
	struct helper_spec spec = {
		.path = helper, .request = request, .fds = (int[]){ home_fd(home) }, .fd_count = 1
	};
	struct err err;

	json_put_str(request, "op", "remove");
	json_put_str(request, "name", hidden);
	json_put_str(request, "prefix", prefix);
	removal->helper = helper_start(loop, &spec, &handlers, removal, &err);
	if (removal->helper == NULL) {
		log_warn("workspace", "removing a session's files: %s", err.msg);
		loop_defer_start(loop, &removal->defer, on_not_started);
	}
	return removal;
}

struct removal *removal_start(struct loop *loop, const struct home *home, const char *helper,
			      const char *name, void (*done)(void *data, bool ok), void *data)
{
	return start_removal(new_removal(home, done, data), loop, home, helper, name,
			     HOME_REMOVE_PREFIX);
}

struct removal *removal_start_spent(struct loop *loop, const struct home *home, const char *helper,
				    const char *name, void (*done)(void *data, bool ok), void *data)
{
	return start_removal(new_removal(home, done, data), loop, home, helper, name,
			     HOME_SPENT_PREFIX);
}
