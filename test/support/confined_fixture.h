/* SPDX-License-Identifier: MIT */
/*
 * confined_fixture.h - shells in a sandbox of tier namespaces, for a cmocka test.
 *
 * Include after cmocka.h. Change `confined.policy` and `confined.folders` before the first
 * confined_run(); what it printed is confined.printed.
 */
#ifndef TEST_CONFINED_FIXTURE_H
#define TEST_CONFINED_FIXTURE_H

#include <stdlib.h>

#include "interpreter_fixture.h"
#include "scratch.h"

enum { CONFINED_SKIP = 77 };

struct confined {
	struct scratch scratch; /* a folder of the host; its `data` is the workspace */
	char data[80];
	struct policy policy;
	struct sandbox_folders folders;
	struct buf printed;
};

static struct confined confined;

static void confined_set_up_folders(void)
{
	scratch_init(&confined.scratch);
	/* Only the sandbox's own descriptors lead here, as in a home folder. */
	assert_int_equal(fchmod(confined.scratch.fd, 0700), 0);
	assert_int_equal(mkdirat(confined.scratch.fd, "data", 0700), 0);
	(void)snprintf(confined.data, sizeof(confined.data), "%s/data", confined.scratch.path);
	policy_init(&confined.policy);
	confined.policy.data_path = confined.data;
	confined.folders.data = open(confined.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(confined.folders.data >= 0);
}

static int confined_set_up(void **state)
{
	(void)state;
	memset(&confined, 0, sizeof(confined));
	buf_init(&confined.printed, BUF_UNBOUNDED);
	fixture_open();
	sandbox_close(fixture.sandbox, NULL, NULL);
	fixture.sandbox = NULL;
	confined_set_up_folders();
	return 0;
}

static int confined_tear_down(void **state)
{
	(void)state;
	fixture_close();
	fd_close(&confined.folders.data);
	buf_release(&confined.printed);
	scratch_release(&confined.scratch);
	return 0;
}

static void confined_open(void)
{
	fixture.sandbox = sandbox_open(fixture.launcher, &confined.policy, &confined.folders, NULL);
}

/* Reads all that the terminal has by now. */
static void confined_read(void)
{
	char chunk[4096];
	ssize_t n;

	while ((n = read(interpreter_pty(fixture.interpreter), chunk, sizeof(chunk))) > 0)
		buf_put(&confined.printed, chunk, (size_t)n);
}

/* Starts a shell with `script`; its end is awaited by confined_wait(). */
static void confined_start(const char *script)
{
	char *const argv[] = { (char[]){ "/bin/sh" }, (char[]){ "-c" }, (char *)(uintptr_t)script,
			       NULL };
	char *const envp[] = { (char[]){ "PATH=/usr/bin:/bin:/usr/sbin" }, (char[]){ "LC_ALL=C" },
			       NULL };
	const struct interpreter_spec spec = { .argv = argv, .envp = envp };

	if (fixture.sandbox == NULL)
		confined_open();
	buf_clear(&confined.printed);
	fixture_start_spec(&spec);
}

/* Until the shell and all below it are gone, or it did not start. */
static void confined_wait(void)
{
	uint64_t deadline = clock_ms() + PATIENCE_MS;

	while (strstr(fixture.said, "gone") == NULL && strstr(fixture.said, "failed") == NULL &&
	       clock_ms() < deadline) {
		loop_turn(fixture.loop, 20);
		if (strstr(fixture.said, "started") != NULL)
			confined_read();
	}
	interpreter_free(fixture.interpreter);
	fixture.interpreter = NULL;
}

/* Runs a script to its end; what it printed. */
static const char *confined_run(const char *script)
{
	confined_start(script);
	confined_wait();
	if (strstr(fixture.said, "failed") != NULL)
		fail_msg("the sandbox did not start: %s", fixture.err.msg);
	return buf_str(&confined.printed);
}

/* Runs a script that must print exactly this. */
__attribute__((unused)) static void confined_expect(const char *script, const char *output)
{
	assert_string_equal(confined_run(script), output);
}

/* For main(): why this machine cannot do it, as the skip's exit status; else 0. */
__attribute__((unused)) static int confined_check(void)
{
	int status = 0;

	(void)confined_set_up(NULL);
	confined_start("true");
	confined_wait();
	if (strstr(fixture.said, "failed") != NULL) {
		print_message("skipped: no namespaces here: %s\n", fixture.err.msg);
		status = CONFINED_SKIP;
	}
	(void)confined_tear_down(NULL);
	return status;
}

#endif
