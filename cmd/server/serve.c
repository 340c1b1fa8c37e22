/* SPDX-License-Identifier: MIT */
/*
 * serve.c - builds loop, service, MCP server and stdio, in this order, and runs the loop. When
 * stdin ends, a signal arrives or the host dies, open calls are cancelled, and the loop runs on
 * until the service has removed its sessions. The exit code reports requests whose answers did not
 * go out.
 */
#include "serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "event/loop.h"
#include "mcp/server.h"
#include "mcp/stdio.h"
#include "resources/resources.h"
#include "tools/service.h"

enum { LIVE_CALLS_MAX = 1024, LISTENERS_MAX = 64 };

struct serve {
	struct loop *loop;
	struct service *service;
	struct mcp_server *server;
	struct mcp_stdio *stdio;
	struct mcp_features features;
	struct mcp_limits limits;
	bool unanswered; /* the answer to some request did not go out */
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

static void on_end(void *context, enum mcp_stdio_end end)
{
	struct serve *serve = context;

	report_unanswered(serve, end);
	log_info("serve", "ending (%d)", (int)end);
	mcp_server_close_listeners(serve->server);
	mcp_server_cancel_all(serve->server);
	service_close(serve->service, on_closed, serve);
}

static int start_serving(struct serve *serve, const struct settings *settings,
			 const struct policyfile *policy, const int fds[2], struct err *err)
{
	const struct mcp_stdio_options options = { .in_fd = fds[0],
						   .out_fd = fds[1],
						   .drain = settings->drain,
						   .done = on_end,
						   .context = serve };

	serve->limits = (struct mcp_limits){ .line_max = settings->line_max,
					     .live_calls_max = LIVE_CALLS_MAX,
					     .listeners_max = LISTENERS_MAX };
	serve->loop = loop_new(clock_ms, err);
	if (serve->loop == NULL)
		return -1;
	serve->service = service_new(serve->loop, settings, policy);
	serve->features = *service_features(serve->service);
	resources_features(&serve->features);
	serve->server = mcp_server_new(serve->loop, &serve->features, &serve->limits, NULL);
	service_attach(serve->service, serve->server);
	serve->stdio = mcp_stdio_new(serve->loop, serve->server, &options, err);
	return serve->stdio == NULL ? -1 : 0;
}

int serve_run(const struct settings *settings, const struct policyfile *policy, int in_fd,
	      int out_fd)
{
	const int fds[2] = { in_fd, out_fd };
	struct serve serve = { .loop = NULL };
	struct err err;

	if (start_serving(&serve, settings, policy, fds, &err) < 0) {
		(void)fprintf(stderr, "ptycell: cannot serve: %s\n", err.msg);
		return EXIT_FAILURE;
	}
	loop_run(serve.loop);
	mcp_stdio_free(serve.stdio);
	mcp_server_free(serve.server);
	service_free(serve.service);
	loop_free(serve.loop);
	return serve.unanswered ? EXIT_FAILURE : EXIT_SUCCESS;
}
