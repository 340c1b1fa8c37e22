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

#include "answer/audit_killed.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/settings.h"
#include "proc/sandbox.h"
#include "runner/host.h"
#include "workspace/home.h"
#include "workspace/inspector.h"
#include "workspace/lasting.h"
#include "workspace/removal.h"
#include "workspace/rescue.h"
#include "workspace/sweeper.h"
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
	struct rescue *rescue; /* of sessions that last; NULL: none runs */
	char **stale;          /* folders of killed servers, from `stale_at` on */
	size_t stale_count;
	size_t stale_at;
	bool finishing;               /* one of them */
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
	char *name;                  /* NULL: the folder lasts */
	struct inspector *inspector; /* or NULL */
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

	(void)removal_start(host->loop, host->home, host->files_helper, name, on_removed,
			    retirement);
}

static void retired_free(struct retired *retired)
{
	list_remove(&retired->node);
	inspector_free(retired->inspector);
	free(retired->name);
	free(retired);
}

static void on_last_look(void *data, bool unreported)
{
	struct retirement *retirement = data;
	const struct session_host *host = retirement->host;

	if (unreported && host->unreported != NULL)
		host->unreported(host->owner);
	finish_one(retirement);
}

static void on_sandbox_closed(void *data)
{
	struct retired *retired = data;
	struct retirement *retirement = retired->retirement;
	struct inspector *inspector = mem_steal(&retired->inspector);
	bool lasts = retired->name == NULL;

	if (inspector != NULL) {
		retirement->pending++;
		inspector_finish(inspector, on_last_look, retirement);
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
	const struct sweeper_spec spec = { .loop = host->loop,
					   .home = host->home,
					   .helper = host->files_helper,
					   .age_s = settings->resume > 0 ? settings->resume
									 : AGE_WHEN_OFF_S,
					   .bytes_max = settings->resume_max };

	/* The next session that ends starts another one. */
	if (retirement->sweeping)
		return;
	retirement->sweeping = true;
	sweeper_start(&spec, on_swept, retirement);
}

/* Returns whether the folder lasts. One that cannot be moved stays: the next server moves it. */
static bool give_up(struct retirement *retirement, const struct retiring *retiring)
{
	const struct session_host *host = retirement->host;

	if (!retiring->lasts)
		return false;
	if (!lasting_release(host->home, retiring->name))
		return true;
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
		inspector_free(retiring->inspector_own); /* no code ran */
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
	retired->inspector = retiring->inspector_own;
	sandbox_close(sandbox_own, on_sandbox_closed, retired);
}

static void on_killed(void *data, const struct lostcells_report *report)
{
	const struct retirement *retirement = data;

	audit_killed_add_lines(retirement->host->settings, report);
}

/* ---- folders of killed servers, one at a time ---- */

static void finish_next(struct retirement *retirement);

static void on_finished(void *data, bool ok)
{
	struct retirement *retirement = data;

	retirement->finishing = false;
	finish_next(retirement);
	on_removed(retirement, ok);
}

static void on_rescued(void *data, const char *name)
{
	struct retirement *retirement = data;
	const struct session_host *host = retirement->host;

	if (name == NULL)
		on_finished(retirement, true);
	else
		(void)removal_start(host->loop, host->home, host->files_helper, name, on_finished,
				    retirement);
}

/* Another server takes the folders whose turn does not come before this one ends. */
static void finish_next(struct retirement *retirement)
{
	const struct session_host *host = retirement->host;
	struct rescue_spec spec = { .loop = host->loop,
				    .home = host->home,
				    .helper = host->files_helper,
				    .root = host->settings->keep,
				    .quota_bytes = host->settings->limits.keep_max,
				    .killed = on_killed };

	if (retirement->finishing || retirement->ending ||
	    retirement->stale_at == retirement->stale_count)
		return;
	spec.name = retirement->stale[retirement->stale_at++];
	log_info("service", "removing what an earlier server left: '%s'", spec.name);
	retirement->finishing = true;
	retirement->pending++;
	(void)rescue_start(&spec, on_rescued, retirement);
}

bool retirement_add_stale(struct retirement *retirement)
{
	const struct session_host *host = retirement->host;
	size_t before = retirement->stale_count;
	char *name;

	home_look_again(host->home);
	while ((name = home_take_stale(host->home)) != NULL) {
		retirement->stale = xrealloc(retirement->stale, (retirement->stale_count + 1) *
									sizeof(*retirement->stale));
		retirement->stale[retirement->stale_count++] = name;
	}
	finish_next(retirement);
	return retirement->stale_count > before;
}

static void on_lasting_rescued(void *data, const char *name)
{
	struct retirement *retirement = data;

	(void)name;
	retirement->rescue = NULL;
	loop_defer_start(retirement->host->loop, &retirement->sweep, on_sweep);
}

/* Starts a rescue, or waits for the one that runs: it may have passed a session that ended since.
 */
static void on_look_after(struct loop_timer *timer)
{
	struct retirement *retirement = container_of(timer, struct retirement, look_after);
	const struct session_host *host = retirement->host;
	const struct rescue_spec spec = { .loop = host->loop,
					  .home = host->home,
					  .helper = host->files_helper,
					  .root = host->settings->keep,
					  .quota_bytes = host->settings->limits.keep_max,
					  .total_bytes = host->settings->keep_total,
					  .killed = on_killed };

	if (retirement->rescue != NULL)
		retirement_look_after(retirement);
	else
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
	for (size_t i = 0; i < retirement->stale_count; i++)
		free(retirement->stale[i]);
	free(retirement->stale);
	free(retirement);
}
