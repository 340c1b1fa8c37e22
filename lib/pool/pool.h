/* SPDX-License-Identifier: MIT */
/*
 * spares.h - sandboxes that wait for sessions to come: when they are made, and how many.
 *
 * Of the first language from the first session on, of any other from its first use on, as many as
 * PTYCELL_SPARES says, for PTYCELL_SPARES_IDLE after the last session that could have had one. They
 * are made when nothing happens, so that nobody waits for them: the first one only after the first
 * answer, and what one imports is stopped as soon as a cell begins. At once its driver gets ready:
 * it answers cells to nobody, which each first cell would take milliseconds longer for. Imports
 * cost each session that gets them some 70 MB: there are none while less than a quarter of the
 * machine's memory is free, and all is dropped when memory runs short. Where a share may be written
 * there is none, only the parent below: a sandbox with that share holds names in it, a nursery has
 * no shares.
 *
 * Where sessions can be forked (pool/zygote.h), the parent comes first: as soon as something was
 * answered and no code runs, so that sessions which follow at once are its copies, though without
 * imports. Spares are its copies, too, made when it got ready, as that memory is then shared. It
 * imports in quiet moments and makes no copies meanwhile: so nothing stops that for long. When it
 * has imported what it is to, copies of what it was before wait no more, and others come in their
 * place.
 */
#ifndef POOL_POOL_H
#define POOL_POOL_H

#include "base/err.h"
#include "runner/host.h"

struct zygote;
struct slot;
struct pool;

enum {
	POOL_QUIET_MS = 100, /* nothing has happened for this long: one is started */
	POOL_LOAD_MS = 500,  /* and this: it imports */
	POOL_BUSY_MS = 1000, /* the same while a cell runs that goes on and on */
	POOL_LOOK_MS = 30000,
	POOL_COMING_MS = 100,     /* a parent is waited for, from its start on */
	POOL_LOAD_MAX_MS = 60000, /* of one import */
	POOL_STOP_MAX_MS = 300,   /* that an import of the parent stands still */
	POOL_FAILURES_MAX = 3,    /* in a row; then that language has none any more */
	POOL_FORGIVE_MS = 60000,  /* one of the parent after so long is the first in a row */
};

/*
 * `always` is wanted with every other language too; `meminfo` is the file for
 * pool_look_at_memory. Both and `host` are borrowed. Starts nothing.
 */
struct pool *pool_new(const struct session_host *host, const struct language *always,
		      const char *meminfo);
/* NULL is allowed. */
void pool_free(struct pool *pool);

/* All of these allow NULL: there are none. */

/*
 * A session begins whose first cell will be in this language. NULL when none is ready, nor has a
 * head start.
 */
struct slot *pool_take(struct pool *pool, const struct language *language);
/* The first session is about to begin: one is started now, in what confinement_assume said. */
void pool_start_first(struct pool *pool, const struct language *language);
/* What was foreseen is not what holds. */
void pool_drop(struct pool *pool);
/* A session begins with this language, or uses it for the first time. */
void pool_want(struct pool *pool, const struct language *language);
/* A cell began, ended, or did something else: whatever is made ahead waits. */
void pool_defer_work(struct pool *pool);

/*
 * For how many milliseconds at most a session of this language had better wait for
 * pool_on_zygote: none is ready, and what it could be a copy of serves in a moment. It is what
 * happens next: the parent is left alone until then.
 */
uint64_t pool_wait_ms(struct pool *pool, const struct language *language);
/* `told` comes from the loop when a parent serves, or failed. Before the first session. */
void pool_on_zygote(struct pool *pool, void (*changed)(void *data), void *data);
/* What new sessions of the first language are forked from, while it serves; or NULL. */
const struct zygote *pool_zygote(const struct pool *pool);

enum pool_memory { MEMORY_PLENTY, MEMORY_LITTLE, MEMORY_SHORT };

/* By the kernel's own account in this file (/proc/meminfo); plenty when unknown. */
enum pool_memory pool_look_at_memory(const char *path);

#endif
