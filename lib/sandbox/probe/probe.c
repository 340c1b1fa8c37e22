/* SPDX-License-Identifier: MIT */
/*
 * probe.c - tries the tiers from the strongest down, until one works completely.
 *
 * Each trial builds a sandbox with the code that sessions use. It runs the escape tests where an
 * interpreter would be exec'd. A trial that hangs or dies counts as failed, with its step and errno
 * as the reason. Tier bwrap crosses an exec, so its data is passed on in a memfd.
 */
#include "sandbox/probe/probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/namespaces/namespaces.h"
#include "sandbox/probe/escapes.h"
#include "sandbox/probe/probe_fixture.h"
#include "sandbox/process/terminal.h"
#include "sandbox/report.h"
#include "sandbox/restrict/payload.h"
#include "sandbox/restrict/privdrop.h"
#include "sandbox/supervise/bwrap.h"
#include "sandbox/supervise/setup.h"
#include "sandbox/supervise/subreaper.h"
#include "sandbox/wire/wire.h"

enum { TIMEOUT_MS = 4000, ROWS = 24, COLUMNS = 80, COMPLAINT_MAX = 256 };

/* The data that all throw-away sandboxes of one probe share. */
struct probe {
	struct probe_fixture fixture;
	const struct privdrop_means *means;
};

/* The result that a throw-away sandbox sends through its pipe. */
struct verdict {
	struct err err; /* ERR_NONE: the sandbox works */
	uint32_t layers;
	struct escapes_result escapes;
};

/* ---- inside ---- */

/* Does the steps of supervisor and interpreter, except the exec. */
static int confine_as_interpreter(const struct probe *probe, const struct policy *policy,
				  const struct setup_result *setup, struct err *err)
{
	cleanup_fd int master = -1;
	struct payload payload = { .policy = policy,
				   .means = probe->means,
				   .parent = getppid(),
				   .workspace = setup->workspace,
				   .user_ns = setup->user_ns,
				   .slave = -1 };
	int rc = terminal_open(ROWS, COLUMNS, &master, &payload.slave, err);

	if (rc == 0)
		rc = payload_take_terminal(&payload, err);
	if (rc == 0)
		rc = payload_drop_privileges(&payload, err);
	return rc;
}

static void try_escapes(const struct probe *probe, const struct policy *policy,
			const struct setup_result *setup, int pipe_end)
{
	const char *data = policy->tier >= POLICY_BWRAP ? POLICY_DATA : probe->fixture.data;
	struct verdict verdict = { .layers = setup->layers };

	if (confine_as_interpreter(probe, policy, setup, &verdict.err) == 0) {
		verdict.err.code = ERR_NONE;
		verdict.layers |= privdrop_layers(policy, probe->means);
		if ((verdict.layers & BIT(LAYER_PRIVATE_PROC)) == 0 &&
		    !escapes_sees_victim(&probe->fixture.bait))
			verdict.layers |= BIT(LAYER_HIDDEN_PROCESSES);
		verdict.escapes = escapes_run(&probe->fixture.bait, data);
	}
	(void)!write(pipe_end, &verdict, sizeof(verdict));
}

/* Runs as the first process of a throw-away sandbox; returns the exit status. */
static int run_inside(const struct probe *probe, struct policy *policy, const struct uid_map *map,
		      pid_t outside, int pipe_end)
{
	const struct setup_task task = { .folders = &probe->fixture.data_fd,
					 .map = map,
					 .outside = outside,
					 .means = probe->means };
	struct verdict verdict = { 0 };
	struct setup_result setup;
	int status;
	pid_t pid;

	if (setup_self(policy, &task, &setup, &verdict.err) < 0) {
		(void)!write(pipe_end, &verdict, sizeof(verdict));
		return EXIT_FAILURE;
	}
	pid = fork();
	if (pid == 0) {
		try_escapes(probe, policy, &setup, pipe_end);
		_exit(EXIT_SUCCESS);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- inside bwrap ---- */

/* Descriptors that cross the exec of bwrap; INSIDE_PROBE has the probe's data. */
enum { INSIDE_PIPE = BWRAP_FIRST_FD, INSIDE_PROBE, INSIDE_DATA, INSIDE_VICTIM, INSIDE_SLAVE };

/* Becomes bwrap, which executes probe_run_inside. Returns on failure only. */
static void become_bwrap(const struct probe *probe, const struct policy *policy, int pipe_end)
{
	struct probe own = *probe;
	struct verdict verdict = { 0 };
	int copy = fd_unnamed("ptycell", &verdict.err);
	int *const fds[] = { &pipe_end, &copy, &own.fixture.data_fd, &own.fixture.bait.victim_fd,
			     &own.fixture.bait.slave };
	struct bwrap_start start = {
		.role = PROBE_ROLE,
		.policy = policy,
		.fds = fds,
		.fd_count = ARRAY_SIZE(fds),
		.folders = &own.fixture.data_fd,
	};

	if (copy >= 0 && pwrite(copy, probe, sizeof(*probe), 0) != (ssize_t)sizeof(*probe))
		(void)err_sys(&verdict.err, "preparing bwrap");
	else if (copy >= 0)
		(void)!bwrap_exec(&start, &verdict.err);
	(void)!write(pipe_end, &verdict, sizeof(verdict));
}

int probe_run_inside(const struct privdrop_means *means)
{
	const struct uid_map map = { 0 };
	struct policy policy;
	struct probe probe;
	sigset_t all;

	/* As subreapers do: a terminal that closes sends a signal to its session. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	if (pread(INSIDE_PROBE, &probe, sizeof(probe), 0) != (ssize_t)sizeof(probe))
		return EXIT_FAILURE;
	probe.means = means;
	probe.fixture.data_fd = INSIDE_DATA;
	probe.fixture.bait.victim_fd = INSIDE_VICTIM;
	probe.fixture.bait.slave = INSIDE_SLAVE;
	policy_init(&policy);
	policy.tier = POLICY_BWRAP;
	policy.data_path = probe.fixture.data;
	return run_inside(&probe, &policy, &map, 0, INSIDE_PIPE);
}

/* ---- outside ---- */

static int receive_verdict(int pipe_end, struct verdict *ret_verdict, struct err *err)
{
	if (poll(&(struct pollfd){ .fd = pipe_end, .events = POLLIN }, 1, TIMEOUT_MS) <= 0)
		return err_set(err, ERR_TIMEOUT, "building a sandbox took over %d s",
			       TIMEOUT_MS / 1000);
	if (read(pipe_end, ret_verdict, sizeof(*ret_verdict)) != (ssize_t)sizeof(*ret_verdict))
		return err_set(err, ERR_SYSTEM, "a sandbox died while it was being built");
	if (ret_verdict->err.code == ERR_NONE)
		return 0;
	*err = ret_verdict->err;
	return -1;
}

struct trial {
	const struct probe *probe;
	struct policy policy;
	struct uid_map map;
	pid_t outside;
	int verdict[2];   /* a pipe */
	int complaint[2]; /* a pipe for bwrap's error message */
};

static void release_trial(struct trial *trial)
{
	for (int i = 0; i < 2; i++) {
		fd_close(&trial->verdict[i]);
		fd_close(&trial->complaint[i]);
	}
}

static int make_trial(struct trial *trial, const struct probe *probe, enum policy_tier tier,
		      struct err *err)
{
	*trial = (struct trial){
		.probe = probe, .outside = getpid(), .verdict = { -1, -1 }, .complaint = { -1, -1 }
	};
	policy_init(&trial->policy);
	trial->policy.tier = tier;
	trial->policy.data_path = probe->fixture.data;
	if (uid_map_choose(probe->fixture.data_fd, &trial->map, err) < 0)
		return -1;
	if (pipe2(trial->verdict, O_CLOEXEC) < 0 ||
	    pipe2(trial->complaint, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(err, "creating a pipe");
	return 0;
}

/* Runs as the child of a trial. */
static noreturn void run_trial_child(struct trial *trial)
{
	if (trial->policy.tier != POLICY_BWRAP)
		_exit(run_inside(trial->probe, &trial->policy, &trial->map, trial->outside,
				 trial->verdict[1]));
	(void)dup2(trial->complaint[1], STDERR_FILENO);
	become_bwrap(trial->probe, &trial->policy, trial->verdict[1]);
	_exit(EXIT_FAILURE);
}

/* Sets the error to the first sentence of bwrap's message; the others contain addresses. */
static void quote_complaint(int complaint, struct err *err)
{
	static const char prefix[] = "bwrap: ";
	char text[COMPLAINT_MAX];
	ssize_t len = read(complaint, text, sizeof(text) - 1);
	const char *start = text;
	char *end;

	if (len <= 0)
		return;
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
	end = strstr(text, ". ");
	if (end != NULL)
		*end = '\0';
	if (strncmp(text, prefix, strlen(prefix)) == 0)
		start += strlen(prefix);
	(void)err_set(err, ERR_UNSUPPORTED, "%s", start);
}

static pid_t fork_trial(const struct trial *trial, struct err *err)
{
	pid_t pid;

	if (trial->policy.tier == POLICY_NAMESPACES)
		return namespaces_fork(&trial->map, -1, trial->probe->means->without, NULL, err);
	pid = fork();
	return pid < 0 ? err_sys(err, "forking a sandbox") : pid;
}

static int run_trial(struct trial *trial, struct verdict *ret_verdict, struct err *err)
{
	pid_t pid = fork_trial(trial, err);
	int rc;

	if (pid < 0)
		return -1;
	if (pid == 0)
		run_trial_child(trial);
	fd_close(&trial->verdict[1]);
	rc = receive_verdict(trial->verdict[0], ret_verdict, err);
	if (rc < 0)
		quote_complaint(trial->complaint[0], err);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return rc;
}

/* Tries all steps of one tier. Returns -1 and sets *err when one fails. */
static int try_tier(const struct probe *probe, enum policy_tier tier, struct verdict *ret_verdict,
		    struct err *err)
{
	struct trial trial;
	int rc = make_trial(&trial, probe, tier, err);

	if (rc == 0)
		rc = run_trial(&trial, ret_verdict, err);
	release_trial(&trial);
	return rc;
}

/* Tries the tiers from the strongest down to the first that works. */
static void try_tiers(const struct probe *probe, struct sandbox_report *report)
{
	for (int tier = POLICY_NAMESPACES; tier > POLICY_UNCONFINED; tier--) {
		struct verdict verdict = { 0 };
		struct err err;

		if (try_tier(probe, (enum policy_tier)tier, &verdict, &err) < 0) {
			report_set_reason(report, (enum policy_tier)tier, &err);
			continue;
		}
		report->tier = tier;
		report->layers = verdict.layers;
		report->escape_tests = (uint32_t)__builtin_popcount(verdict.escapes.tried);
		report->escaped = verdict.escapes.escaped;
		return;
	}
}

static int probe_tiers(const struct privdrop_means *means, struct sandbox_report *report,
		       struct err *err)
{
	struct probe probe = { .means = means };

	if (probe_fixture_make(&probe.fixture, err) < 0)
		return -1;
	try_tiers(&probe, report);
	probe_fixture_remove(&probe.fixture);
	return 0;
}

int probe_run(int channel, pid_t parent, const struct privdrop_means *means)
{
	struct sandbox_report report = { .tier = POLICY_UNCONFINED,
					 .landlock_abi = landlock_abi(means->landlock_abi) };
	struct subreaper subreaper;
	struct err err;

	if (subreaper_close_others((int *const[]){ &channel }, 1, &err) < 0 ||
	    subreaper_init(&subreaper, "ptycell-probe", channel, parent, &err) < 0 ||
	    probe_tiers(means, &report, &err) < 0)
		wire_notify(channel, WIRE_FAILED, &err);
	else
		wire_notify(channel, WIRE_REPORT, &report);
	return 0;
}
