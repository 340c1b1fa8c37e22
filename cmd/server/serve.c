/* SPDX-License-Identifier: MIT */
/*
 * serve.c - builds loop, service, MCP server and stdio, in this order, and runs the loop. When
 * stdin ends, a signal arrives or the host dies, open calls are cancelled, and the loop runs on
 * until the service has removed its sessions. The exit code reports requests whose answers did not
 * go out.
 *
 * A server that may linger ends so only by a signal, at the end of its time, or without sessions.
 * Else it drops its client and keeps what the sessions need. The next client gets the same MCP
 * server, as good as new.
 */
#include "serve.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "console/console.h"
#include "event/loop.h"
#include "mcp/server.h"
#include "mcp/stdio.h"
#include "relay.h"
#include "resources/resources.h"
#include "tools/service.h"

enum { REQUEST_MAX = 32 << 20, LIVE_CALLS_MAX = 1024, LISTENERS_MAX = 64, LINGER_LOOK_MS = 2000 };

static const int end_signals[] = { SIGTERM, SIGINT, SIGHUP };

struct end_signal {
	struct loop_signal source;
	struct stay *stay;
};

/* The parts that only a server that may linger has. */
struct stay {
	struct serve *serve;
	struct console_linger reports;
	struct relay *relay;
	struct loop_defer leave; /* drops the client */
	struct loop_defer end;
	struct loop_timer over; /* without a client: the end of the time, or a look before */
	uint64_t until_ms;
	struct end_signal signals[ARRAY_SIZE(end_signals)]; /* without a client */
	int socket_fd; /* to the front; these three are -1 without a client */
	int in_fd;
	int out_fd;
};

struct serve {
	struct loop *loop;
	const struct settings *settings;
	struct service *service;
	struct mcp_server *server;
	struct mcp_stdio *stdio;
	struct console *console; /* NULL once the server ends */
	struct mcp_features features;
	struct mcp_limits limits;
	struct stay *stay; /* NULL: the server ends with its client */
	bool unanswered;   /* the answer to some request did not go out */
};

static void on_closed(void *data)
{
	struct serve *serve = data;

	loop_quit(serve->loop);
}

static void report_unanswered(struct serve *serve, enum mcp_stdio_end end)
{
	static const char *const reasons[] = {
		[MCP_STDIO_EOF] = "nobody takes the output",
		[MCP_STDIO_CLOSED] = "nobody reads stdout any more",
		[MCP_STDIO_SIGNAL] = "a signal ended ptycell",
		[MCP_STDIO_ORPHANED] = "the program that started ptycell has gone",
	};
	size_t calls = mcp_server_live_calls(serve->server);
	int in = mcp_stdio_input_error(serve->stdio);
	int out = mcp_stdio_output_error(serve->stdio);

	serve->unanswered = calls > 0 || in != 0 || out != 0 || mcp_stdio_pending(serve->stdio) > 0;
	if (in != 0)
		(void)fprintf(stderr, "ptycell: not all requests were read: stdin: %s\n",
			      strerrordesc_np(in));
	if (out != 0)
		(void)fprintf(stderr, "ptycell: not all answers went out: stdout: %s\n",
			      strerrordesc_np(out));
	else if (calls > 0)
		(void)fprintf(stderr, "ptycell: %zu %s not answered: %s\n", calls,
			      calls == 1 ? "request was" : "requests were", reasons[end]);
	else if (mcp_stdio_pending(serve->stdio) > 0)
		(void)fprintf(stderr, "ptycell: not all answers went out: %s\n", reasons[end]);
}

static void on_leave(struct loop_defer *defer);

/* Ends all sessions, and then the loop. */
static void end_server(struct serve *serve)
{
	mcp_server_close_listeners(serve->server);
	mcp_server_cancel_all(serve->server);
	console_free(serve->console);
	serve->console = NULL;
	service_close(serve->service, on_closed, serve);
}

static void on_end(void *context, enum mcp_stdio_end end)
{
	struct serve *serve = context;

	report_unanswered(serve, end);
	log_info("serve", "the client has ended (%d)", (int)end);
	if (serve->stay != NULL && end != MCP_STDIO_SIGNAL)
		loop_defer_start(serve->loop, &serve->stay->leave, on_leave);
	else
		end_server(serve);
}

static void on_input_ended(void *context)
{
	const struct serve *serve = context;

	if (serve->console != NULL)
		console_leave(serve->console);
}

/* ---- log messages for a client that asks for them ---- */

static const char *const mcp_levels[] = {
	[LOG_ERROR] = "error", [LOG_WARN] = "warning", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"
};

static bool client_wants(void *context, enum log_level level)
{
	const struct serve *serve = context;

	return mcp_server_wants_log(serve->server, mcp_levels[level]);
}

static void send_to_client(void *context, enum log_level level, const char *area,
			   const char *message)
{
	const struct serve *serve = context;

	mcp_server_log(serve->server, mcp_levels[level], area, message);
}

/* ---- clients ---- */

static int start_client(struct serve *serve, int in_fd, int out_fd, struct err *err)
{
	const struct mcp_stdio_options options = {
		.in_fd = in_fd,
		.out_fd = out_fd,
		.owner_fd = serve->stay != NULL ? serve->stay->socket_fd : 0,
		.drain = serve->settings->drain,
		.ended = on_input_ended,
		.done = on_end,
		.context = serve,
	};

	serve->stdio = mcp_stdio_new(serve->loop, serve->server, &options, err);
	return serve->stdio == NULL ? -1 : 0;
}

static int exit_code(const struct serve *serve)
{
	return serve->unanswered ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Closes all that the client and its front have shared with us. The front then ends. */
static void drop_client(struct serve *serve)
{
	struct stay *stay = serve->stay;

	mcp_stdio_free(serve->stdio);
	serve->stdio = NULL;
	relay_to(stay->relay, -1);
	fd_close(&stay->in_fd);
	fd_close(&stay->out_fd);
	if (stay->socket_fd >= 0)
		handover_send_byte(stay->socket_fd, (unsigned char)exit_code(serve));
	fd_close(&stay->socket_fd);
	serve->unanswered = false;
}

/* ---- without a client ---- */

static void stop_waiting(struct stay *stay)
{
	loop_timer_stop(&stay->over);
	loop_defer_stop(&stay->leave);
	loop_defer_stop(&stay->end);
	for (size_t i = 0; i < ARRAY_SIZE(end_signals); i++)
		loop_signal_stop(&stay->signals[i].source);
}

/* Ends a server without a client. */
static void end_lingering(struct stay *stay)
{
	stop_waiting(stay);
	end_server(stay->serve);
}

static void on_over(struct loop_timer *timer);

/* Checks the server's folder again soon: if the user has removed it, no front finds the server. */
static void look_again(struct stay *stay)
{
	uint64_t next_ms = loop_now(stay->serve->loop) + LINGER_LOOK_MS;

	loop_timer_start(stay->serve->loop, &stay->over,
			 next_ms < stay->until_ms ? next_ms : stay->until_ms, on_over);
}

static void on_over(struct loop_timer *timer)
{
	struct stay *stay = container_of(timer, struct stay, over);

	if (loop_now(stay->serve->loop) >= stay->until_ms ||
	    !console_is_reachable(stay->serve->console))
		end_lingering(stay);
	else
		look_again(stay);
}

static void on_end_defer(struct loop_defer *defer)
{
	end_lingering(container_of(defer, struct stay, end));
}

static void on_signal(struct loop_signal *signal, int signo)
{
	(void)signo;
	end_lingering(container_of(signal, struct end_signal, source)->stay);
}

/* Waits for the next client. */
static void linger(struct stay *stay)
{
	struct serve *serve = stay->serve;
	uint64_t until_ms = loop_now(serve->loop) + serve->settings->linger * 1000;
	struct err err;

	log_info("serve", "lingering");
	stay->until_ms = until_ms;
	look_again(stay);
	for (size_t i = 0; i < ARRAY_SIZE(end_signals); i++)
		if (loop_signal_start(serve->loop, &stay->signals[i].source, end_signals[i],
				      on_signal, &err) < 0)
			log_warn("serve", "%s", err.msg);
	console_linger(serve->console, until_ms);
}

/* Frees the client, which has gone, in a turn in which it is not in use. Waits for another one. */
static void on_leave(struct loop_defer *defer)
{
	struct stay *stay = container_of(defer, struct stay, leave);
	struct serve *serve = stay->serve;
	uint64_t read;

	if (!service_has_sessions(serve->service) || !console_is_reachable(serve->console)) {
		end_server(serve);
		return;
	}
	read = mcp_stdio_surely_read(serve->stdio);
	mcp_server_forget_client(serve->server);
	service_client_gone(serve->service, read);
	drop_client(serve);
	linger(stay);
}

static void on_adopt(void *data, int socket_fd, const int fds[HANDOVER_FDS])
{
	struct stay *stay = data;
	struct serve *serve = stay->serve;
	struct err err;

	stop_waiting(stay);
	stay->socket_fd = socket_fd;
	stay->in_fd = fds[HANDOVER_IN];
	stay->out_fd = fds[HANDOVER_OUT];
	relay_to(stay->relay, fds[HANDOVER_ERR]);
	handover_send_byte(socket_fd, HANDOVER_TAKEN);
	if (start_client(serve, stay->in_fd, stay->out_fd, &err) == 0)
		return;
	log_error("serve", "cannot serve: %s", err.msg);
	serve->unanswered = true;
	drop_client(serve);
	linger(stay);
}

/* The client leaves when its front has gone, or its end of stdin: open calls may still wait. */
static bool is_leaving(void *data)
{
	const struct stay *stay = data;
	struct pollfd ends[] = { { .fd = stay->socket_fd },
				 { .fd = stay->in_fd, .events = POLLRDHUP } };

	return poll(ends, ARRAY_SIZE(ends), 0) > 0;
}

/* Drops the client. Its calls end without answers, and their cells go on. */
static void on_leave_wanted(void *data)
{
	struct stay *stay = data;
	const size_t calls = mcp_server_live_calls(stay->serve->server);

	if (stay->serve->stdio == NULL)
		return;
	if (calls > 0)
		(void)fprintf(stderr,
			      "ptycell: %zu %s not answered: another host took the server over\n",
			      calls, calls == 1 ? "request was" : "requests were");
	stay->serve->unanswered = calls > 0;
	loop_defer_start(stay->serve->loop, &stay->leave, on_leave);
}

static void on_end_wanted(void *data)
{
	struct stay *stay = data;

	loop_defer_start(stay->serve->loop, &stay->end, on_end_defer);
}

static struct stay *stay_new(struct serve *serve, const struct serve_linger *linger,
			     const int fds[HANDOVER_FDS], struct err *err)
{
	struct stay *stay = xcalloc(1, sizeof(*stay));
	int err_fd = fd_dup(fds[HANDOVER_ERR], err);

	stay->serve = serve;
	stay->socket_fd = linger->socket_fd;
	stay->in_fd = fds[HANDOVER_IN];
	stay->out_fd = fds[HANDOVER_OUT];
	stay->reports = (struct console_linger){
		.likeness = linger->likeness,
		.adopt = on_adopt,
		.is_leaving = is_leaving,
		.leave = on_leave_wanted,
		.end = on_end_wanted,
		.data = stay,
	};
	if (err_fd >= 0)
		stay->relay = relay_new(serve->loop, err_fd, err);
	for (size_t i = 0; i < ARRAY_SIZE(end_signals); i++)
		stay->signals[i].stay = stay;
	if (stay->relay != NULL)
		return stay;
	free(stay);
	return NULL;
}

static uint64_t count_written(void *data)
{
	const struct serve *serve = data;

	return serve->stdio != NULL ? mcp_stdio_written(serve->stdio) : 0;
}

/* ---- life ---- */

static int start_serving(struct serve *serve, const struct policyfile *policy,
			 const struct serve_linger *linger, const int fds[HANDOVER_FDS],
			 struct err *err)
{
	const struct settings *settings = serve->settings;

	serve->limits = (struct mcp_limits){ .line_max = REQUEST_MAX,
					     .live_calls_max = LIVE_CALLS_MAX,
					     .listeners_max = LISTENERS_MAX };
	serve->loop = loop_new(clock_ms, err);
	if (serve->loop == NULL)
		return -1;
	if (linger != NULL && (serve->stay = stay_new(serve, linger, fds, err)) == NULL)
		return -1;
	serve->service = service_new(serve->loop, settings, policy);
	if (serve->stay != NULL)
		service_outlives_client(serve->service, count_written, serve);
	serve->features = *service_features(serve->service);
	resources_features(&serve->features);
	serve->server = mcp_server_new(serve->loop, &serve->features, &serve->limits, NULL);
	service_attach(serve->service, serve->server);
	serve->console = console_new(serve->service, serve->server,
				     serve->stay != NULL ? &serve->stay->reports : NULL);
	return start_client(serve, fds[HANDOVER_IN], fds[HANDOVER_OUT], err);
}

static void stay_free(struct stay *stay)
{
	if (stay == NULL)
		return;
	drop_client(stay->serve);
	stop_waiting(stay);
	relay_free(stay->relay);
	free(stay);
}

int serve_run(const struct settings *settings, const struct policyfile *policy,
	      const struct serve_linger *linger, const int fds[HANDOVER_FDS])
{
	struct serve serve = { .settings = settings };
	struct err err;
	int code;

	if (start_serving(&serve, policy, linger, fds, &err) < 0) {
		(void)fprintf(stderr, "ptycell: cannot serve: %s\n", err.msg);
		return EXIT_FAILURE;
	}
	log_set_sink(&(struct log_sink){ client_wants, send_to_client, &serve });
	loop_run(serve.loop);
	log_set_sink(NULL);
	code = exit_code(&serve);
	mcp_stdio_free(serve.stdio);
	serve.stdio = NULL;
	mcp_server_free(serve.server);
	service_free(serve.service);
	stay_free(serve.stay);
	loop_free(serve.loop);
	return code;
}
