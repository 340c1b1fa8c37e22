/* SPDX-License-Identifier: MIT */
/*
 * admission.c - a queue before the tools, as rows of mcp_features that call it.
 *
 * Calls run in the order in which they came, even if they need no session. Queued calls run one a
 * turn of the loop, each after the callbacks that the call before it deferred. There is one
 * exception: a call whose session another server has waits in the queue, and only later calls of
 * that session wait behind it.
 */
#include "tools/admission.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "answer/audit_log.h"
#include "answer/history.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "tools/admission_policy.h"
#include "tools/catalog.h"
#include "tools/forgive.h"
#include "tools/service.h"

/*
 * HELD_MS: how long a call waits for another server to give up its session. A server that ends does
 * that within one turn of its loop, as soon as it finds its input closed.
 */
enum {
	HELD_MS = 1000,
	HELD_LEAVING_MS = 10000, /* as long as a cell of such a server may run on */
	HELD_LOOK_MS = 50,
};

struct admission {
	struct service *service;
	struct loop_defer next;
	struct loop_timer timeout;
	const struct mcp_tool *tools; /* the tools themselves */
	size_t tool_count;
	struct mcp_tool *rows; /* copies of them that call the queue */
	struct list queue;
};

struct queued_call {
	struct list node;
	struct mcp_call *call;
	json_t *arguments;
	uint64_t held_until; /* 0: no other server was found to have its session */
	bool leaving;        /* that server was found to be ending */
};

static void queued_call_free(struct queued_call *queued)
{
	list_remove(&queued->node);
	json_decref(queued->arguments);
	free(queued);
}

static void on_queued_cancel(struct mcp_call *call, void *data)
{
	queued_call_free(data);
	mcp_call_fail(call, "cancelled");
}

static void call_tool(const struct admission *admission, struct mcp_call *call, json_t *arguments)
{
	struct service *service = admission->service;

	audit_log_set_client(history_audit_log(service->history), mcp_call_client_name(call),
			     mcp_call_client_version(call));
	for (size_t i = 0; i < admission->tool_count; i++)
		if (str_eq(admission->tools[i].name, mcp_call_target(call))) {
			admission->tools[i].call(call, arguments, service);
			return;
		}
	mcp_call_fail(call, "there is no such tool");
}

static void on_next(struct loop_defer *defer);

static void on_look_again(struct loop_timer *timer)
{
	struct admission *admission = container_of(timer, struct admission, timeout);

	loop_defer_start(admission->service->loop, &admission->next, on_next);
}

static void report_wanted(const struct service *service, const struct queued_call *queued)
{
	const char *id = json_string_value(json_object_get(queued->arguments, "session_id"));

	if (service->observer != NULL && service->observer->wanted != NULL && id != NULL)
		service->observer->wanted(service->observer->data, id, queued->held_until);
}

/* Returns true, and looks again soon, if another server has the session of this call. */
static bool is_held(struct admission *admission, struct queued_call *queued)
{
	struct service *service = admission->service;
	uint64_t now = loop_now(service->loop);
	bool leaving = false;

	if ((queued->held_until > 0 && now >= queued->held_until) ||
	    !admission_policy_held(service, mcp_call_target(queued->call), queued->arguments,
				   &leaving))
		return false;
	if (queued->held_until == 0 || (leaving && !queued->leaving)) {
		queued->leaving = leaving;
		queued->held_until = now + (leaving ? HELD_LEAVING_MS : HELD_MS);
		report_wanted(service, queued);
	}
	loop_timer_start(service->loop, &admission->timeout, now + HELD_LOOK_MS, on_look_again);
	return true;
}

static bool are_of_one_session(const struct queued_call *one, const struct queued_call *other)
{
	const char *id = json_string_value(json_object_get(one->arguments, "session_id"));
	const char *of = json_string_value(json_object_get(other->arguments, "session_id"));

	return id != NULL && of != NULL && str_eq(id, of);
}

/* Returns whether a call that came earlier must run before this one. */
static bool must_follow(const struct admission *admission, const struct queued_call *queued)
{
	list_for_each (struct queued_call, earlier, &admission->queue, node) {
		if (earlier == queued)
			return false;
		if (are_of_one_session(earlier, queued))
			return true;
	}
	return false;
}

/* Returns the first call that may run now. Calls of held sessions keep nothing else waiting. */
static struct queued_call *choose_call(struct admission *admission)
{
	list_for_each (struct queued_call, queued, &admission->queue, node)
		if (!must_follow(admission, queued) && !is_held(admission, queued))
			return queued;
	return NULL;
}

static void on_next(struct loop_defer *defer)
{
	struct admission *admission = container_of(defer, struct admission, next);
	struct queued_call *queued = choose_call(admission);
	struct mcp_call *call;
	json_t *arguments;

	if (queued == NULL)
		return;
	call = queued->call;
	arguments = json_incref(queued->arguments);
	queued_call_free(queued);
	mcp_call_on_cancel(call, NULL, NULL);
	call_tool(admission, call, arguments);
	json_decref(arguments);
	/* Started last, so that what the call itself deferred comes before. */
	if (!list_empty(&admission->queue))
		loop_defer_start(admission->service->loop, defer, on_next);
}

void admission_release(struct admission *admission)
{
	loop_timer_stop(&admission->timeout);
	if (!list_empty(&admission->queue))
		loop_defer_start(admission->service->loop, &admission->next, on_next);
}

static void on_settled(void *data)
{
	struct admission *admission = data;

	admission_policy_settled(admission->service);
	admission_release(admission);
}

static void on_queue_timeout(struct loop_timer *timer)
{
	log_debug("gate", "what code waited for did not come in time");
	admission_release(container_of(timer, struct admission, timeout));
}

static void enqueue(struct admission *admission, struct mcp_call *call, json_t *arguments)
{
	struct queued_call *queued = xcalloc(1, sizeof(*queued));

	list_init(&queued->node);
	queued->call = call;
	queued->arguments = json_incref(arguments);
	list_append(&admission->queue, &queued->node);
	mcp_call_on_cancel(call, on_queued_cancel, queued);
}

/* Returns whether the first call waits for another server, and so for nothing that others need. */
static bool only_holds(const struct admission *admission)
{
	return !list_empty(&admission->queue) &&
	       list_entry(admission->queue.next, struct queued_call, node)->held_until > 0;
}

static bool runs_code(const struct mcp_call *call)
{
	return str_eq(mcp_call_target(call), "exec_code");
}

/* Has the queue run after this time, or when the pool has what code waits for. */
static void wait_for_pool(struct admission *admission, uint64_t wait_ms)
{
	struct loop *loop = admission->service->loop;

	if (wait_ms == 0) {
		admission_release(admission);
		return;
	}
	log_debug("gate", "code waits, %u ms at most", (unsigned int)wait_ms);
	loop_timer_start(loop, &admission->timeout, loop_now(loop) + wait_ms, on_queue_timeout);
}

/* Runs the call or queues it. Only a call that names a session needs one. */
static void run_or_queue(struct service *service, struct mcp_call *call, json_t *arguments)
{
	struct admission *admission = service->admission;
	bool waits = !list_empty(&admission->queue);
	bool wants = json_object_get(arguments, "session_id") != NULL;
	struct confinement *confinement = wants ? service_confinement(service) : NULL;
	bool settled = confinement == NULL || confinement_settled(confinement);
	bool leaving = false;
	uint64_t wait_ms = settled && !waits && runs_code(call)
				   ? admission_policy_wait_ms(service, arguments)
				   : 0;
	bool held = settled && !waits &&
		    admission_policy_held(service, mcp_call_target(call), arguments, &leaving);

	if (settled && !waits && !held && wait_ms == 0) {
		call_tool(admission, call, arguments);
		return;
	}
	enqueue(admission, call, arguments);
	if (waits) {
		if (settled && only_holds(admission))
			loop_defer_start(service->loop, &admission->next, on_next);
		return;
	}
	if (settled) {
		wait_for_pool(admission, wait_ms);
		return;
	}
	confinement_settle(confinement, on_settled, admission);
	if (runs_code(call))
		admission_policy_prepare(service, arguments);
}

/* Is the `call` of each row. Mends the arguments before anything else reads them. */
static void admit_call(struct mcp_call *call, json_t *arguments, void *context)
{
	struct service *service = context;
	const char *tool = mcp_call_target(call);

	forgive_arguments(arguments, tool, catalog_properties(service->catalog, tool));
	run_or_queue(service, call, arguments);
}

struct admission *admission_new(struct service *service, struct mcp_features *features)
{
	struct admission *admission = xcalloc(1, sizeof(*admission));
	size_t count = features->tool_count;

	admission->service = service;
	admission->tools = features->tools;
	admission->tool_count = count;
	admission->rows = xcalloc(count, sizeof(*admission->rows));
	memcpy(admission->rows, features->tools, count * sizeof(*admission->rows));
	for (size_t i = 0; i < count; i++)
		admission->rows[i].call = admit_call;
	list_init(&admission->queue);
	features->tools = admission->rows;
	return admission;
}

void admission_free(struct admission *admission)
{
	if (admission == NULL)
		return;
	assert(list_empty(&admission->queue));
	loop_defer_stop(&admission->next);
	loop_timer_stop(&admission->timeout);
	free(admission->rows);
	free(admission);
}
