/* SPDX-License-Identifier: MIT */
/*
 * front.c - the server is forked, not executed anew: nothing has been started yet, and it has read
 * the settings already. It is a grandchild, so that hosts which end all below their child do not
 * find it.
 */
#include "front.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "console/likeness.h"
#include "control/client.h"
#include "control/handover.h"
#include "control/sockets.h"
#include "json/make.h"
#include "serve.h"

enum {
	ANSWER_MS = 1000, /* for a server to agree: one that takes longer stands still */
	LEAVE_MS = 3000,  /* for the client of a server to leave: hosts kill within 2 s */
	/*
	 * For a client that does not leave yet, as far as its server knows: a killed front takes a
	 * moment to go.
	 */
	BUSY_MS = 100,
	ROUND_MS = 10,
	PARENT_POLL_MS = 2000,
};

/* The search for a server. */
struct search {
	const char *home;
	const char *likeness;
	const int *fds; /* HANDOVER_FDS */
	pid_t parent;
};

/* ---- a server that lingers ---- */

/* Waits for a byte of the server. Returns false at its end, or if the host has gone. */
static bool await_byte(int socket_fd, pid_t parent, unsigned char *ret_byte)
{
	struct pollfd ready = { .fd = socket_fd, .events = POLLIN };

	while (getppid() == parent) {
		ssize_t n;

		if (poll(&ready, 1, PARENT_POLL_MS) <= 0)
			continue;
		n = recv(socket_fd, ret_byte, 1, MSG_DONTWAIT);
		if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			return n == 1;
	}
	return false;
}

/* Asks a server whether it serves us. Returns -1 and sets *err. */
static int ask(struct client *client, int folder_fd, const char *name, const char *likeness,
	       struct err *err)
{
	cleanup_json json_t *request = json_object();
	cleanup_json json_t *reply = NULL;

	json_put_str(request, "command", "adopt");
	json_put_str(request, "likeness", likeness);
	if (client_open(client, folder_fd, name, request, err) == 0)
		reply = client_read(client, clock_ms() + ANSWER_MS, err);
	return reply != NULL ? 0 : -1;
}

/*
 * Returns the connection to a server that has taken the descriptors, or -1. Raises *wait_ms to the
 * time since the start of the search for which the server is worth waiting.
 */
static int hand_over(const struct search *search, int folder_fd, const char *name,
		     uint64_t *wait_ms)
{
	cleanup_client struct client client = { .fd = -1 };
	unsigned char byte;
	struct err err;

	if (ask(&client, folder_fd, name, search->likeness, &err) < 0) {
		if (err.code == ERR_CANCELLED)
			*wait_ms = LEAVE_MS;
		else if (err.code == ERR_BUSY && *wait_ms < BUSY_MS)
			*wait_ms = BUSY_MS;
		return -1;
	}
	if (handover_send(client.fd, search->fds, &err) == 0 &&
	    await_byte(client.fd, search->parent, &byte))
		return fd_steal(&client.fd);
	return -1;
}

/* Opens the folder of sockets, if it is ours. Returns -1 if there is none. */
static int open_sockets(const char *home)
{
	cleanup_fd int home_fd = open(home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	struct err err;

	if (home_fd < 0 || fstat(home_fd, &st) < 0 || st.st_uid != geteuid())
		return -1;
	return sockets_open(home_fd, false, &err);
}

/* Asks all servers. Returns as hand_over does. */
static int ask_all(const struct search *search, uint64_t *wait_ms)
{
	cleanup_fd int folder_fd = open_sockets(search->home);
	int found = -1;
	size_t count = 0;
	char **names = folder_fd >= 0 ? sockets_list(folder_fd, &count) : NULL;

	for (size_t i = 0; i < count; i++) {
		if (found < 0)
			found = hand_over(search, folder_fd, names[i], wait_ms);
		free(names[i]);
	}
	free(names);
	return found;
}

/* Returns the connection to the server that serves from now on, or -1. */
static int find_server(const struct search *search)
{
	uint64_t began_ms = clock_ms();

	while (getppid() == search->parent) {
		uint64_t wait_ms = 0;
		int found = ask_all(search, &wait_ms);

		if (found >= 0 || clock_ms() - began_ms >= wait_ms)
			return found;
		(void)poll(NULL, 0, ROUND_MS);
	}
	return -1;
}

/* ---- a new server ---- */

/*
 * Forks a grandchild, which lets go of all that the host has passed on: a host may wait for the end
 * of a pipe, or for a lock. Returns 1 in it, 0 in this process, -1 and sets *err.
 */
static int fork_grandchild(struct err *err)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		pid = setsid() < 0 ? -1 : fork();
		if (pid == 0) {
			fd_close_inherited();
			return 1;
		}
		_exit(pid < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return err_sys(err, "starting a server");
	return status == 0 ? 0 : err_set(err, ERR_SYSTEM, "starting a server: it cannot be forked");
}

/*
 * Starts a server. Returns 0 in the front and 1 in the server, and sets *ret_socket to its end of
 * the connection between both. Returns -1 and sets *err.
 */
static int start_server(int *ret_socket, struct err *err)
{
	int ends[2];
	int where;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(err, "starting a server");
	where = fork_grandchild(err);
	if (where >= 0)
		*ret_socket = fd_steal(&ends[where]);
	fd_close(&ends[0]);
	fd_close(&ends[1]);
	return where;
}

/* ---- the front ---- */

/* Some hosts start us without a stderr. */
static void make_stderr(void)
{
	if (fcntl(STDERR_FILENO, F_GETFD) < 0)
		(void)dup2(STDIN_FILENO, STDERR_FILENO); /* /dev/null, by mcp_stdio_take */
}

/* Waits for the end of the server, or of its care for this host. Returns the exit code. */
static int await_end(int socket_fd, pid_t parent)
{
	unsigned char code;
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL); /* signals end the front at once */
	if (await_byte(socket_fd, parent, &code))
		return code;
	if (getppid() == parent)
		(void)fputs("ptycell: the server has ended unexpectedly\n", stderr);
	return EXIT_FAILURE;
}

int front_run(const struct settings *settings, const struct policyfile *policy, char *const argv[],
	      int fds[HANDOVER_FDS])
{
	struct serve_linger linger;
	const struct search search = {
		.home = settings->home, .likeness = linger.likeness, .fds = fds, .parent = getppid()
	};
	cleanup_fd int socket_fd = -1;
	struct err err;
	int where = 0;

	make_stderr();
	likeness_make(settings, argv + 1, linger.likeness);
	socket_fd = find_server(&search);
	if (socket_fd < 0)
		where = start_server(&socket_fd, &err);
	if (where > 0) {
		linger.socket_fd = fd_steal(&socket_fd);
		return serve_run(settings, policy, &linger, fds);
	}
	if (where < 0) {
		(void)fprintf(stderr, "ptycell: sessions end with the host: %s\n", err.msg);
		return serve_run(settings, policy, NULL, fds);
	}
	fd_close(&fds[HANDOVER_IN]); /* the server alone decides when the host sees an end */
	fd_close(&fds[HANDOVER_OUT]);
	return await_end(socket_fd, search.parent);
}
