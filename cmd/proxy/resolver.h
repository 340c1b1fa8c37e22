/* SPDX-License-Identifier: MIT */
/*
 * resolver.h - resolves names without blocking: a process of its own asks the C library, with one
 * short-lived child for each question.
 *
 * A name therefore means the same as elsewhere on the user's machine (hosts file, split DNS,
 * resolved). A slow lookup delays no other one, and the process that reads a session's bytes can
 * open no file. Search domains are never appended to a name.
 */
#ifndef PROXY_RESOLVER_H
#define PROXY_RESOLVER_H

#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"

enum {
	RESOLVER_ADDRESSES_MAX = 16,
	RESOLVER_SECONDS = 10, /* for one question */
};

struct resolver_answer {
	uint32_t id; /* of the question */
	uint32_t count;
	/* in the order in which to try them */
	struct sockaddr_storage addresses[RESOLVER_ADDRESSES_MAX];
};

/*
 * Starts the process and returns our end of its channel. It ends with the channel. Must be called
 * before anything else is opened or locked down. Returns -1 and sets *err.
 */
int resolver_spawn(struct err *err) MUST_CHECK;
/*
 * Sends a question; never blocks. Returns -1 and sets *err: ERR_BUSY when the process does not keep
 * up.
 */
int resolver_ask(int channel, uint32_t id, const char *host, uint16_t port,
		 struct err *err) MUST_CHECK;
/* Returns 1 with an answer, 0 when there is none yet, -1 when the process has ended. */
int resolver_take(int channel, struct resolver_answer *ret_answer) MUST_CHECK;

#endif
