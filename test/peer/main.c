/* SPDX-License-Identifier: MIT */
/* peer-server: a second server on lib/mcp, with the fixtures that the conformance suite wants. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "mcp/stdio.h"
#include "peer.h"

static void on_done(void *context, enum mcp_stdio_end end)
{
	struct peer *peer = context;

	(void)end;
	mcp_server_cancel_all(peer->server);
	peer_timers_stop(peer);
	loop_quit(peer->loop);
}

static int run(struct peer *peer, struct err *err)
{
	static const struct mcp_limits limits = { .line_max = 16 << 20,
						  .live_calls_max = 1024,
						  .listeners_max = 64 };
	struct mcp_stdio_options options = { .done = on_done, .context = peer };
	struct mcp_features features;
	struct mcp_stdio *stdio;

	if (mcp_stdio_take(&options.in_fd, &options.out_fd, err) < 0)
		return -1;
	peer->loop = loop_new(clock_ms, err);
	if (peer->loop == NULL)
		return -1;
	peer_features(peer, &features);
	peer->server = mcp_server_new(peer->loop, &features, &limits, NULL);
	stdio = mcp_stdio_new(peer->loop, peer->server, &options, err);
	if (stdio == NULL)
		return -1;
	loop_run(peer->loop);
	mcp_stdio_free(stdio);
	mcp_server_free(peer->server);
	loop_free(peer->loop);
	return 0;
}

int main(void)
{
	struct peer peer = { .server = NULL };
	struct err err;

	list_init(&peer.timers);
	if (run(&peer, &err) < 0) {
		(void)fprintf(stderr, "peer-server: %s\n", err.msg);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
