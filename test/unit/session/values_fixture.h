/* SPDX-License-Identifier: MIT */
/* values_fixture.h - sessions whose interpreter saves variables. Include after cmocka.h. */
#ifndef TEST_VALUES_FIXTURE_H
#define TEST_VALUES_FIXTURE_H

#include "resume_fixture.h"
#include "runner/runner_internal.h"
#include "session/session_values.h"

#define SAVES "save=saved=x, y\\n\\nlock (no)\\nk\\nf\ndone"
#define HANGS "save=saves-raw=\ndone"

FIXTURE_FN int set_up_saving(void **state)
{
	(void)set_up(state);
	fixture.settings.resume_variables = 1 << 20;
	/* A test passes minutes at once, and its session must not be idle for too long then. */
	fixture.settings.limits.idle_timeout = fixture.settings.limits.session_ttl;
	return 0;
}

FIXTURE_FN struct runner *runner_of(struct session *session)
{
	return session->languages[0].runner;
}

FIXTURE_FN uint64_t saved_cell(struct session *session)
{
	return session_values_saved(session).cell;
}

#endif
