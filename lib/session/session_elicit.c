/* SPDX-License-Identifier: MIT */
/*
 * session_elicit.c - asks the user for input that a cell waits for, where the client can do that. A
 * question belongs to one wait, by its number: when the wait ends in another way, the question is
 * withdrawn, and a late answer is not typed to a later wait.
 */
#include <stdlib.h>

#include "session/session_internal.h"
#include "text/prompt.h"

struct session *session_of_call(const struct call *call)
{
	return call->lang->session;
}

void session_call_on_wait(struct call *call, call_ask_fn *ask)
{
	call->ask = ask;
}

/*
 * The user is not asked for secrets, nor on behalf of a debugger, which the code's author drives.
 * Without a prompt there is nothing to ask.
 */
static bool may_ask(const struct session *s, const struct execution *exec,
		    const struct runner_wait *wait)
{
	return wait->kind == WAIT_SURE && !wait->secret && wait->who != WAITER_DEBUGGER &&
	       wait->prompt[0] != '\0' && !prompt_asks_for_secret(wait->prompt) &&
	       exec->asks < SESSION_ASKS_MAX && s->asks < SESSION_ELICITS_MAX &&
	       exec->asked_wait != wait->number;
}

bool session_call_ask(struct call *call, struct execution *exec)
{
	struct session *s = call->lang->session;
	struct runner *runner = call->lang->runner;
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
		return true; /* the call may be gone */
	call->asking = false;
	exec->asks--;
	s->asks--;
	return false;
}

static void withdraw_question(struct call *call)
{
	if (!call->asking)
		return;
	call->asking = false;
	(void)call->ask(call, NULL, NULL, call->data);
}

void session_on_resumed(struct runner *runner)
{
	struct session_language *lang = session_language_of(runner_owner(runner), runner);
	struct execution *exec = runner_current(runner);

	session_report_state(lang->session);
	if (exec != NULL && exec->call != NULL)
		withdraw_question(exec->call);
	list_for_each (struct call, call, &lang->observers, node)
		withdraw_question(call);
}

/* Returns the running cell if this wait is one of its waits; else NULL. */
static struct execution *find_waiting_exec(const struct session_language *lang,
					   const struct wait_name *wait)
{
	struct execution *exec = runner_current(lang->runner);

	return exec != NULL && wait->generation == lang->session->generation &&
			       wait->cell == exec->number
		       ? exec
		       : NULL;
}

bool session_answer_wait(struct session_language *lang, const struct wait_name *wait,
			 const char *line, size_t len)
{
	return find_waiting_exec(lang, wait) != NULL &&
	       runner_answer(lang->runner, wait->number, line, len);
}

void session_may_ask_again(struct call *call, const struct wait_name *wait)
{
	struct execution *exec = find_waiting_exec(call->lang, wait);

	if (exec == NULL || exec->asked_wait != wait->number)
		return;
	exec->asked_wait = 0;
	call->again = true;
}

bool session_call_ask_again(struct call *call)
{
	const struct runner *runner = call->lang->runner;
	bool again = call->again;

	call->again = false;
	return again && runner_current(runner) != NULL && runner_wait(runner) != NULL &&
	       session_call_ask(call, runner_current(runner));
}

void session_call_answer(struct call *call, const struct wait_name *wait, const char *line,
			 size_t len)
{
	call->asking = false;
	if (!session_answer_wait(call->lang, wait, line, len))
		session_call_unanswered(call, "the user's answer came too late for it");
}

void session_call_unanswered(struct call *call, const char *why)
{
	call->asking = false;
	call->note = why;
	session_call_wait(call, 0);
}
