/* SPDX-License-Identifier: MIT */
/*
 * retirement.c - counts folders that are being removed, from the session's end to the helper's.
 *
 * A folder whose sandbox still closes waits in `closing`, because its processes could write while
 * it is being removed. A last look at the shared folders counts as a removal of its own: the server
 * must not exit before it has ended.
 */
#include "tools/retirement.h"

#include <stdlib.h>

#include "answer/killed.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/settings.h"
#include "proc/sandbox.h"
#include "runner/host.h"
#include "workspace/keeper.h"
#include "workspace/lasting.h"
#include "workspace/lookout.h"
#include "workspace/rescue.h"
#include "workspace/sweep.h"
#include "workspace/workspace.h"

/*
 * AGE_WHEN_OFF_S: without PTYCELL_RESUME, folders that other servers left are not kept for ever.
 * LOOK_AFTER_MS: a session that is resumed at once exports by itself what is missing.
 */
enum { AGE_WHEN_OFF_S = 7 * 86400, LOOK_AFTER_MS = 1000 };

struct retirement {
	const struct session_host *host;
	size_t pending; /* folders and last looks */
	struct list closing;
	struct rescue *rescue;        /* of sessions that last; NULL: none runs */
	struct loop_timer look_after; /* starts it */
	struct loop_defer sweep;      /* starts one */
	bool sweeping;
	bool ending; /* of the server: nothing is swept any more */
	void (*idle)(void *data);
	void *idle_data;
};

struct retired {
	struct list node;
	struct retirement *retirement;
	char *name;              /* NULL: the folder lasts */
	struct lookout *lookout; /* or NULL */
};

static void finish_one(struct retirement *retirement)
{
	if (--retirement->pending == 0 && retirement->idle != NULL)
		retirement->idle(retirement->idle_data);
}

static void on_removed(void *data, bool ok)
{
	if (!ok)
		log_warn("service", "a session's folder could not be removed completely");
	finish_one(data);
}

static void remove_folder(struct retirement *retirement, const char *name)
{
	const struct session_host *host = retirement->host;

	removal_start(host->loop, host->home, host->files_helper, name, on_removed, retirement);
}

static void retired_free(struct retired *retired)
{
	list_remove(&retired->node);
	lookout_free(retired->lookout);
	free(retired->name);
	free(retired);
}

static void on_last_look(void *data)
{
	finish_one(data);
}

static void on_sandbox_closed(void *data)
{
	struct retired *retired = data;
	struct retirement *retirement = retired->retirement;
	struct lookout *lookout = mem_steal(&retired->lookout);
	bool lasts = retired->name == NULL;

	if (lookout != NULL) {
		retirement->pending++;
		lookout_last(lookout, on_last_look, retirement);
	}
	if (retired->name != NULL)
		remove_folder(retirement, retired->name);
	retired_free(retired);
	if (lasts)
		finish_one(retirement);
}

static void on_swept(void *data)
{
	struct retirement *retirement = data;

	retirement->sweeping = false;
}

static void on_sweep(struct loop_defer *defer)
{
	struct retirement *retirement = container_of(defer, struct retirement, sweep);
	const struct session_host *host = retirement->host;
	const struct settings *settings = host->settings;
	const struct sweep_spec spec = { .loop = host->loop,
					 .home = host->home,
					 .helper = host->files_helper,
					 .age_s = settings->resume > 0 ? settings->resume
								       : AGE_WHEN_OFF_S,
					 .bytes_max = settings->resume_max };

	/* The next session that ends starts another one. */
	if (retirement->sweeping)
		return;
	retirement->sweeping = true;
	sweep_start(&spec, on_swept, retirement);
}

/* Returns whether the folder lasts. */
static bool give_up(struct retirement *retirement, const struct retiring *retiring)
{
	const struct session_host *host = retirement->host;

	if (!retiring->lasts || !lasting_release(host->home, retiring->name))
		return false;
	if (!retirement->ending)
		loop_defer_start(host->loop, &retirement->sweep, on_sweep);
	return true;
}

void retirement_add(struct retirement *retirement, const struct retiring *retiring)
{
	struct retired *retired;
	bool lasts = give_up(retirement, retiring);
	struct sandbox *sandbox_own = retiring->sandbox_own;

	if (sandbox_own == NULL)
		lookout_free(retiring->lookout_own); /* no code ran */
	if (sandbox_own == NULL && lasts)
		return;
	retirement->pending++;
	if (sandbox_own == NULL) {
		remove_folder(retirement, retiring->name);
		return;
	}
	retired = xcalloc(1, sizeof(*retired));
	list_init(&retired->node);
	list_append(&retirement->closing, &retired->node);
	retired->retirement = retirement;
	retired->name = lasts ? NULL : xstrdup(retiring->name);
	retired->lookout = retiring->lookout_own;
	sandbox_close(sandbox_own, on_sandbox_closed, retired);
}

static void on_rescued(void *data, const char *name)
{
	remove_folder(data, name);
}

static void on_killed(void *data, const struct lostcells_report *report)
{
	const struct retirement *retirement = data;

	killed_audit(retirement->host->settings, report);
}

bool retirement_add_stale(struct retirement *retirement)
{
	const struct session_host *host = retirement->host;
	struct rescue_spec spec = { .loop = host->loop,
				    .home = host->home,
				    .helper = host->files_helper,
				    .root = host->settings->keep,
				    .quota_bytes = host->settings->limits.keep_max,
				    .killed = on_killed };
	bool found = false;
	char *name;

	home_look_again(host->home);
	while ((name = home_take_stale(host->home)) != NULL) {
		found = true;
		log_info("service", "removing what an earlier server left: '%s'", name);
		retirement->pending++;
		spec.name = name;
		(void)rescue_start(&spec, on_rescued, retirement);
		free(name);
	}
	return found;
}

static void on_lasting_rescued(void *data, const char *name)
{
	struct retirement *retirement = data;

	(void)name;
	retirement->rescue = NULL;
	loop_defer_start(retirement->host->loop, &retirement->sweep, on_sweep);
}

static void on_look_after(struct loop_timer *timer)
{
	struct retirement *retirement = container_of(timer, struct retirement, look_after);
	const struct session_host *host = retirement->host;
	const struct rescue_spec spec = { .loop = host->loop,
					  .home = host->home,
					  .helper = host->files_helper,
					  .root = host->settings->keep,
					  .quota_bytes = host->settings->limits.keep_max,
					  .killed = on_killed };

	retirement->rescue = rescue_start(&spec, on_lasting_rescued, retirement);
}

void retirement_look_after(struct retirement *retirement)
{
	struct loop *loop = retirement->host->loop;

	loop_timer_start(loop, &retirement->look_after, loop_now(loop) + LOOK_AFTER_MS,
			 on_look_after);
}

void retirement_skip(struct retirement *retirement, const char *name)
{
	if (retirement->rescue != NULL)
		rescue_skip(retirement->rescue, name);
}

void retirement_end(struct retirement *retirement)
{
	retirement->ending = true;
	loop_timer_stop(&retirement->look_after);
	loop_defer_stop(&retirement->sweep);
}

struct retirement *retirement_new(const struct session_host *host)
{
	struct retirement *retirement = xcalloc(1, sizeof(*retirement));

	retirement->host = host;
	list_init(&retirement->closing);
	return retirement;
}

void retirement_on_idle(struct retirement *retirement, void (*idle)(void *data), void *data)
{
	retirement->idle = idle;
	retirement->idle_data = data;
}

bool retirement_is_idle(const struct retirement *retirement)
{
	return retirement->pending == 0;
}

void retirement_free(struct retirement *retirement)
{
	/* The processes ended with the launcher. The helpers outlive this server. */
	while (!list_empty(&retirement->closing)) {
		struct retired *retired =
			list_entry(retirement->closing.next, struct retired, node);

		if (retired->name != NULL)
			remove_folder(retirement, retired->name);
		retired_free(retired);
	}
	loop_timer_stop(&retirement->look_after);
	loop_defer_stop(&retirement->sweep);
	free(retirement);
}
