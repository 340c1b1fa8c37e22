/* SPDX-License-Identifier: MIT */
#include "tools/installs.h"

#include <stdlib.h>

#include "base/mem.h"
#include "session/session.h"
#include "tools/service.h"

struct installs_call {
	struct mcp_call *call;
	struct service *service;
	char *session_id;
	const struct language *language;
	json_t *arguments;
	struct install *install;
	struct loop_timer patience;
	install_done_fn *done;
	void (*late)(struct installs_call *waiting);
};

static void free_call(struct installs_call *w)
{
	loop_timer_stop(&w->patience);
	json_decref(w->arguments);
	free(w->session_id);
	free(w);
}

static void on_done(void *data, const json_t *result, const char *problem)
{
	struct installs_call *w = data;

	w->done(w, result, problem);
	free_call(w);
}

static void on_late(struct loop_timer *timer)
{
	struct installs_call *w = container_of(timer, struct installs_call, patience);

	broker_forget(w->install);
	w->late(w);
	free_call(w);
}

static void on_cancel(struct mcp_call *call, void *data)
{
	struct installs_call *w = data;

	broker_forget(w->install);
	mcp_call_fail(call, "cancelled");
	free_call(w);
}

int installs_start(const struct installs_request *request, struct err *err)
{
	struct loop *loop = service_loop(request->service);
	uint64_t wait_ms = request->wait_ms > 0
				   ? request->wait_ms
				   : service_settings(request->service)->call_budget * 1000;
	struct broker *broker = service_broker(request->service, err);
	const struct install_wish wish = { request->language, request->packages };
	struct installs_call *w;

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

struct mcp_call *installs_call(const struct installs_call *w)
{
	return w->call;
}

struct service *installs_service(const struct installs_call *w)
{
	return w->service;
}

json_t *installs_arguments(const struct installs_call *w)
{
	return w->arguments;
}

const char *installs_session_id(const struct installs_call *w)
{
	return w->session_id;
}

const struct language *installs_language(const struct installs_call *w)
{
	return w->language;
}
