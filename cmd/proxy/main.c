/* SPDX-License-Identifier: MIT */
/*
 * ptycell-proxy: lets one session reach the hosts that the person named, and no other.
 *
 * Its order (order.h) is a line of JSON on stdin, the session's listener descriptor 3. It reports
 * on stdout (tally.h) and serves until it is killed or stdin ends, which is the server's end. One
 * process a session: what a session may reach is then nothing that another's connection, or a
 * change of settings, could touch.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
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
	struct loop_io order; /* standard input: nothing more comes but its end */
};

static void on_order(struct loop_io *io, uint32_t events)
{
	struct server *server = container_of(io, struct server, order);
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

static int confine(const struct request *order, struct err *err)
{
	uint16_t ports[PORTS_MAX];
	size_t count = host_list_ports(order->hosts, ports, PORTS_MAX - 2);

	if (order->https.at.port != 0)
		ports[count++] = order->https.at.port;
	if (order->http.at.port != 0)
		ports[count++] = order->http.at.port;
	return lockdown_proxy(ports, count, err);
}

static int serve(const struct request *order, int resolver, struct err *err)
{
	struct server server = { .loop = loop_new(clock_ms, err) };
	struct listener gate;

	if (server.loop == NULL)
		return -1;
	if (confine(order, err) < 0 ||
	    loop_io_start(server.loop, &server.order, STDIN_FILENO, EPOLLIN, on_order, err) < 0 ||
	    listener_init(&gate, server.loop, order, resolver, LISTENER_FD, err) < 0)
		return -1;
	loop_run(server.loop);
	stats_finish(gate.tally);
	listener_release(&gate);
	loop_io_stop(&server.order);
	loop_free(server.loop);
	return 0;
}

static int run(struct err *err)
{
	cleanup_fd int resolver = -1;
	struct request order;
	int result;

	if (harden_process(err) < 0 || check_listener(err) < 0)
		return -1;
	resolver = resolver_spawn(err);
	if (resolver < 0 || request_take(&order, err) < 0)
		return -1;
	result = serve(&order, resolver, err);
	request_release(&order);
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
		_exit(EXIT_SUCCESS); /* nothing is left to flush, and a leak checker may not run */
	response_error(&err);
	return EXIT_FAILURE;
}
