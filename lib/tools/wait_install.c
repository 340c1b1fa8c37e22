/* SPDX-License-Identifier: MIT */
#include "tools/wait_install.h"

#include <stdlib.h>

#include "base/mem.h"
#include "session/session.h"
#include "tools/service.h"

struct wait_install_call {
	struct mcp_call *call;
	struct service *service;
	char *session_id;
	const struct language *language;
	json_t *arguments;
	struct install *install;
	struct loop_timer patience;
	install_done_fn *done;
	void (*late)(struct wait_install_call *waiting);
};

static void free_call(struct wait_install_call *w)
{
	loop_timer_stop(&w->patience);
	json_decref(w->arguments);
	free(w->session_id);
	free(w);
}

static void on_done(void *data, const json_t *result, const char *problem)
{
	struct wait_install_call *w = data;

	w->done(w, result, problem);
	free_call(w);
}

static void on_late(struct loop_timer *timer)
{
	struct wait_install_call *w = container_of(timer, struct wait_install_call, patience);

	broker_forget(w->install);
	w->late(w);
	free_call(w);
}

static void on_cancel(struct mcp_call *call, void *data)
{
	struct wait_install_call *w = data;

	broker_forget(w->install);
	mcp_call_fail(call, "cancelled");
	free_call(w);
}

int wait_install_start(const struct wait_install_request *request, struct err *err)
{
	struct loop *loop = service_loop(request->service);
	uint64_t wait_ms = request->wait_ms > 0
				   ? request->wait_ms
				   : service_settings(request->service)->call_budget * 1000;
	struct broker *broker = service_broker(request->service, err);
	const struct install_wish wish = { request->language, request->packages };
	struct wait_install_call *w;

	if (broker == NULL)
		return -1;
	w = xcalloc(1, sizeof(*w));
	w->install = broker_install(broker, request->session, &wish, on_done, w, err);
	if (w->install == NULL) {
		free(w);
		return -1;
	}
	session_touch(request->session);
	w->call = request->call;
	w->service = request->service;
	w->session_id = xstrdup(session_id(request->session));
	w->language = request->language;
	w->arguments = json_incref(request->arguments);
	w->done = request->done;
	w->late = request->late;
	mcp_call_on_cancel(request->call, on_cancel, w);
	loop_timer_start(loop, &w->patience, loop_now(loop) + wait_ms, on_late);
	return 0;
}

struct mcp_call *wait_install_call(const struct wait_install_call *w)
{
	return w->call;
}

struct service *wait_install_service(const struct wait_install_call *w)
{
	return w->service;
}

json_t *wait_install_arguments(const struct wait_install_call *w)
{
	return w->arguments;
}

const char *wait_install_session_id(const struct wait_install_call *w)
{
	return w->session_id;
}

const struct language *wait_install_language(const struct wait_install_call *w)
{
	return w->language;
}
