/* SPDX-License-Identifier: MIT */
/* console_internal.h - shared by the commands of a console. */
#ifndef CONSOLE_CONSOLE_INTERNAL_H
#define CONSOLE_CONSOLE_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "console/console.h"
#include "control/listener.h"
#include "tools/service.h"

struct offer;

struct console {
	struct service *service;
	const struct mcp_server *server;
	struct service_observer observer;
	struct listener *listener; /* NULL: none yet, or it could not be made */
	bool tried;
	uint64_t began_ms;
	struct list watchers; /* commands that watch, console_watch.c */
	struct list taps;     /* what they watch */
	struct loop_timer flush;
	const struct console_linger *linger; /* NULL: it ends with its client */
	uint64_t until_ms;                   /* 0: the server has a client */
	bool leaving;                        /* the client sends no more */
	uint64_t left_ms;                    /* since when; by clock_ms() */
	struct list wants;                   /* sessions that others want, console_linger.c */
	struct loop_timer want;
	struct offer *offer; /* the front that is handing over; or NULL */
	char *typed;         /* the session and cell of the last notice about typing; or NULL */
};

/*
 * Returns the session that a request names. Returns NULL and sets *err as table_find does, or for
 * a wrong request.
 */
struct session *console_find(const struct console *console, const json_t *request,
			     struct err *err) MUST_CHECK;
/* console_ps.c: describes the server and its sessions. */
void console_ps(struct console *console, struct peer *peer, const json_t *request);
/* console_stop.c: end a session, or interrupt its cells. */
void console_stop(struct console *console, struct peer *peer, const json_t *request);
void console_interrupt(struct console *console, struct peer *peer, const json_t *request);
/* console_watch.c: sends the output of sessions as it comes. */
void console_watch(struct console *console, struct peer *peer, const json_t *request);
/* Forgets the watcher of a peer that is gone, if it was one. */
void console_watch_gone(struct console *console, const struct peer *peer);
/* Forgets all watchers, as the server ends. */
void console_watch_end(struct console *console);
/* console_linger.c: a front takes the server over, or the user ends it. */
void console_adopt(struct console *console, struct peer *peer, const json_t *request);
void console_end(struct console *console, struct peer *peer, const json_t *request);
/* Ends an idle session of a server without a client, for the server that wants it. */
void console_release(struct console *console, struct peer *peer, const json_t *request);
/* Asks the other servers to release a session. No answer is awaited. */
void console_want(void *data, const char *id, uint64_t until_ms);
void console_forget_wants(struct console *console);
/* Drops a front that has not handed over. */
void console_forget_offer(struct console *console);
/* console_type.c: types into the cell that runs. */
void console_type(struct console *console, struct peer *peer, const json_t *request);

#endif
