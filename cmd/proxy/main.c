/* SPDX-License-Identifier: MIT */
/*
 * main.c - ptycell-proxy: lets one session reach the hosts that the user named, and no other.
 *
 * Its request (request.h) is a line of JSON on stdin, and descriptor 3 is the session's listening
 * socket. It reports on stdout (stats.h) and serves until stdin ends with the server, or until it
 * is killed. There is one process for each session, so other sessions and changed settings cannot
 * affect what a session may reach.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/util.h"
#include "helper/program.h"
#include "listener.h"
#include "lockdown.h"
#include "lockdown/harden.h"
#include "parts/parts.h"
#include "request.h"
#include "resolver.h"

enum { LISTENER_FD = 3, PORTS_MAX = HOST_LIST_MAX + 4 };

struct server {
	struct loop *loop;
	struct loop_io input; /* standard input: only its end is still expected */
};

static void on_input(struct loop_io *io, uint32_t events)
{
	struct server *server = container_of(io, struct server, input);
	char byte;

	(void)events;
	if (read(STDIN_FILENO, &byte, 1) <= 0)
		loop_quit(server->loop);
}

static int check_listener(struct err *err)
{
	socklen_t len = sizeof(int);
	int listens = 0;

	if (getsockopt(LISTENER_FD, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) < 0 || !listens)
		return err_set(err, ERR_INVALID, "descriptor 3 is no listener");
	return fd_set_nonblock(LISTENER_FD, err);
}

static int lock_down(const struct request *input, struct err *err)
{
	uint16_t ports[PORTS_MAX];
	size_t count = host_list_ports(input->hosts, ports, PORTS_MAX - 2);

	if (input->https.at.port != 0)
		ports[count++] = input->https.at.port;
	if (input->http.at.port != 0)
		ports[count++] = input->http.at.port;
	return lockdown_proxy(ports, count, err);
}

static int serve(const struct request *input, int resolver, struct err *err)
{
	struct server server = { .loop = loop_new(clock_ms, err) };
	struct listener listener;

	if (server.loop == NULL)
		return -1;
	if (lock_down(input, err) < 0 ||
	    loop_io_start(server.loop, &server.input, STDIN_FILENO, EPOLLIN, on_input, err) < 0 ||
	    listener_init(&listener, server.loop, input, resolver, LISTENER_FD, err) < 0)
		return -1;
	loop_run(server.loop);
	stats_finish(listener.stats);
	listener_release(&listener);
	loop_io_stop(&server.input);
	loop_free(server.loop);
	return 0;
}

static int run(struct err *err)
{
	cleanup_fd int resolver = -1;
	struct request input;
	int result;

	if (harden_process(err) < 0 || check_listener(err) < 0)
		return -1;
	resolver = resolver_spawn(err);
	if (resolver < 0 || request_take(&input, err) < 0)
		return -1;
	result = serve(&input, resolver, err);
	request_release(&input);
	return result;
}

int main(int argc, char **argv)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct err err;

	if (!parts_agree(argc, argv))
		return PARTS_OTHER;
	(void)sigaction(SIGPIPE, &ignore, NULL);
	if (run(&err) == 0)
		/* nothing is left to flush, and a leak checker cannot run under seccomp */
		_exit(EXIT_SUCCESS);
	program_error(&err);
	return EXIT_FAILURE;
}
