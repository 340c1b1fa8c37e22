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
#include "base/fd.h"
#include "event/loop.h"
#include "scratch.h"
#include "workspace/home.h"
#include "workspace/keeper.h"
#include "workspace/original.h"
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

/* Makes the original of an upload. */
static inline void fixture_upload(const struct fixture *f, const char *path, const char *text)
{
	struct err err;
	struct original *original = original_new(f->workspace, &err);

	assert_non_null(original);
	assert_int_equal(fd_write_all(original_fd(original), text, strlen(text), &err), 0);
	assert_int_equal(original_place(original, path, &err), 0);
	original_free(original);
}

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

static inline void export_notebook(struct keeper *keeper, uint64_t size, const char *suffix,
				   void (*done)(struct keeper *, const struct keep_result *))
{
	const struct keeper_notebook_copy copy = { .file = "notebook.ipynb",
						   .size = size,
						   .suffix = suffix };

	keeper_copy_notebook(keeper, &copy, done);
}

#endif
