/* SPDX-License-Identifier: MIT */
/* session_ask.c - input that somebody else than the model may give. */
#include <stdlib.h>

#include "config/settings.h"
#include "session/session_internal.h"
#include "text/prompt.h"

struct session *session_of_call(const struct call *call)
{
	return call->lane->session;
}

void session_call_on_wait(struct call *call, call_ask_fn *ask)
{
	call->ask = ask;
}

/* Secrets are for nobody to ask for, a debugger is driven by who wrote the code, and without a
 * prompt there is nothing to ask. */
static bool may_ask(const struct session *s, const struct exec *exec,
		    const struct runner_wait *wait)
{
	return wait->kind == WAIT_SURE && !wait->secret && wait->who != WAITER_DEBUGGER &&
	       wait->prompt[0] != '\0' && !prompt_asks_for_secret(wait->prompt) &&
	       exec->asks < SESSION_ASKS_MAX && s->asks < s->host->settings->elicit_max &&
	       exec->asked_wait != wait->number;
}

bool session_call_ask(struct call *call, struct exec *exec)
{
	struct session *s = call->lane->session;
	struct runner *runner = call->lane->runner;
	const struct runner_wait *wait = runner_wait(runner);
	const struct wait_name name = { .language = runner_language(runner),
					.generation = s->generation,
					.cell = exec->number,
					.number = wait->number };

	if (call->ask == NULL || !may_ask(s, exec, wait))
		return false;
	exec->asks++;
	s->asks++;
	exec->asked_wait = wait->number;
	call->asking = true;
	if (call->ask(call, wait, &name, call->data))
		return true; /* it may be gone */
	call->asking = false;
	exec->asks--;
	s->asks--;
	return false;
}

static void withdraw(struct call *call)
{
	if (!call->asking)
		return;
	call->asking = false;
	(void)call->ask(call, NULL, NULL, call->data);
}

void session_on_resumed(struct runner *runner)
{
	struct lane *lane = session_lane_of(runner_owner(runner), runner);
	struct exec *exec = runner_current(runner);

	session_tell_state(lane->session);
	if (exec != NULL && exec->call != NULL)
		withdraw(exec->call);
	for (struct list *node = lane->lookers.next; node != &lane->lookers; node = node->next)
		withdraw(list_entry(node, struct call, node));
}

/* The cell that waits, or waited, so; NULL when it is over. */
static struct exec *exec_of_wait(const struct lane *lane, const struct wait_name *wait)
{
	struct exec *exec = runner_current(lane->runner);

	return exec != NULL && wait->generation == lane->session->generation &&
			       wait->cell == exec->number
		       ? exec
		       : NULL;
}

bool session_answer_wait(struct lane *lane, const struct wait_name *wait, const char *line,
			 size_t len)
{
	return exec_of_wait(lane, wait) != NULL &&
	       runner_answer(lane->runner, wait->number, line, len);
}

void session_may_ask_again(struct call *call, const struct wait_name *wait)
{
	struct exec *exec = exec_of_wait(call->lane, wait);

	if (exec == NULL || exec->asked_wait != wait->number)
		return;
	exec->asked_wait = 0;
	call->again = true;
}

bool session_call_ask_again(struct call *call)
{
	const struct runner *runner = call->lane->runner;
	bool again = call->again;

	call->again = false;
	return again && runner_current(runner) != NULL && runner_wait(runner) != NULL &&
	       session_call_ask(call, runner_current(runner));
}

void session_call_answer(struct call *call, const struct wait_name *wait, const char *line,
			 size_t len)
{
	call->asking = false;
	if (!session_answer_wait(call->lane, wait, line, len))
		session_call_unanswered(call, "the user's answer came too late for it");
}

void session_call_unanswered(struct call *call, const char *why)
{
	call->asking = false;
	call->note = why;
	session_call_wait(call, 0);
}
