/* SPDX-License-Identifier: MIT */
/*
 * pool.h - the warm pool: sandboxes made ahead of the sessions that use them.
 *
 * For each language that sessions use, the pool has PTYCELL_SPARES slots: prestarted sandboxes,
 * each for one session. It ends them when no session of that language has begun for POOL_IDLE_MS.
 *
 * The pool works only in quiet moments, so that no caller waits for it. It makes the first slot
 * after the first answer. It stops a slot's imports as soon as a cell begins. A slot's driver first
 * warms up, by running cells that no caller sees.
 *
 * Imports cost each session some 70 MB. The pool imports nothing while less than a quarter of the
 * machine's memory is free. When memory runs short, it drops everything.
 *
 * Where sessions can be forked (zygote.h), the pool starts the zygote first, once an answer was
 * given and no code runs. A session that follows at once is forked from it, although without
 * imports. The zygote imports in quiet moments and forks nothing meanwhile, so such an import is
 * stopped for POOL_STOP_MAX_MS at most. Slots are forked from it once it is warm, so they share its
 * memory. When it has imported everything, the pool replaces slots that were forked before.
 *
 * Where a share is writable, the pool has the zygote only: a slot's sandbox would protect names in
 * that share before there is a session. The zygote sandbox has no shares.
 */
#ifndef POOL_POOL_H
#define POOL_POOL_H

#include "runner/host.h"

struct zygote;
struct slot;
struct pool;

enum {
	POOL_QUIET_MS = 100,  /* nothing has happened for this long: a slot is started */
	POOL_LOAD_MS = 500,   /* nothing has happened for this long: a slot imports */
	POOL_BUSY_MS = 1000,  /* in place of both while a cell runs that goes on and on */
	POOL_LOOK_MS = 30000, /* at most, between looks at the memory and at what is still wanted */
	POOL_IDLE_MS = 15 * 60 * 1000, /* no session has begun for this long: what waits is ended */
	POOL_ZYGOTE_WAIT_MS = 100, /* a session waits for a zygote, from the zygote's start on */
	POOL_LOAD_MAX_MS = 60000,  /* for one import */
	POOL_STOP_MAX_MS = 300,    /* for which cells stop an import of the zygote */
	POOL_FAILURES_MAX = 3,     /* in a row; then the pool gives that language up */
	POOL_FORGIVE_MS = 60000,   /* a failure after so long is the first in a row */
};

/*
 * Makes an empty pool. The language `always` is wanted with every other one; `meminfo` is the file
 * for pool_read_memory. Both and `host` are borrowed.
 */
struct pool *pool_new(const struct session_host *host, const struct language *always,
		      const char *meminfo);
/* Frees it. May be NULL. */
void pool_free(struct pool *pool);

/* The functions below allow a NULL pool, which has nothing. */

/*
 * Takes a slot for a session whose first cell will be in this language. Returns NULL when none is
 * ready or has a head start. The caller owns the slot.
 */
struct slot *pool_take(struct pool *pool, const struct language *language);
/* Starts a slot for the first session, confined as confinement_assume foresees. */
void pool_start_first(struct pool *pool, const struct language *language);
/* Drops everything: sessions are not confined as was foreseen, or memory is short. */
void pool_drop(struct pool *pool);
/* Notes that a session begins with this language, or uses it for the first time. */
void pool_want(struct pool *pool, const struct language *language);
/* Notes that a cell began, ended or did something: the pool's work waits. */
void pool_defer_work(struct pool *pool);

/*
 * Returns for how many milliseconds a session of this language should wait for pool_on_zygote. That
 * is 0 unless no slot is ready and the zygote serves in a moment. The zygote is not called away
 * until then.
 */
uint64_t pool_wait_ms(struct pool *pool, const struct language *language);
/*
 * Has `changed` called from the loop when a zygote serves or failed. Must precede the first
 * session.
 */
void pool_on_zygote(struct pool *pool, void (*changed)(void *data), void *data);
/* Returns the zygote of the first language, which may serve or not; NULL when there is none. */
const struct zygote *pool_zygote(const struct pool *pool);

enum pool_memory { MEMORY_PLENTY, MEMORY_LITTLE, MEMORY_SHORT };

/* Reads from a file like /proc/meminfo how much memory is available; plenty when unknown. */
enum pool_memory pool_read_memory(const char *path);

#endif
