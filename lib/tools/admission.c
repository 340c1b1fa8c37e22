/* SPDX-License-Identifier: MIT */
#include "tools/admission.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "tools/service.h"

struct admission {
	struct loop *loop;
	struct loop_defer next;
	struct loop_timer patience;
	const struct mcp_tool *tools; /* as they were */
	size_t tool_count;
	struct mcp_tool *gated;
	const struct admission_hooks *hooks;
	struct service *context; /* of the features */
	struct list held;        /* in order */
};

struct held {
	struct list node;
	struct admission *gate;
	struct mcp_call *call;
	json_t *arguments;
};

static void held_free(struct held *held)
{
	list_remove(&held->node);
	json_decref(held->arguments);
	free(held);
}

static void on_cancel(struct mcp_call *call, void *data)
{
	held_free(data);
	mcp_call_fail(call, "cancelled");
}

static void pass(const struct admission *gate, struct mcp_call *call, json_t *arguments)
{
	gate->hooks->called(gate->context, call);
	for (size_t i = 0; i < gate->tool_count; i++)
		if (str_eq(gate->tools[i].name, mcp_call_target(call))) {
			gate->tools[i].call(call, arguments, gate->context);
			return;
		}
	mcp_call_fail(call, "there is no such tool");
}

/* One a turn, as if they had come one after the other. */
static void on_next(struct loop_defer *defer)
{
	struct admission *gate = container_of(defer, struct admission, next);
	struct held *held;
	struct mcp_call *call;
	json_t *arguments;

	if (list_empty(&gate->held))
		return;
	held = list_entry(gate->held.next, struct held, node);
	call = held->call;
	arguments = json_incref(held->arguments);
	held_free(held);
	mcp_call_on_cancel(call, NULL, NULL);
	pass(gate, call, arguments);
	json_decref(arguments);
	/* After what the call itself put off. */
	if (!list_empty(&gate->held))
		loop_defer_start(gate->loop, defer, on_next);
}

void admission_release(struct admission *gate)
{
	loop_timer_stop(&gate->patience);
	if (!list_empty(&gate->held))
		loop_defer_start(gate->loop, &gate->next, on_next);
}

static void on_settled(void *data)
{
	struct admission *gate = data;

	gate->hooks->settled(gate->context);
	admission_release(gate);
}

static void on_patience(struct loop_timer *timer)
{
	log_debug("gate", "what code waited for did not come in time");
	admission_release(container_of(timer, struct admission, patience));
}

static void hold(struct admission *gate, struct mcp_call *call, json_t *arguments)
{
	struct held *held = xcalloc(1, sizeof(*held));

	list_init(&held->node);
	held->gate = gate;
	held->call = call;
	held->arguments = json_incref(arguments);
	list_append(&gate->held, &held->node);
	mcp_call_on_cancel(call, on_cancel, held);
}

static bool is_code(const struct mcp_call *call)
{
	return str_eq(mcp_call_target(call), "exec_code");
}

/* Only a call that names a session needs one; none overtakes a call that is held. */
static void gate_call(struct mcp_call *call, json_t *arguments, void *context)
{
	struct service *service = context;
	struct admission *gate = service_gate(service);
	bool waits = !list_empty(&gate->held);
	bool wants = json_object_get(arguments, "session_id") != NULL;
	struct confinement *confinement = wants ? gate->hooks->confinement(service) : NULL;
	bool settled = confinement == NULL || confinement_settled(confinement);
	uint64_t wait_ms =
		settled && !waits && is_code(call) ? gate->hooks->wait_ms(service, arguments) : 0;

	if (settled && !waits && wait_ms == 0) {
		pass(gate, call, arguments);
		return;
	}
	hold(gate, call, arguments);
	if (waits)
		return;
	if (settled) {
		log_debug("gate", "code waits, %u ms at most", (unsigned int)wait_ms);
		loop_timer_start(gate->loop, &gate->patience, loop_now(gate->loop) + wait_ms,
				 on_patience);
		return;
	}
	confinement_settle(confinement, on_settled, gate);
	if (is_code(call))
		gate->hooks->code_waits(service, arguments);
}

struct admission *admission_new(struct loop *loop, struct mcp_features *features,
				const struct admission_hooks *hooks)
{
	struct admission *gate = xcalloc(1, sizeof(*gate));
	size_t size = features->tool_count * sizeof(*gate->gated);

	gate->loop = loop;
	gate->tools = features->tools;
	gate->tool_count = features->tool_count;
	gate->gated = xcalloc(features->tool_count, sizeof(*gate->gated));
	memcpy(gate->gated, features->tools, size);
	for (size_t i = 0; i < gate->tool_count; i++)
		gate->gated[i].call = gate_call;
	gate->hooks = hooks;
	gate->context = features->context;
	list_init(&gate->held);
	features->tools = gate->gated;
	return gate;
}

void admission_free(struct admission *gate)
{
	if (gate == NULL)
		return;
	assert(list_empty(&gate->held));
	loop_defer_stop(&gate->next);
	loop_timer_stop(&gate->patience);
	free(gate->gated);
	free(gate);
}
