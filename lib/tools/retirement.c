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
#include "workspace/lookout.h"
#include "workspace/rescue.h"
#include "workspace/workspace.h"

struct retirement {
	const struct session_host *host;
	size_t pending; /* folders and last looks */
	struct list closing;
	void (*idle)(void *data);
	void *idle_data;
};

struct retired {
	struct list node;
	struct retirement *retirement;
	char *name;
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

	if (lookout != NULL) {
		retirement->pending++;
		lookout_last(lookout, on_last_look, retirement);
	}
	remove_folder(retirement, retired->name);
	retired_free(retired);
}

void retirement_add(struct retirement *retirement, struct sandbox *sandbox_own, const char *name,
		    struct lookout *lookout_own)
{
	struct retired *retired;

	retirement->pending++;
	if (sandbox_own == NULL) {
		lookout_free(lookout_own); /* no code ran */
		remove_folder(retirement, name);
		return;
	}
	retired = xcalloc(1, sizeof(*retired));
	list_init(&retired->node);
	list_append(&retirement->closing, &retired->node);
	retired->retirement = retirement;
	retired->name = xstrdup(name);
	retired->lookout = lookout_own;
	sandbox_close(sandbox_own, on_sandbox_closed, retired);
}

static void on_rescued(void *data, const char *name)
{
	remove_folder(data, name);
}

static void on_killed(void *data, const struct rescue_killed *killed)
{
	const struct retirement *retirement = data;

	killed_audit(retirement->host->settings, killed);
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

	while ((name = home_take_stale(host->home, false)) != NULL) {
		found = true;
		log_info("service", "removing what an earlier server left: '%s'", name);
		retirement->pending++;
		spec.name = name;
		rescue_start(&spec, on_rescued, retirement);
		free(name);
	}
	return found;
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

		remove_folder(retirement, retired->name);
		retired_free(retired);
	}
	free(retirement);
}
