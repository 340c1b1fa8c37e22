/* SPDX-License-Identifier: MIT */
/*
 * session_uploads.c - starts uploads of results, and holds executions and listings that wait for
 * links. The wait is bounded: later links come with the next answer.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "session/session_internal.h"
#include "transfer/uploads.h"
#include "workspace/beside.h"

enum {
	LINK_WAIT_MS = 5000,    /* for an answer; later links come with the next one */
	DRAIN_WAIT_MS = 7200000 /* for a caller that waits for the end of its cell, however long
				   that takes */
};

static void start_link_wait(struct session *s);

/* Ends the executions that wait for nothing any more, and continues to wait for the others. */
static void finish_linked(struct session *s)
{
	uint64_t now = loop_now(s->host->loop);
	struct execution *exec = session_exec_in_state(s, EXEC_LINKING, NULL);
	struct execution *next;

	for (; exec != NULL; exec = next) {
		next = session_exec_in_state(s, EXEC_LINKING, exec);
		if (exec->upload_until <= now || !uploads_pending(s->uploads, exec->upload))
			session_exec_over(exec);
	}
	start_link_wait(s);
}

static void on_link_wait(struct loop_timer *timer)
{
	finish_linked(container_of(timer, struct session, link_wait));
}

/* All wait equally long from their scan, so the first one has the earliest end. */
static void start_link_wait(struct session *s)
{
	const struct execution *first = session_exec_in_state(s, EXEC_LINKING, NULL);

	loop_timer_stop(&s->link_wait);
	if (first != NULL)
		loop_timer_start(s->host->loop, &s->link_wait, first->upload_until, on_link_wait);
}

static void on_uploads_changed(struct uploads *uploads, void *data)
{
	struct session *s = data;

	if (loop_timer_active(&s->renewal) && !uploads_renewing(uploads)) {
		loop_timer_stop(&s->renewal);
		session_scan_soon(s);
	}
	finish_linked(s);
}

/* ---- links that expired ---- */

static void on_renewal_late(struct loop_timer *timer)
{
	session_scan_soon(container_of(timer, struct session, renewal));
}

void session_uploads_renew(struct session *s)
{
	if (s->uploads == NULL || !uploads_renew(s->uploads) || loop_timer_active(&s->renewal))
		return;
	loop_timer_start(s->host->loop, &s->renewal, loop_now(s->host->loop) + LINK_WAIT_MS,
			 on_renewal_late);
}

bool session_uploads_hold(const struct session *s)
{
	return loop_timer_active(&s->renewal);
}

/* ---- life ---- */

void session_uploads_limit(struct session *s)
{
	const struct uploads_limits limits = {
		.bytes_max = s->limits.keep_max,
		.files_max = UPLOADS_FILES_MAX,
		.link_hours = s->limits.link_hours,
	};

	if (s->uploads != NULL)
		uploads_set_limits(s->uploads, &limits);
}

void session_uploads_new(struct session *s)
{
	const struct settings *settings = s->host->settings;
	const struct uploads_spec spec = {
		.loop = s->host->loop,
		.workspace = s->workspace,
		.helper = s->host->fetch_helper,
		.all = s->host->uploads,
		.target = &settings->storage,
		.environment = settings->environment,
		.session_id = s->id,
		.changed = on_uploads_changed,
		.data = s,
		.report = s->host->uploaded,
		.report_data = s->host->owner,
	};

	if (settings->storage.kind == STORAGE_NONE)
		return;
	s->uploads = uploads_new(&spec);
	session_uploads_limit(s);
}

void session_upload(struct execution *exec)
{
	struct session *s = exec->lang->session;
	const struct cell *cell = exec->cell;
	struct uploads_file *files;
	size_t count = 0;

	if (s->uploads == NULL)
		return;
	uploads_retry(s->uploads);
	if (cell->change_count == 0)
		return;
	files = xcalloc(cell->change_count, sizeof(*files));
	for (size_t i = 0; i < cell->change_count; i++)
		if (beside_is_result(&cell->changes[i]))
			files[count++] = (struct uploads_file){
				.path = cell->changes[i].file.path,
				.size = cell->changes[i].file.size,
			};
	if (count > 0) {
		exec->upload = uploads_put(s->uploads, files, count);
		exec->upload_until = loop_now(s->host->loop) +
				     (s->host->settings->drain ? DRAIN_WAIT_MS : LINK_WAIT_MS);
	}
	free(files);
}

void session_exec_kept(struct execution *exec)
{
	struct session *s = exec->lang->session;

	if (session_inspection_wait(exec))
		return;
	if (s->uploads != NULL)
		(void)uploads_renew(s->uploads); /* for the next answer */
	if (exec->upload == 0 || !uploads_pending(s->uploads, exec->upload) ||
	    exec->upload_until <= loop_now(s->host->loop)) {
		session_exec_over(exec);
		return;
	}
	session_exec_set_state(exec, EXEC_LINKING);
	start_link_wait(s);
}
