/* SPDX-License-Identifier: MIT */
/*
 * session_fixture.h - a home, a launcher, a fake clock, and the language "fake". Its interpreter is
 * test/support/fake_driver.c: cells are lists of its steps.
 *
 * Include after cmocka.h.
 */
#ifndef TEST_SESSION_FIXTURE_H
#define TEST_SESSION_FIXTURE_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "patience.h"
#include "proc/launcher.h"
#include "proc/sandbox.h"
#include "rest.h"
#include "runtime/language.h"
#include "scratch.h"
#include "session/session.h"
#include "workspace/home.h"
#include "workspace/inspector.h"
#include "workspace/lasting.h"
#include "workspace/workspace.h"

#define FIXTURE_FN __attribute__((unused)) static

enum { FIXTURE_NAMES_MAX = 16 };

struct fixture {
	struct scratch scratch;
	struct loop *loop;
	struct home *home;
	struct launcher *launcher;
	struct settings settings;
	struct session_host host;
	int cells_asked;
	int cells_begun;
	int cells_shown;
	int cells_over;
	int retired; /* folders handed over */
	int lasting; /* of these, those that last */
};

static struct fixture fixture;
static uint64_t fixture_now; /* the fake clock, which stands still unless it is moved */
/* Steps of the next fake interpreter before its first cell. */
static const char *fixture_steps[FIXTURE_NAMES_MAX];

FIXTURE_FN uint64_t fixture_clock(void)
{
	return fixture_now;
}

FIXTURE_FN void fixture_boot(struct buf *out, const struct buf *compiled)
{
	(void)out;
	(void)compiled;
}

FIXTURE_FN const char *const *fixture_arguments(void)
{
	return fixture_steps;
}

static const char *const fixture_no_names[] = { NULL };
static const char *const fixture_environment[] = { "PTYCELL_FAKE=" TEST_BUILD "/test/fake_driver",
						   "PATH=/usr/bin", NULL };
static const char *const fixture_variables[] = { "FAKE=yes", NULL };

static const struct language_descriptor fixture_descriptors[] = {
	{ "control", 3, LANGUAGE_SOCKET },
	{ "values", 5, LANGUAGE_PIPE_OUT },
};

static const struct language fixture_language = {
	.name = "fake",
	.aliases = fixture_no_names,
	.env_override = "PTYCELL_FAKE",
	.commands = (const char *const[]){ "fake_driver", NULL },
	.install_hint = "build it",
	.boot = fixture_boot,
	.arguments = fixture_arguments,
	.environment = fixture_variables,
	.dump_signal = SIGUSR2,
	.wake_signal = SIGURG,
	.warms_up = true,
	.preloads = true,
	.descriptors = fixture_descriptors,
	.descriptor_count = ARRAY_SIZE(fixture_descriptors),
	.saves_variables = true,
};

FIXTURE_FN void fixture_start_with(const char *const *steps)
{
	size_t i = 0;

	for (; steps[i] != NULL; i++)
		fixture_steps[i] = steps[i];
	fixture_steps[i] = NULL;
}

#define STEPS(...) ((const char *const[]){ __VA_ARGS__, NULL })

FIXTURE_FN void fixture_retire(void *owner, struct sandbox *sandbox_own, const char *name,
			       struct inspector *inspector_own, bool lasts)
{
	(void)owner;
	fixture.lasting += lasts && lasting_release(fixture.home, name);
	inspector_free(inspector_own);
	sandbox_close(sandbox_own, NULL, NULL);
	fixture.retired++;
}

FIXTURE_FN void fixture_on_settled(void *data)
{
	*(bool *)data = true;
}

/* Settles as unconfined, because the fake interpreter is in a build folder. */
FIXTURE_FN void fixture_settle(void)
{
	bool settled = false;

	fixture.settings.unconfined = true;
	fixture.host.confinement =
		confinement_new(fixture.loop, fixture.launcher, &fixture.settings);
	confinement_settle(fixture.host.confinement, fixture_on_settled, &settled);
	while (!settled)
		loop_turn(fixture.loop, 20);
}

FIXTURE_FN void fixture_on_cell_asked(void *owner, struct session *session,
				      const struct exec_asked *asked)
{
	(void)owner;
	(void)session;
	(void)asked;
	fixture.cells_asked++;
}

FIXTURE_FN void fixture_on_cell_began(void *owner, struct session *session, const struct cell *cell)
{
	(void)owner;
	(void)session;
	assert_non_null(cell->code);
	fixture.cells_begun++;
}

FIXTURE_FN void fixture_on_cell_shown(void *owner, struct session *session, const struct cell *cell)
{
	(void)owner;
	(void)session;
	assert_true(cell_goes_on(cell));
	fixture.cells_shown++;
}

FIXTURE_FN void fixture_on_cell_over(void *owner, const struct exec_result *result)
{
	(void)owner;
	(void)result;
	fixture.cells_over++;
}

FIXTURE_FN void fixture_on_state_changed(void *owner, const struct session *session)
{
	(void)owner;
	(void)session;
}

FIXTURE_FN void fixture_open(void)
{
	struct err err = { 0 };
	char path[128];

	memset(&fixture, 0, sizeof(fixture));
	fixture_now = 1000000;
	fixture_start_with(STEPS("ready"));
	scratch_init(&fixture.scratch);
	(void)snprintf(path, sizeof(path), "%s/home", fixture.scratch.path);
	fixture.loop = loop_new(fixture_clock, &err);
	fixture.home = home_open(path, &err);
	if (fixture.home == NULL)
		fail_msg("%s", err.msg);
	fixture.launcher = launcher_new(fixture.loop, TEST_BUILD "/ptycell-launcher");
	fixture.settings.limits = (struct session_limits){
		.session_ttl = 1000,
		.idle_timeout = 100,
		.exec_timeout = 30,
		.output_chars = 8000,
		.spool_max = 1 << 20,
		.keep_max = 1 << 20,
		.journal_max = 1 << 20,
	};
	fixture.settings.limits.memory_max = (uint64_t)1 << 32;
	fixture.settings.limits.processes_max = 256;
	fixture.settings.limits.open_files_max = 4096;
	fixture.settings.limits.file_max = (uint64_t)1 << 30;
	fixture.settings.limits.disk_max = (uint64_t)1 << 31;
	fixture.settings.limits.tmp_max = (uint64_t)1 << 28;
	fixture.settings.limits.cpu_max = 86400;
	fixture.settings.cleanup_interval = 10;
	fixture.settings.max_sessions = 3;
	fixture.settings.environment = (char **)(uintptr_t)fixture_environment;
	fixture.host = (struct session_host){
		.cell_asked = fixture_on_cell_asked,
		.cell_began = fixture_on_cell_began,
		.cell_shown = fixture_on_cell_shown,
		.cell_over = fixture_on_cell_over,
		.state_changed = fixture_on_state_changed,
		.loop = fixture.loop,
		.home = fixture.home,
		.launcher = fixture.launcher,
		.settings = &fixture.settings,
		.files_helper = (char *)(uintptr_t)TEST_BUILD "/ptycell-files",
		.retire = fixture_retire,
	};
	fixture_settle();
}

FIXTURE_FN void fixture_close(void)
{
	launcher_free(fixture.launcher);
	confinement_free(fixture.host.confinement);
	home_close(fixture.home);
	loop_free(fixture.loop);
	scratch_release(&fixture.scratch);
}

/* Turns the loop until `condition`; the fake clock stands still. */
#define fixture_until(condition) patience_turn_until(fixture.loop, condition)

/* Advances the clock by that much at once. */
FIXTURE_FN void fixture_pass(uint64_t ms)
{
	fixture_now += ms;
	loop_turn(fixture.loop, 0);
}

#endif
