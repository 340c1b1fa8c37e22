/* SPDX-License-Identifier: MIT */
/*
 * session_inspection.c - has writable shares inspected for git repositories that code makes, whose
 * hooks would run as the user. An execution is over only when an inspection that began after its
 * code ended is done.
 */
#include "confinement/confinement.h"
#include "confinement/shares.h"
#include "sandbox/policy.h"
#include "session/session_internal.h"
#include "workspace/inspector.h"
#include "workspace/unreported.h"

static bool is_inspected(const struct execution *exec)
{
	const struct session *s = exec->lang->session;

	return s->inspector == NULL || inspector_has_ended(s->inspector, exec->inspection);
}

static void on_inspector_done(void *data)
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

static void on_inspector_notice(void *data, const char *text)
{
	struct session *s = data;

	notices_add_sure(&s->notices, text);
}

void session_inspection_new(struct session *s)
{
	const struct shares *shares = confinement_facts(s->host->confinement).shares;
	const char *paths[POLICY_SHARES_MAX];
	int fds[POLICY_SHARES_MAX];
	struct inspector_spec spec = { .loop = s->host->loop,
				       .home = s->host->home,
				       .helper = s->host->files_helper,
				       .paths = paths,
				       .fds = fds,
				       .who = s->id,
				       .notice = on_inspector_notice,
				       .inspected = on_inspector_done,
				       .data = s };

	if (!confinement_facts(s->host->confinement).protects_shares)
		return;
	for (size_t i = 0; i < shares_count(shares) && spec.count < POLICY_SHARES_MAX; i++) {
		if (!shares_at(shares, i)->writable)
			continue;
		paths[spec.count] = shares_at(shares, i)->path;
		fds[spec.count++] = shares_fd(shares, i);
	}
	s->inspector = inspector_new(&spec);
}

void session_inspection_note_run(const struct session *s)
{
	if (s->inspector != NULL)
		inspector_note_run(s->inspector);
}

char *session_inspection_take(struct session *s)
{
	bool due = s->unreported_due;

	if (s->inspector != NULL)
		inspector_note_answer(s->inspector);
	s->unreported_due = false;
	return due ? unreported_take(s->host->home) : NULL;
}

void session_expect_unreported(struct session *s)
{
	s->unreported_due = true;
}

void session_inspection_request(struct session *s)
{
	if (s->inspector != NULL)
		(void)inspector_request(s->inspector);
}

struct inspector *session_inspection_end(struct session *s)
{
	inspector_quiet(s->inspector);
	return s->inspector;
}

/* An ending session stops such a look, and what it has to report with it. The last look follows.
 */
void session_inspection_follow(struct execution *exec)
{
	struct session *s = exec->lang->session;

	if (s->inspector != NULL && s->quit.why == NULL)
		exec->inspection = inspector_request(s->inspector);
}

bool session_inspection_wait(struct execution *exec)
{
	if (is_inspected(exec))
		return false;
	session_exec_set_state(exec, EXEC_INSPECTING);
	return true;
}
