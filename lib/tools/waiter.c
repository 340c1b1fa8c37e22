/* SPDX-License-Identifier: MIT */
#include "tools/waiter.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/server.h"
#include "session/session.h"
#include "tools/render.h"
#include "tools/service.h"
#include "tools/tool.h"

struct waiter {
	struct mcp_call *call;
	struct service *service;
	struct call *waiting;
};

struct waiter *waiter_new(struct mcp_call *call, struct service *service)
{
	struct waiter *waiter = xcalloc(1, sizeof(*waiter));

	waiter->call = call;
	waiter->service = service;
	return waiter;
}

void waiter_done(struct call *call, const struct exec_result *result, void *data)
{
	struct waiter *waiter = data;

	(void)call;
	render_finish(waiter->call, waiter->service, result);
	free(waiter);
}

static void on_cancel(struct mcp_call *call, void *data)
{
	struct waiter *waiter = data;

	session_call_cancel(waiter->waiting);
	mcp_call_fail(call, "cancelled");
	free(waiter);
}

void waiter_start(struct waiter *waiter, struct call *call, const struct err *err)
{
	if (call == NULL) {
		tool_fail(waiter->call, waiter->service, err);
		free(waiter);
		return;
	}
	waiter->waiting = call;
	mcp_call_on_cancel(waiter->call, on_cancel, waiter);
}
