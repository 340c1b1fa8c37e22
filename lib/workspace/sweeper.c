/* SPDX-License-Identifier: MIT */
/*
 * sweeper.c - starts the helper and logs what it removes. The rule that chooses the folders is in
 * cmd/files/sweep.c, because their sizes take long to measure.
 */
#include "workspace/sweeper.h"

#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/make.h"
#include "workspace/home.h"

struct sweeper {
	struct home_job job;
	struct helper *helper;
	struct loop_defer defer; /* the end of a sweep that could not start */
	void (*done)(void *data);
	void *data;
};

static void leave_sweep(struct home_job *job, int wait_ms)
{
	struct sweeper *sweeper = container_of(job, struct sweeper, job);

	(void)wait_ms; /* it is never urgent */
	loop_defer_stop(&sweeper->defer);
	if (sweeper->helper != NULL)
		(void)helper_leave(sweeper->helper, 0);
	free(sweeper);
}

static void finish_sweep(struct sweeper *sweeper)
{
	list_remove(&sweeper->job.node);
	if (sweeper->done != NULL)
		sweeper->done(sweeper->data);
	helper_free(sweeper->helper);
	free(sweeper);
}

static void on_removed(struct helper *helper, const json_t *progress)
{
	const char *id = json_string_value(json_object_get(progress, "session_id"));
	const char *why = json_string_value(json_object_get(progress, "why"));
	json_int_t bytes = json_integer_value(json_object_get(progress, "bytes"));
	json_int_t days =
		((json_int_t)time(NULL) - json_integer_value(json_object_get(progress, "used_s"))) /
		86400;

	(void)helper;
	if (id == NULL || why == NULL)
		return;
	if (str_eq(why, "age"))
		log_info("workspace",
			 "session '%s' cannot be resumed any more: it was not used for %lld days",
			 id, (long long)days);
	else
		log_warn("workspace",
			 "session '%s' (%lld MB, not used for %lld days) cannot be resumed any "
			 "more: ended sessions take more than PTYCELL_RESUME_MAX",
			 id, (long long)bytes >> 20, (long long)days);
}

static void on_swept(struct helper *helper, const json_t *result, const struct err *err)
{
	(void)result;
	if (err != NULL)
		log_warn("workspace", "looking after folders of ended sessions: %s", err->msg);
	finish_sweep(helper_data(helper));
}

static void on_not_started(struct loop_defer *defer)
{
	finish_sweep(container_of(defer, struct sweeper, defer));
}

void sweeper_start(const struct sweeper_spec *spec, void (*done)(void *data), void *data)
{
	static const struct helper_handlers handlers = { .progress = on_removed, .done = on_swept };
	struct sweeper *sweeper = xcalloc(1, sizeof(*sweeper));
	cleanup_json json_t *request = json_object();
	struct helper_spec helper = { .path = spec->helper,
				      .request = request,
				      .fds = (int[]){ home_fd(spec->home) },
				      .fd_count = 1 };
	struct err err;

	sweeper->done = done;
	sweeper->data = data;
	sweeper->job.leave = leave_sweep;
	home_add_job(spec->home, &sweeper->job);
	json_put_str(request, "op", "sweep");
	json_put_int(request, "age_s", (json_int_t)spec->age_s);
	json_put_int(request, "bytes_max", (json_int_t)(spec->bytes_max & INT64_MAX));
	sweeper->helper = helper_start(spec->loop, &helper, &handlers, sweeper, &err);
	if (sweeper->helper == NULL) {
		log_warn("workspace", "looking after folders of ended sessions: %s", err.msg);
		loop_defer_start(spec->loop, &sweeper->defer, on_not_started);
	}
}
