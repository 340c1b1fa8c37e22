/* SPDX-License-Identifier: MIT */
/*
 * run_confined.c - runs one program in a sandbox and prints what its terminal shows.
 *
 * run_confined LAUNCHER TIER FOLDER PROGRAM [ARG...]
 *
 * Without the server, which refuses to use a sandbox that leaks. Ends with the program; 1 when the
 * sandbox did not start.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "event/loop.h"
#include "proc/interpreter.h"
#include "proc/launcher.h"
#include "proc/sandbox.h"

enum { PATIENCE_MS = 300000, TURN_MS = 20 }; /* for all attacks in a row */

struct run {
	bool started;
	bool over;
	int status;
};

static void on_started(struct interpreter *interpreter)
{
	struct run *run = interpreter_data(interpreter);

	run->started = true;
}

static void on_failed(struct interpreter *interpreter, const struct err *err)
{
	struct run *run = interpreter_data(interpreter);

	fprintf(stderr, "%s\n", err->msg);
	run->status = EXIT_FAILURE;
	run->over = true;
}

static void on_exited(struct interpreter *interpreter, int wait_status)
{
	(void)interpreter;
	(void)wait_status;
}

static void on_gone(struct interpreter *interpreter)
{
	struct run *run = interpreter_data(interpreter);

	run->over = true;
}

static void copy_output(const struct interpreter *interpreter)
{
	char chunk[4096];
	ssize_t n;

	while ((n = read(interpreter_pty(interpreter), chunk, sizeof(chunk))) > 0)
		(void)fwrite(chunk, 1, (size_t)n, stdout);
}

static int parse_tier(const char *name, enum policy_tier *ret_tier)
{
	for (enum policy_tier tier = POLICY_UNCONFINED; tier < POLICY_TIERS; tier++)
		if (strcmp(name, policy_tier_name(tier)) == 0) {
			*ret_tier = tier;
			return 0;
		}
	return -1;
}

static int run_in(struct loop *loop, struct sandbox *sandbox, char **argv)
{
	static const struct interpreter_handlers handlers = { on_started, on_failed, on_exited,
							      on_gone };
	char *const environment[] = { (char[]){ "PATH=/usr/bin:/bin" }, NULL };
	const struct interpreter_spec spec = { .argv = argv, .envp = environment };
	struct run run = { 0 };
	struct interpreter *interpreter = interpreter_start(sandbox, &spec, &handlers, &run);
	uint64_t deadline = clock_ms() + PATIENCE_MS;

	while (!run.over && clock_ms() < deadline) {
		loop_turn(loop, TURN_MS);
		if (run.started)
			copy_output(interpreter);
	}
	interpreter_free(interpreter);
	return run.over ? run.status : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct sandbox_folders folders = { .spool = -1, .packages = -1 };
	struct policy policy;
	struct launcher *launcher;
	struct sandbox *sandbox;
	struct loop *loop;
	struct err err;
	int status;

	policy_init(&policy);
	if (argc < 5 || parse_tier(argv[2], &policy.tier) < 0) {
		fprintf(stderr, "usage: run_confined LAUNCHER TIER FOLDER PROGRAM [ARG...]\n");
		return 2;
	}
	policy.data_path = argv[3];
	folders.data = open(argv[3], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	loop = loop_new(clock_ms, &err);
	if (folders.data < 0 || loop == NULL) {
		perror(argv[3]);
		return EXIT_FAILURE;
	}
	launcher = launcher_new(loop, argv[1]);
	sandbox = sandbox_open(launcher, &policy, &folders, NULL);
	status = run_in(loop, sandbox, argv + 4);
	sandbox_close(sandbox, NULL, NULL);
	launcher_free(launcher);
	loop_free(loop);
	return status;
}
