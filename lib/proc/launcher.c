/* SPDX-License-Identifier: MIT */
/*
 * launcher.c - starts ptycell-launcher when it is needed, and notices its end.
 *
 * The program is held open from the start. When its file has been replaced by an upgrade, the held
 * one is executed through /proc/self/fd, because programs of two versions do not understand each
 * other. The launcher is started by posix_spawn with an empty environment and no descriptor but its
 * channel.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
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

enum { PROGRAM_FD = LAUNCH_CHANNEL + 1 };

/* `program` is a descriptor above PROGRAM_FD that is executed in place of the path, or -1. */
static int fill_actions(posix_spawn_file_actions_t *actions, int channel, int program)
{
	for (int fd = 0; fd < STDERR_FILENO; fd++)
		if (posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0) != 0)
			return -1;
	if (posix_spawn_file_actions_adddup2(actions, channel, LAUNCH_CHANNEL) != 0)
		return -1;
	if (program >= 0 && posix_spawn_file_actions_adddup2(actions, program, PROGRAM_FD) != 0)
		return -1;
	return posix_spawn_file_actions_addclosefrom_np(actions, PROGRAM_FD + (program >= 0)) != 0
		       ? -1
		       : 0;
}

static int fill_attributes(posix_spawnattr_t *attributes)
{
	sigset_t all;
	sigset_t none;

	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	if (posix_spawnattr_setsigdefault(attributes, &all) != 0 ||
	    posix_spawnattr_setsigmask(attributes, &none) != 0)
		return -1;
	return posix_spawnattr_setflags(attributes,
					POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK) != 0
		       ? -1
		       : 0;
}

/*
 * posix_spawn shares the server's memory until the exec: no page is copied, however large the
 * server is.
 */
static int spawn_from(int program, const char *path, int channel, pid_t *ret_pid, struct err *err)
{
	cleanup_free char *number = xasprintf("/proc/self/fd/%d", PROGRAM_FD);
	char *const argv[] = { (char[]){ "ptycell-launcher" }, NULL };
	char *const envp[] = { NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int rc;

	if (posix_spawn_file_actions_init(&actions) != 0 || posix_spawnattr_init(&attributes) != 0)
		return err_set(err, ERR_SYSTEM, "preparing '%s'", path);
	if (fill_actions(&actions, channel, program) < 0 || fill_attributes(&attributes) < 0)
		rc = ENOMEM;
	else
		rc = posix_spawn(ret_pid, program >= 0 ? number : path, &actions, &attributes, argv,
				 envp);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attributes);
	if (rc != 0 && access("/dev/null", R_OK | W_OK) < 0)
		return err_sys(err, "opening /dev/null, which ptycell and all programs need");
	errno = rc;
	return rc != 0 ? err_sys(err, "starting '%s'", path) : 0;
}

/* Executes the held program when the file at the path is not the same any more. */
static int spawn_program(const struct launcher *launcher, int channel, pid_t *ret_pid,
			 struct err *err)
{
	bool replaced = launcher->program >= 0 && !fd_is_file(launcher->program, launcher->path);
	cleanup_fd int program =
		replaced ? fcntl(launcher->program, F_DUPFD_CLOEXEC, PROGRAM_FD + 1) : -1;

	return spawn_from(program, launcher->path, channel, ret_pid, err);
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
