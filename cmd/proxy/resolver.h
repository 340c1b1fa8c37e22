/* SPDX-License-Identifier: MIT */
/*
 * resolver.h - names to addresses without waiting: a process of its own that asks the C library,
 * one short-lived child a question.
 *
 * So a name means here what it means on the person's machine (hosts file, split DNS, resolved),
 * a slow answer holds nobody up, and the process that reads a session's bytes can open no file.
 * Names are looked up as they are: search domains are never appended.
 */
#ifndef PROXY_RESOLVER_H
#define PROXY_RESOLVER_H

#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "event/loop.h"
#include "net/host.h"

enum {
	RESOLVER_ADDRESSES_MAX = 16,
	RESOLVER_SECONDS = 10, /* for one question */
};

struct resolver_answer {
	uint32_t id; /* of the question */
	uint32_t count;
	struct sockaddr_storage addresses[RESOLVER_ADDRESSES_MAX]; /* in the order to try them */
};

/*
 * Starts the process, which ends with the channel, and returns our end. Call it before anything
 * else is opened or confined.
 */
int resolver_spawn(struct err *err) MUST_CHECK;
/* Never blocks. ERR_BUSY when the process does not keep up. */
int resolver_ask(int channel, uint32_t id, const char *host, uint16_t port,
		 struct err *err) MUST_CHECK;
/* 1 with an answer, 0 when there is none now, -1 when the process has ended. */
int resolver_take(int channel, struct resolver_answer *ret_answer) MUST_CHECK;

#endif
