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
 * There are two ways to end:
 *
 *   - At the end of the input, accepted requests are still answered, however long their calls take.
 *     After that the server gives up a client that takes no output for ten seconds, except with
 *     `drain` and with a regular file as stdin.
 *   - A signal (TERM, INT, HUP), the end of the parent and a closed stdout end the server at once.
 *
 * The parent is polled every two seconds. PR_SET_PDEATHSIG is not used: it fires when the parent's
 * *thread* ends (prctl(2)), and hosts start servers from worker threads.
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
	MCP_STDIO_ORPHANED, /* the parent or the owner has ended */
};

struct mcp_stdio_options {
	int in_fd; /* borrowed */
	int out_fd;
	int owner_fd; /* 0: none; else a connection to the process that stands for the client: its
			 end is awaited in place of the parent's. Nothing is read from it. */
	bool drain;
	void (*ended)(void *context); /* the input has ended; or NULL */
	/*
	 * Called once, from the loop. Nothing is read after it; queued output is still written.
	 * Further signals stay pending.
	 */
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
/* Returns how many bytes were written for this client, taken or not. */
uint64_t mcp_stdio_written(const struct mcp_stdio *stdio);
/*
 * Returns how many of them the client has read for certain, without those that came after the end
 * of its input: a host that ends does not use its answers any more.
 */
uint64_t mcp_stdio_surely_read(const struct mcp_stdio *stdio);
/* Returns the number of bytes that the client has not taken yet. */
size_t mcp_stdio_pending(const struct mcp_stdio *stdio);

#endif
