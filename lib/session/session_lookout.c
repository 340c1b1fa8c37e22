/* SPDX-License-Identifier: MIT */
/*
 * session_lookout.c - has writable shares inspected for git repositories that code makes, whose
 * hooks would run as the user. An execution is over only when an inspection that began after its
 * code ended is done.
 */
#include "confinement/confinement.h"
#include "confinement/shares.h"
#include "sandbox/policy.h"
#include "session/session_internal.h"
#include "workspace/lookout.h"

static bool is_inspected(const struct execution *exec)
{
	const struct session *s = exec->lang->session;

	return s->lookout == NULL || lookout_has_ended(s->lookout, exec->inspection);
}

static void on_lookout_done(void *data)
{
	struct session *s = data;
	struct execution *exec = session_exec_in_state(s, EXEC_INSPECTING, NULL);
	struct execution *next;

	for (; exec != NULL; exec = next) {
		next = session_exec_in_state(s, EXEC_INSPECTING, exec);
		if (is_inspected(exec))
			session_exec_kept(exec);
	}
}

static void on_lookout_notice(void *data, const char *text)
{
	session_add_notice(data, text);
}

void session_lookout_new(struct session *s)
{
	const struct shares *shares = confinement_facts(s->host->confinement).shares;
	const char *paths[POLICY_SHARES_MAX];
	int fds[POLICY_SHARES_MAX];
	struct lookout_spec spec = { .loop = s->host->loop,
				     .home = s->host->home,
				     .helper = s->host->files_helper,
				     .paths = paths,
				     .fds = fds,
				     .who = s->id,
				     .notice = on_lookout_notice,
				     .inspected = on_lookout_done,
				     .data = s };

	if (!confinement_facts(s->host->confinement).holds_names)
		return;
	for (size_t i = 0; i < shares_count(shares) && spec.count < POLICY_SHARES_MAX; i++) {
		if (!shares_at(shares, i)->writable)
			continue;
		paths[spec.count] = shares_at(shares, i)->path;
		fds[spec.count++] = shares_fd(shares, i);
	}
	s->lookout = lookout_new(&spec);
}

void session_lookout_ask(struct session *s)
{
	if (s->lookout != NULL)
		(void)lookout_ask(s->lookout);
}

struct lookout *session_lookout_end(struct session *s)
{
	lookout_quiet(s->lookout);
	return s->lookout;
}

void session_lookout_after(struct execution *exec)
{
	struct session *s = exec->lang->session;

	if (s->lookout != NULL)
		exec->inspection = lookout_ask(s->lookout);
}

bool session_lookout_wait(struct execution *exec)
{
	if (is_inspected(exec))
		return false;
	session_exec_set_state(exec, EXEC_INSPECTING);
	return true;
}
