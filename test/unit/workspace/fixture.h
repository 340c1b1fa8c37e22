/* SPDX-License-Identifier: MIT */
/* fixture.h - a home with one workspace and a loop, for the tests of this layer. */
#ifndef WORKSPACE_FIXTURE_H
#define WORKSPACE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "event/loop.h"
#include "scratch.h"
#include "workspace/workspace.h"

struct fixture {
	struct scratch scratch;
	struct loop *loop;
	struct home *home;
	struct workspace *workspace;
	int data; /* borrowed */
};

static inline int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct err err = { 0 };
	char path[128];

	scratch_init(&f->scratch);
	(void)snprintf(path, sizeof(path), "%s/home", f->scratch.path);
	f->loop = loop_new(clock_ms, &err);
	assert_non_null(f->loop);
	f->home = home_open(path, &err);
	assert_non_null(f->home);
	f->workspace = workspace_new(f->home, &err);
	assert_non_null(f->workspace);
	f->data = workspace_data_fd(f->workspace);
	*state = f;
	return 0;
}

static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	workspace_free(f->workspace);
	home_close(f->home);
	loop_free(f->loop);
	scratch_release(&f->scratch);
	free(f);
	return 0;
}

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif
