/* SPDX-License-Identifier: MIT */
/*
 * interpreter_fixture.h - a loop, a launcher, a sandbox and one interpreter for a cmocka test.
 *
 * Include after cmocka.h. The words of all callbacks are one string, in order.
 */
#ifndef TEST_INTERPRETER_FIXTURE_H
#define TEST_INTERPRETER_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "event/loop.h"
#include "patience.h"
#include "proc/interpreter.h"
#include "proc/launcher.h"
#include "proc/sandbox.h"
#include "sandbox/policy.h"

#define FAKE_INTERPRETER TEST_BUILD "/test/fake_interpreter"
#ifndef LAUNCHER
#define LAUNCHER TEST_BUILD "/ptycell-launcher"
#endif

struct fixture {
	struct loop *loop;
	struct launcher *launcher;
	struct sandbox *sandbox;
	struct interpreter *interpreter;
	char workspace[512];
	int folder;      /* the workspace */
	char said[4096]; /* "started exited gone " */
	struct err err;
	int wait_status;
	int count; /* the answer to a question, -1 until it comes */
	struct input_state look;
};

/* One a program: the callbacks have no other way to it. */
static struct fixture fixture;

static void fixture_say(const char *word)
{
	size_t used = strlen(fixture.said);

	(void)snprintf(fixture.said + used, sizeof(fixture.said) - used, "%s ", word);
}

static void fixture_started(struct interpreter *interpreter)
{
	(void)interpreter;
	fixture_say("started");
}

static void fixture_failed(struct interpreter *interpreter, const struct err *err)
{
	(void)interpreter;
	fixture.err = *err;
	fixture_say("failed");
}

static void fixture_exited(struct interpreter *interpreter, int wait_status)
{
	(void)interpreter;
	fixture.wait_status = wait_status;
	fixture_say("exited");
}

static void fixture_gone(struct interpreter *interpreter)
{
	(void)interpreter;
	fixture_say("gone");
}

__attribute__((unused)) static void fixture_counted(struct interpreter *interpreter, int count)
{
	(void)interpreter;
	fixture.count = count;
}

__attribute__((unused)) static void fixture_looked(struct interpreter *interpreter,
						   const struct input_state *look)
{
	(void)interpreter;
	fixture.count = (int)look->wait;
	fixture.look = *look;
}

static const struct interpreter_handlers fixture_handlers = {
	fixture_started,
	fixture_failed,
	fixture_exited,
	fixture_gone,
};

/* Unconfined, unless the environment asks for the same tests in another tier. */
static bool fixture_is_confined(void)
{
	const char *tier = getenv("PTYCELL_TEST_TIER");

	return tier != NULL && str_eq(tier, policy_tier_name(POLICY_NAMESPACES));
}

/* The programs of the build are where they are, as an interpreter's would be. */
static void fixture_policy(struct policy *ret_policy)
{
	policy_init(ret_policy);
	ret_policy->tier = POLICY_UNCONFINED;
	if (!fixture_is_confined())
		return;
	ret_policy->tier = POLICY_NAMESPACES;
	ret_policy->data_path = fixture.workspace;
	ret_policy->runtimes[0] = TEST_BUILD "/test";
	ret_policy->runtime_count = 1;
}

static void fixture_open_policy(const struct policy *policy)
{
	const struct sandbox_folders folders = { .data = fixture.folder };

	fixture.sandbox = sandbox_open(fixture.launcher, policy, &folders, NULL);
}

/*
 * A confined session's is its own, and given to its user; the other tests write nothing. It stays,
 * as a test's server may be killed, and lies in the build unless another user built.
 */
static void fixture_open_workspace(void)
{
	(void)snprintf(fixture.workspace, sizeof(fixture.workspace), "/tmp");
	if (fixture_is_confined()) {
		(void)snprintf(fixture.workspace, sizeof(fixture.workspace),
			       "%s/ptycell-workspace-%u",
			       access(TEST_BUILD, W_OK) == 0 ? TEST_BUILD : "/tmp", geteuid());
		if (mkdir(fixture.workspace, 0700) < 0)
			assert_int_equal(errno, EEXIST);
	}
	fixture.folder = open(fixture.workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fixture.folder >= 0);
}

static void fixture_open_sandbox(void)
{
	struct policy policy;

	fixture_policy(&policy);
	fixture_open_policy(&policy);
}

static void fixture_open(void)
{
	struct err err;

	memset(&fixture, 0, sizeof(fixture));
	fixture.count = -1;
	fixture_open_workspace();
	fixture.loop = loop_new(clock_ms, &err);
	assert_non_null(fixture.loop);
	fixture.launcher = launcher_new(fixture.loop, LAUNCHER);
	fixture_open_sandbox();
}

static void fixture_close(void)
{
	interpreter_free(fixture.interpreter);
	sandbox_close(fixture.sandbox, NULL, NULL);
	launcher_free(fixture.launcher);
	loop_free(fixture.loop);
	fd_close(&fixture.folder);
}

__attribute__((unused)) static int fixture_set_up(void **state)
{
	(void)state;
	fixture_open();
	return 0;
}

__attribute__((unused)) static int fixture_tear_down(void **state)
{
	(void)state;
	fixture_close();
	return 0;
}

static void fixture_start_spec(const struct interpreter_spec *spec)
{
	fixture.said[0] = '\0';
	fixture.interpreter = interpreter_start(fixture.sandbox, spec, &fixture_handlers, NULL);
}

/* Starts `argv`, of which argv[0] is the program. */
__attribute__((unused)) static void fixture_start(char *const *argv)
{
	char *const envp[] = { (char[]){ "FIXTURE=yes" }, NULL };
	struct interpreter_spec spec = { .argv = argv, .envp = envp };

	fixture_start_spec(&spec);
}

/* Starts the fake interpreter with these steps. */
#define fixture_fake(...)                                                                          \
	fixture_start((char *const[]){ (char *)(uintptr_t)FAKE_INTERPRETER, __VA_ARGS__, NULL })
#define STEP(text) ((char *)(uintptr_t)(text))

static void fixture_note_closed(void *data)
{
	bool *closed = data;

	*closed = true;
}

/* Frees the interpreter, closes the sandbox, and waits until nothing of it is left. */
__attribute__((unused)) static void fixture_close_sandbox(void)
{
	bool closed = false;

	interpreter_free(fixture.interpreter);
	sandbox_close(fixture.sandbox, fixture_note_closed, &closed);
	fixture.interpreter = NULL;
	fixture.sandbox = NULL;
	patience_turn_until(fixture.loop, closed);
}

/* Runs the loop until the callbacks have said `words`. */
__attribute__((unused)) static void fixture_expect(const char *words)
{
	uint64_t deadline = clock_ms() + PATIENCE_MS;

	while (strlen(fixture.said) < strlen(words) && fixture.err.code == ERR_NONE &&
	       clock_ms() < deadline)
		loop_turn(fixture.loop, 100);
	if (strstr(fixture.said, "failed") != NULL && strstr(words, "failed") == NULL)
		print_error("failed: %s\n", fixture.err.msg);
	assert_string_equal(fixture.said, words);
}

/* Runs the loop until a question was answered. */
__attribute__((unused)) static int fixture_answer(void)
{
	int count;

	patience_turn_until(fixture.loop, fixture.count >= 0);
	count = fixture.count;
	fixture.count = -1;
	return count;
}

/* Reads `fd` (non-blocking) into `ret` until it holds `end`; the loop does not run meanwhile. */
__attribute__((unused)) static void fixture_read_until(int fd, const char *end, struct buf *ret)
{
	uint64_t deadline = clock_ms() + PATIENCE_MS;
	char chunk[4096];

	while (strstr(buf_str(ret), end) == NULL && clock_ms() < deadline) {
		ssize_t n;

		(void)poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 100);
		n = read(fd, chunk, sizeof(chunk));
		if (n == 0)
			break;
		if (n > 0)
			buf_put(ret, chunk, (size_t)n);
	}
	if (strstr(buf_str(ret), end) == NULL)
		fail_msg("'%s' did not come, but '%.200s'", end, buf_str(ret));
}

/* The next thing on the control channel must be `text`. */
__attribute__((unused)) static void fixture_hear(const char *text)
{
	cleanup_buf struct buf heard;

	buf_init(&heard, BUF_UNBOUNDED);
	fixture_read_until(interpreter_control(fixture.interpreter), text, &heard);
	assert_string_equal(buf_str(&heard), text);
}

/* Lets a `hear` step of the fake interpreter go on. */
__attribute__((unused)) static void fixture_go(void)
{
	assert_int_equal(write(interpreter_control(fixture.interpreter), "g", 1), 1);
}

#endif
