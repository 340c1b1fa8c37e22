/* SPDX-License-Identifier: MIT */
/*
 * launcher.c - starts ptycell-launcher when it is needed, and notices its end.
 *
 * The program is held open from the start. When its file has been replaced by an upgrade, the held
 * one is executed through /proc/self/fd, because programs of two versions do not understand each
 * other. The launcher starts with an empty environment and no descriptor but its channel.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "parts/parts.h"
#include "proc/proc_internal.h"
#include "sandbox/launcher/launch.h"
#include "sandbox/supervise/subreaper.h"

/* Longer than the launcher's own grace for its sandboxes, so that it can end them first. */
enum { END_GRACE_MS = 2 * SUBREAPER_LAUNCHER_GRACE_MS, LEAVE_MS = 300 };

struct launcher {
	struct loop *loop;
	char *path;
	int program;     /* held open, for when its file is removed or replaced; -1: it could not be
			    opened */
	int channel;     /* -1: no program runs */
	bool left_early; /* the last program exited with success by itself, as one of another
			    version does */
	struct loop_child child;
	struct list closing;
	struct list probes;
};

/* Closes the channel, at which the program ends by itself, and kills it when it hangs. */
static void end_program(struct launcher *launcher)
{
	fd_close(&launcher->channel);
	if (!loop_child_active(&launcher->child))
		return;
	if (!loop_child_await(&launcher->child, END_GRACE_MS))
		(void)kill(launcher->child.pid, SIGKILL);
	loop_child_stop(&launcher->child);
	(void)waitpid(launcher->child.pid, NULL, 0);
}

struct launcher *launcher_new(struct loop *loop, const char *path)
{
	struct launcher *launcher = xcalloc(1, sizeof(*launcher));

	launcher->loop = loop;
	launcher->path = xstrdup(path);
	launcher->program = open(path, O_PATH | O_CLOEXEC);
	launcher->channel = -1;
	list_init(&launcher->closing);
	list_init(&launcher->probes);
	return launcher;
}

void launcher_free(struct launcher *launcher)
{
	if (launcher == NULL)
		return;
	end_program(launcher);
	while (!list_empty(&launcher->closing))
		sandbox_abandon(launcher->closing.next);
	while (!list_empty(&launcher->probes))
		launcher_probe_abandon(launcher->probes.next);
	fd_close(&launcher->program);
	free(launcher->path);
	free(launcher);
}

struct loop *launcher_loop(const struct launcher *launcher)
{
	return launcher->loop;
}

struct list *launcher_closing(struct launcher *launcher)
{
	return &launcher->closing;
}

struct list *launcher_probes(struct launcher *launcher)
{
	return &launcher->probes;
}

/* ---- starting the program ---- */

/* Executes the held program when the file at the path is not the same any more. */
static int spawn_program(const struct launcher *launcher, int channel, pid_t *ret_pid,
			 struct err *err)
{
	char *const argv[] = { (char[]){ "ptycell-launcher" }, NULL };
	char *const envp[] = { NULL };
	const int fds[] = { SPAWN_NULL, SPAWN_NULL, STDERR_FILENO, [LAUNCH_CHANNEL] = channel };
	bool replaced = launcher->program >= 0 && !fd_is_file(launcher->program, launcher->path);
	const struct spawn spawn = {
		.path = launcher->path,
		.program = replaced ? launcher->program : -1,
		.argv = argv,
		.envp = envp,
		.fds = fds,
		.fd_count = ARRAY_SIZE(fds),
	};

	return spawn_start(&spawn, ret_pid, err);
}

/* The sandboxes notice the end by their own channels. */
static void on_program_exit(struct loop_child *child, int wait_status)
{
	struct launcher *launcher = container_of(child, struct launcher, child);

	log_error("launcher", "ended with status %d; its sessions end with it", wait_status);
	launcher->left_early = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == EXIT_SUCCESS;
	fd_close(&launcher->channel);
}

static int watch_program(struct launcher *launcher, pid_t pid, struct err *err)
{
	if (loop_child_start(launcher->loop, &launcher->child, pid, on_program_exit, err) == 0)
		return 0;
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return -1;
}

int launcher_start(struct launcher *launcher, struct err *err)
{
	int pair[2];
	pid_t pid;
	int rc;

	if (launcher->channel >= 0)
		return 0;
	if (wire_pair(pair, err) < 0)
		return -1;
	launcher->left_early = false;
	rc = spawn_program(launcher, pair[1], &pid, err);
	fd_close(&pair[1]);
	if (rc == 0)
		rc = watch_program(launcher, pid, err);
	if (rc == 0)
		launcher->channel = fd_steal(&pair[0]);
	fd_close(&pair[0]);
	return rc;
}

bool launcher_differs(struct launcher *launcher, struct err *ret_err)
{
	siginfo_t end = { .si_code = 0 };

	if (loop_child_active(&launcher->child) && loop_child_await(&launcher->child, LEAVE_MS) &&
	    waitid(P_PID, (id_t)launcher->child.pid, &end, WEXITED | WNOHANG | WNOWAIT) == 0)
		launcher->left_early = end.si_code == CLD_EXITED && end.si_status == EXIT_SUCCESS;
	if (launcher->left_early)
		parts_differ("ptycell-launcher", ret_err);
	return launcher->left_early;
}

int launcher_request(struct launcher *launcher, enum wire_type type, const int *fds,
		     size_t fd_count, struct err *err)
{
	if (launcher->channel >= 0) {
		if (wire_send(launcher->channel, type, NULL, fds, fd_count, err) == 0)
			return 0;
		if (err->code == ERR_BUSY)
			return -1;
		end_program(launcher);
	}
	if (launcher_start(launcher, err) < 0)
		return -1;
	return wire_send(launcher->channel, type, NULL, fds, fd_count, err);
}
