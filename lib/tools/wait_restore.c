/* SPDX-License-Identifier: MIT */
/* wait_restore.c - progress, cancellation and the answer of a replay. */
#include "tools/wait_restore.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "json/make.h"
#include "mcp/server.h"
#include "session/restore.h"
#include "session/session.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "tools/wait_cell.h"

struct wait_restore {
	struct mcp_call *call;
	struct service *service;
	struct session *session;
	struct restore_call *waiting;
	struct loop_timer progress;
	struct loop_timer wait;
};

static void waiter_free(struct wait_restore *waiter)
{
	loop_timer_stop(&waiter->progress);
	loop_timer_stop(&waiter->wait);
	free(waiter);
}

/* ---- answers ---- */

static void answer(struct mcp_call *call, const struct service *service, struct session *session,
		   const char *state, const char *text)
{
	cleanup_free char *notice = session_take_notice(session);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	bool failed = str_eq(state, "error");
	json_t *content = json_array();

	buf_putf(&out, "%s%s%s", notice != NULL ? notice : "", notice != NULL ? "\n" : "", text);
	if (service->settings->results == RESULTS_JSON) {
		json_t *object = json_object();

		json_put_str(object, "session_id", session_id(session));
		json_put_str(object, "status", state);
		json_put_str(object, failed ? "error" : "output", buf_str(&out));
		json_decref(content);
		tool_answer(call, service, object);
		return;
	}
	json_append(content, mcp_text(out.data, out.len));
	mcp_call_finish(call, content, NULL, NULL, failed);
}

static void on_over(void *data, const char *text, bool failed)
{
	struct wait_restore *waiter = data;

	answer(waiter->call, waiter->service, waiter->session, failed ? "error" : "success", text);
	waiter_free(waiter);
}

/* Appends "2 of 7 cells are done, cell 4 runs". */
static void describe(const struct session *session, struct buf *out)
{
	const struct restore_status status = session_restore_status(session);

	if (status.values) {
		buf_puts(out, "the variables are being read");
		return;
	}
	buf_putf(out, "%zu of %zu %s done", status.done, status.total,
		 status.done == 1 && status.total == 1 ? "cell is" : "cells are");
	if (status.cell > 0)
		buf_putf(out, ", cell %" PRIu64 " has run for %.1f s", status.cell,
			 (double)status.ms / 1000);
	else if (status.putting_back)
		buf_puts(out, ", the files are being put back");
}

static void on_wait_over(struct loop_timer *timer)
{
	struct wait_restore *waiter = container_of(timer, struct wait_restore, wait);
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	const struct restore_status status = session_restore_status(waiter->session);

	session_restore_forget(waiter->waiting);
	if (status.values) {
		buf_puts(&text, "The variables are still being brought back");
	} else {
		buf_puts(&text, "The cells are still being run again: ");
		describe(waiter->session, &text);
	}
	buf_putf(&text,
		 ". Wait for the end with interact {\"session_id\":\"%s\",\"action\":"
		 "\"%s\"}, or stop it (action interrupt).",
		 session_id(waiter->session), status.values ? "restore_values" : "restore_run");
	answer(waiter->call, waiter->service, waiter->session, "running", buf_str(&text));
	waiter_free(waiter);
}

static void on_cancel(struct mcp_call *call, void *data)
{
	struct wait_restore *waiter = data;

	session_restore_forget(waiter->waiting);
	if (!mcp_call_is_deserted(call))
		session_restore_stop(waiter->session, RUNNER_STOP_INTERRUPT);
	mcp_call_fail(call, "cancelled");
	waiter_free(waiter);
}

/* ---- waiting ---- */

static void on_progress(struct loop_timer *timer)
{
	struct wait_restore *waiter = container_of(timer, struct wait_restore, progress);
	const struct restore_status status = session_restore_status(waiter->session);
	struct loop *loop = waiter->service->loop;
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	describe(waiter->session, &text);
	mcp_call_progress(waiter->call, (double)status.done, (double)status.total, buf_str(&text));
	loop_timer_start(loop, timer, loop_now(loop) + WAIT_CELL_PROGRESS_MS, on_progress);
}

void wait_restore_start(struct mcp_call *call, struct service *service, struct session *session,
			uint64_t wait_ms)
{
	struct wait_restore *waiter = xcalloc(1, sizeof(*waiter));
	struct loop *loop = service->loop;

	waiter->call = call;
	waiter->service = service;
	waiter->session = session;
	waiter->waiting = session_restore_wait(session, on_over, waiter);
	mcp_call_on_cancel(call, on_cancel, waiter);
	loop_timer_start(loop, &waiter->progress, loop_now(loop) + WAIT_CELL_PROGRESS_MS,
			 on_progress);
	loop_timer_start(loop, &waiter->wait, loop_now(loop) + wait_ms, on_wait_over);
}

void wait_restore_begin(struct mcp_call *call, struct service *service, struct session *session,
			restore_begin_fn *begin, uint64_t wait_ms)
{
	bool failed = false;
	cleanup_free char *report =
		session_restoring(session) ? NULL : session_restore_take_report(session, &failed);
	struct err err;

	if (report != NULL) {
		answer(call, service, session, failed ? "error" : "success", report);
		return;
	}
	if (begin(session, &err) < 0)
		tool_fail(call, service, &err);
	else
		wait_restore_start(call, service, session, wait_ms);
}
