/* SPDX-License-Identifier: MIT */
/*
 * helper.h - one run of a helper program: a request in, progress and one result out.
 *
 * The request is one JSON object on its stdin. The reply comes on its stdout (see reply.h); it
 * shares our stderr. The helper gets an environment made for it, a session of its own, and no
 * descriptors but these and the listed ones. Nothing here blocks, except where said. Everything
 * that a helper sends is data of an untrusted program.
 */
#ifndef HELPER_HELPER_H
#define HELPER_HELPER_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "event/loop.h"

struct helper;

struct helper_spec {
	const char *path; /* from helper_locate */
	const json_t *request;
	char *const *envp; /* the whole environment; NULL for a minimal one */
	const int *fds;    /* become 3, 4, ... */
	size_t fd_count;   /* at most HELPER_FDS_MAX */
	uint64_t quiet_ms; /* if it sends nothing for so long, it is killed; 0: it may be silent for
			      ever */
};

enum { HELPER_FDS_MAX = 8 };

/*
 * Both are called from the loop. `done` is called once, last, when the process has ended or was
 * given up. `progress` must not call helper_free. `done` may; for a helper with `quiet_ms` it must.
 */
struct helper_handlers {
	void (*progress)(struct helper *helper, const json_t *progress); /* may be NULL */
	/* Either `result` (borrowed for the call) or `err` is NULL. */
	void (*done)(struct helper *helper, const json_t *result, const struct err *err);
};

/*
 * Returns the path of the helper program `name`: beside this program's binary, else in
 * ../libexec/ptycell/. The caller frees it. Returns NULL and sets ERR_NOT_FOUND, which names both
 * places. The program is held open from then on, so that it can be started after its file was
 * removed.
 */
char *helper_locate(const char *name, struct err *err) MUST_CHECK;
/*
 * Returns a descriptor of the program found as `path`, for exec only; -1 if none was found.
 * Borrowed for ever.
 */
int helper_held(const char *path);
/*
 * Starts a helper and sends the request. `handlers` is borrowed until helper_free, everything else
 * for the call. Returns NULL and sets *err.
 */
struct helper *helper_start(struct loop *loop, const struct helper_spec *spec,
			    const struct helper_handlers *handlers, void *data,
			    struct err *err) MUST_CHECK;
/* Returns the `data` of helper_start. */
void *helper_data(const struct helper *helper);
/*
 * Sends a further request to a helper that stays. Its answer comes as progress, and the maxima of
 * reply.h count anew. The request is lost if the program has ended, which `done` reports.
 */
void helper_send(struct helper *helper, const json_t *request);
/* Asks the helper to stop (SIGTERM). `done` follows, with the result that it still sends. */
void helper_cancel(struct helper *helper);
/* Kills the helper if it still runs, and frees it. No handler is called after this. May be NULL. */
void helper_free(struct helper *helper);
/*
 * Frees the helper after waiting up to `wait_ms` for its end, and then lets it run on. It is killed
 * only if it hangs: one with `quiet_ms` that has sent nothing for 30 s. For the end of the server,
 * which then has nothing else to do. Returns true if the helper ended by itself in that time
 * with a result, and reported no failure and nothing that is to be tried "again". May be NULL.
 */
bool helper_leave(struct helper *helper, int wait_ms);

#endif
