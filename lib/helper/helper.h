/* SPDX-License-Identifier: MIT */
/*
 * helper.h - one run of a helper program: an order in, progress and one result out.
 *
 * The order is one JSON object on its stdin, the answer comes on its stdout (see reply.h), its
 * stderr is ours. It gets a constructed environment, its own session, and no descriptor but these
 * and the ones listed. Nothing here blocks. What a helper says is data of an untrusted program.
 */
#ifndef HELPER_HELPER_H
#define HELPER_HELPER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "event/loop.h"

struct helper;

struct helper_spec {
	const char *path; /* from helper_locate */
	const json_t *order;
	char *const *envp; /* the whole environment; NULL for a minimal one */
	const int *fds;    /* become 3, 4, ... */
	size_t fd_count;   /* at most HELPER_FDS_MAX */
	uint64_t quiet_ms; /* killed when it says nothing for so long; 0: it may be as silent as it
			      likes */
};

enum { HELPER_FDS_MAX = 8 };

/*
 * Both run from the loop; `done` once, last, when the process has ended or was given up: only it
 * may free, and of one with `quiet_ms` has to.
 */
struct helper_handlers {
	void (*progress)(struct helper *helper, const json_t *progress); /* may be NULL */
	/* Either `result` (borrowed for the call) or `err` is NULL. */
	void (*done)(struct helper *helper, const json_t *result, const struct err *err);
};

/*
 * The path of the helper program `name`: beside this program's binary, else in
 * ../libexec/ptycell/. The caller frees it. NULL with ERR_NOT_FOUND, naming both places. What was
 * found once is held open: it can be started, too, when its file has been removed.
 */
char *helper_locate(const char *name, struct err *err) MUST_CHECK;
/* The program that was found as `path`, for exec only; -1 when it was not. */
int helper_held(const char *path);
/* All is borrowed for the call but `handlers`, which is until free. */
struct helper *helper_start(struct loop *loop, const struct helper_spec *spec,
			    const struct helper_handlers *handlers, void *data,
			    struct err *err) MUST_CHECK;
/* The `data` it was started with. */
void *helper_data(const struct helper *helper);
/*
 * A further order, for a program that is kept. Its answer comes as progress, and the caps of
 * reply.h count anew. Lost when the program has ended: `done` tells.
 */
void helper_send(struct helper *helper, const json_t *order);
/* Asks it to stop (SIGTERM); `done` follows with what it still says. */
void helper_cancel(struct helper *helper);
/* Kills it when it still runs; no handler runs after this. NULL is allowed. */
void helper_free(struct helper *helper);
/*
 * As helper_free, but waits up to `wait_ms` for its end and then lets it go on, unless it hangs:
 * one with `quiet_ms` that has said nothing for 30 s. For the end of the server, which has nothing
 * else to do then.
 */
void helper_leave(struct helper *helper, int wait_ms);

#endif
