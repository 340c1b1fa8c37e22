/* SPDX-License-Identifier: MIT */
/*
 * wait_install.c - gives an installation to the broker and waits for it with a timer.
 *
 * Three events end the waiting: the installation, the timer and the client's cancellation. The
 * timer takes the call's interest back from the broker, which continues without it; the
 * cancellation ends the installation, unless the client has gone and another may follow.
 */
#include "tools/wait_install.h"

#include <stdlib.h>

#include "base/mem.h"
#include "session/session.h"
#include "tools/service.h"

struct waiting {
	struct wait_install shown;
	char *session_id;
	json_t *arguments;
	void *data;
	struct install *install;
	struct loop_timer timeout;
	struct loop_timer progress;
	uint64_t since_ms;
	wait_install_done_fn *done;
	wait_install_late_fn *late;
};

static void waiting_free(struct waiting *w)
{
	loop_timer_stop(&w->timeout);
	loop_timer_stop(&w->progress);
	json_decref(w->arguments);
	free(w->session_id);
	free(w->data);
	free(w);
}

static void on_install_done(void *data, const json_t *result, const char *problem)
{
	struct waiting *w = data;

	w->done(&w->shown, result, problem);
	waiting_free(w);
}

static void on_install_timeout(struct loop_timer *timer)
{
	struct waiting *w = container_of(timer, struct waiting, timeout);

	broker_forget(w->install);
	w->late(&w->shown);
	waiting_free(w);
}

static void on_progress_timer(struct loop_timer *timer);

static void schedule_progress(struct waiting *w)
{
	struct loop *loop = w->shown.service->loop;

	loop_timer_start(loop, &w->progress, loop_now(loop) + WAIT_INSTALL_PROGRESS_MS,
			 on_progress_timer);
}

static void on_progress_timer(struct loop_timer *timer)
{
	struct waiting *w = container_of(timer, struct waiting, progress);
	uint64_t ms = loop_now(w->shown.service->loop) - w->since_ms;
	cleanup_free char *message = broker_progress(w->install);

	mcp_call_progress(w->shown.call, (double)ms / 1000, -1, message);
	schedule_progress(w);
}

static void on_install_cancel(struct mcp_call *call, void *data)
{
	struct waiting *w = data;

	if (mcp_call_is_deserted(call))
		broker_forget(w->install);
	else
		broker_cancel(w->install);
	mcp_call_fail(call, "cancelled");
	waiting_free(w);
}

static struct waiting *waiting_new(const struct wait_install_request *request)
{
	struct waiting *w = xcalloc(1, sizeof(*w));

	w->session_id = xstrdup(session_id(request->session));
	w->arguments = json_incref(request->arguments);
	w->done = request->done;
	w->late = request->late;
	if (request->data != NULL)
		w->data = xmemdup(request->data, request->data_size);
	w->shown = (struct wait_install){ .call = request->call,
					  .service = request->service,
					  .session_id = w->session_id,
					  .language = request->language,
					  .data = w->data };
	return w;
}

int wait_install_start(const struct wait_install_request *request, struct err *err)
{
	const struct service *service = request->service;
	uint64_t budget_ms = service->settings->call_budget * 1000;
	uint64_t wait_ms = request->wait_ms > 0 ? request->wait_ms : budget_ms;
	struct broker *broker = service_broker(request->service, err);
	const struct install_request wish = { .language = request->language,
					      .packages = request->packages };
	struct waiting *w;

	if (broker == NULL)
		return -1;
	w = waiting_new(request);
	w->install = broker_install(broker, request->session, &wish, on_install_done, w, err);
	if (w->install == NULL) {
		waiting_free(w);
		return -1;
	}
	session_touch(request->session);
	mcp_call_on_cancel(request->call, on_install_cancel, w);
	loop_timer_start(service->loop, &w->timeout, loop_now(service->loop) + wait_ms,
			 on_install_timeout);
	w->since_ms = loop_now(service->loop);
	schedule_progress(w);
	return 0;
}
