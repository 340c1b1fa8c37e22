/* SPDX-License-Identifier: MIT */
/*
 * stdio.h - runs an mcp_server on a process's stdin and stdout, from start to end.
 *
 * mcp_stdio_take must be the first act of main. It moves both ends to private close-on-exec
 * descriptors and leaves /dev/null as 0 and stderr as 1, so that no library and no child can read
 * or spoil the protocol.
 *
 * Reading never waits for a tool. It pauses while the client does not take our output. If stdin is
 * a regular file, it also pauses while many calls are live, because a file delivers everything at
 * once.
 *
 * After the end of input, accepted requests are still answered, however long their calls take; each
 * call ends by itself. A client that takes no output for ten seconds is then given up, except with
 * `drain` or a regular file as stdin. A signal (TERM, INT, HUP), an ended parent and a closed
 * stdout end the server at once. PR_SET_PDEATHSIG is not used: it fires when the parent's *thread*
 * ends (prctl(2)), and hosts start servers from worker threads. The parent is polled every two
 * seconds instead.
 */
#ifndef MCP_STDIO_H
#define MCP_STDIO_H

#include "base/err.h"
#include "event/loop.h"
#include "mcp/server.h"

struct mcp_stdio;

enum mcp_stdio_end {
	MCP_STDIO_EOF,    /* end of input, and everything that could be answered was */
	MCP_STDIO_CLOSED, /* stdout has no reader */
	MCP_STDIO_SIGNAL,
	MCP_STDIO_ORPHANED, /* the parent has ended */
};

struct mcp_stdio_options {
	int in_fd; /* borrowed */
	int out_fd;
	bool drain;
	/* Called once, from the loop. Nothing is read after it; queued output is still written. */
	void (*done)(void *context, enum mcp_stdio_end end);
	void *context;
};

/* Takes both ends from 0 and 1. Returns 0, or -1 and sets *err. The caller owns the descriptors. */
int mcp_stdio_take(int *ret_in_fd, int *ret_out_fd, struct err *err) MUST_CHECK;
/*
 * Takes over the server's output. `options` is copied; the server is borrowed until mcp_stdio_free.
 * Returns NULL and sets *err.
 */
struct mcp_stdio *mcp_stdio_new(struct loop *loop, struct mcp_server *server,
				const struct mcp_stdio_options *options,
				struct err *err) MUST_CHECK;
/* Drops output that the client did not take. Must be called before mcp_server_free. May be NULL. */
void mcp_stdio_free(struct mcp_stdio *stdio);
/*
 * Returns the errno of writing stdout for which answers were lost; 0 for none, or if the client
 * ended.
 */
int mcp_stdio_output_error(const struct mcp_stdio *stdio);
/*
 * Returns the errno of reading stdin for which requests may be lost; 0 for none, or if the client
 * ended.
 */
int mcp_stdio_input_error(const struct mcp_stdio *stdio);
/* Returns the number of bytes that the client has not taken yet. */
size_t mcp_stdio_pending(const struct mcp_stdio *stdio);

#endif
