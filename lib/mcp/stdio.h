/* SPDX-License-Identifier: MIT */
/*
 * stdio.h - an mcp_server on a process's stdin and stdout, from start to end.
 *
 * mcp_stdio_take is the first act of main: it moves both ends to private close-on-exec
 * descriptors and leaves /dev/null as 0 and stderr as 1, so that no library and no child can eat
 * or spoil the protocol.
 *
 * Reading never waits for a tool. It pauses while the client does not take our output and, from a
 * regular file (which has no end of patience), while many calls are live.
 *
 * After the end of input accepted requests are still answered, as long as their calls take: each
 * ends by itself. A client that takes no answer for ten seconds is given up then, but for `drain`
 * and a regular file as stdin. A signal (TERM, INT, HUP), a parent that has gone and a closed
 * stdout end at once. PR_SET_PDEATHSIG is not used: it fires when the parent's *thread* ends, and
 * hosts spawn from worker threads; the parent is looked at every two seconds.
 */
#ifndef MCP_STDIO_H
#define MCP_STDIO_H

#include "base/err.h"
#include "event/loop.h"
#include "mcp/server.h"

struct mcp_stdio;

enum mcp_stdio_end {
	MCP_STDIO_EOF,    /* end of input, and what could be answered was */
	MCP_STDIO_CLOSED, /* nobody reads stdout */
	MCP_STDIO_SIGNAL,
	MCP_STDIO_ORPHANED, /* the parent has gone */
};

struct mcp_stdio_options {
	int in_fd; /* borrowed */
	int out_fd;
	bool drain;
	/* Once, from the loop. Nothing is read after it; what is written still goes out. */
	void (*done)(void *context, enum mcp_stdio_end end);
	void *context;
};

int mcp_stdio_take(int *ret_in_fd, int *ret_out_fd, struct err *err) MUST_CHECK;
/*
 * Takes over the server's output. `options` is copied; the server is borrowed until free. NULL:
 * the kernel refused.
 */
struct mcp_stdio *mcp_stdio_new(struct loop *loop, struct mcp_server *server,
				const struct mcp_stdio_options *options,
				struct err *err) MUST_CHECK;
/* Before the server is freed; drops output that the client did not take. NULL is allowed. */
void mcp_stdio_free(struct mcp_stdio *stdio);
/* The errno for which answers were lost: of writing stdout; 0: none, or the client has gone. */
int mcp_stdio_output_error(const struct mcp_stdio *stdio);
/* The errno for which requests may be: of reading stdin; 0: as above. */
int mcp_stdio_input_error(const struct mcp_stdio *stdio);
/* Bytes that the client has not taken yet. */
size_t mcp_stdio_pending(const struct mcp_stdio *stdio);

#endif
