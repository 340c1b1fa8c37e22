/* SPDX-License-Identifier: MIT */
/*
 * pool.c - does one thing at a time, from one timer: do_next_step finds the most useful next step
 * and when it is due. Every step waits until nothing has happened for a while, and pool_defer_work,
 * which each change of a session's state calls, moves that moment on. When everything is made, that
 * call costs one comparison.
 */
#include "pool/pool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "event/loop.h"
#include "pool/slot.h"
#include "pool/zygote.h"

/* Below this, or below an eighth of all memory if that is less, memory is short. */
#define MEMORY_KB_MIN ((uint64_t)1 << 20)

enum { SLOTS_MAX = 16, LINE_MAX_BYTES = 128 };

/* The slots of one language. */
struct language_slots {
	const struct language *language;
	struct slot *list[SLOTS_MAX];
	size_t count;
	uint64_t wanted_until_ms;
	unsigned int failures;
};

struct pool {
	const struct session_host *host;
	const struct language *always;
	const char *meminfo;
	struct language_slots languages[LANGUAGES_MAX];
	size_t language_count;
	struct loop_timer timer;
	uint64_t disturbed_ms;
	const struct slot *head_start; /* a slot that pool_start_first made, or NULL */
	enum pool_memory memory;       /* when it was read last */
	struct zygote *zygote;         /* NULL: sessions are not forked */
	unsigned int zygote_failures;  /* in a row */
	uint64_t zygote_start_ms;
	void (*zygote_changed)(void *data);
	void *zygote_changed_data;
	bool settled; /* it is decided whether there is a zygote */
	bool rested;  /* no session was busy once, so the first answer has been given */
	bool at_work; /* a step is left to be done, or under way */
};

static void on_timer(struct loop_timer *timer);

/* ---- memory ---- */

enum pool_memory pool_read_memory(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[LINE_MAX_BYTES];
	uint64_t total = 0;
	uint64_t available = UINT64_MAX;

	if (file == NULL)
		return MEMORY_PLENTY;
	while (fgets(line, sizeof(line), file) != NULL) {
		(void)!sscanf(line, "MemTotal: %" SCNu64, &total);
		(void)!sscanf(line, "MemAvailable: %" SCNu64, &available);
	}
	(void)fclose(file);
	if (available < MEMORY_KB_MIN && available < total / 8)
		return MEMORY_SHORT;
	return available < total / 4 ? MEMORY_LITTLE : MEMORY_PLENTY;
}

/* ---- slots of a language ---- */

static struct language_slots *slots_of(struct pool *pool, const struct language *language)
{
	struct language_slots *slots;

	for (size_t i = 0; i < pool->language_count; i++)
		if (pool->languages[i].language == language)
			return &pool->languages[i];
	if (pool->language_count == LANGUAGES_MAX)
		return NULL;
	slots = &pool->languages[pool->language_count++];
	slots->language = language;
	return slots;
}

static struct slot *take_at(struct pool *pool, struct language_slots *slots, size_t index)
{
	struct slot *slot = slots->list[index];

	if (slot == pool->head_start)
		pool->head_start = NULL;
	slots->list[index] = slots->list[--slots->count];
	return slot;
}

static void drop_all_of(struct pool *pool, struct language_slots *slots)
{
	while (slots->count > 0)
		slot_free(take_at(pool, slots, 0));
	if (slots->language == pool->always && pool->zygote != NULL)
		zygote_drop(pool->zygote);
}

/* ---- timing ---- */

static void schedule(struct pool *pool, uint64_t due_ms)
{
	loop_timer_start(pool->host->loop, &pool->timer, due_ms, on_timer);
}

static bool is_busy(const struct pool *pool)
{
	return pool->host->busy != NULL && pool->host->busy(pool->host->owner);
}

static void pause_all(const struct pool *pool, bool pause)
{
	/* Sessions that begin during an import are not forked, so it must not pause for long. */
	if (pool->zygote != NULL)
		zygote_pause(pool->zygote,
			     pause && zygote_loading_ms(pool->zygote) < POOL_STOP_MAX_MS);
	for (size_t i = 0; i < pool->language_count; i++)
		for (size_t j = 0; j < pool->languages[i].count; j++)
			slot_pause(pool->languages[i].list[j], pause);
}

/* Returns whether a zygote must be started, as soon as no caller waits for an answer. */
static bool lacks_zygote(const struct pool *pool)
{
	return pool->zygote_failures < POOL_FAILURES_MAX &&
	       (pool->zygote != NULL ? zygote_state(pool->zygote) == ZYGOTE_NONE : !pool->settled);
}

void pool_defer_work(struct pool *pool)
{
	if (pool == NULL || !pool->at_work)
		return;
	pool->disturbed_ms = loop_now(pool->host->loop);
	pause_all(pool, true);
	schedule(pool, pool->disturbed_ms + (lacks_zygote(pool) ? 0 : POOL_QUIET_MS));
}

static void want_language(struct pool *pool, const struct language *language)
{
	struct language_slots *slots = slots_of(pool, language);

	if (slots == NULL || slots->failures >= POOL_FAILURES_MAX)
		return;
	slots->wanted_until_ms = loop_now(pool->host->loop) + POOL_IDLE_MS;
	pool->at_work = true;
}

void pool_want(struct pool *pool, const struct language *language)
{
	if (pool == NULL)
		return;
	want_language(pool, pool->always);
	if (language != pool->always)
		want_language(pool, language);
	pool_defer_work(pool);
}

/* ---- slots ---- */

static void on_failure(struct pool *pool, struct language_slots *slots)
{
	slots->failures++;
	if (slots->failures < POOL_FAILURES_MAX)
		return;
	log_info("spares", "%s does not start ahead of its sessions, and is not tried again",
		 slots->language->name);
	slots->wanted_until_ms = 0;
	pool->at_work = true;
}

static void check_slot(struct pool *pool, struct language_slots *slots, size_t index)
{
	struct slot *slot = slots->list[index];

	if (slot_state(slot) == SLOT_DEAD) {
		slot_free(take_at(pool, slots, index));
		on_failure(pool, slots);
	} else if (slot_state(slot) == SLOT_WAITING && !slot_wants_load(slot)) {
		slots->failures = 0;
		log_info("spares", "%s is ready", slots->language->name);
	}
}

static void on_changed(struct slot *slot, void *data)
{
	struct pool *pool = data;
	struct language_slots *slots = slots_of(pool, slot_language(slot));

	for (size_t i = 0; slots != NULL && i < slots->count; i++)
		if (slots->list[i] == slot) {
			check_slot(pool, slots, i);
			break;
		}
	schedule(pool, loop_now(pool->host->loop));
}

static void start_one(struct pool *pool, struct language_slots *slots)
{
	struct err err;
	struct slot *slot = slot_new(pool->host, slots->language,
				     slots->language == pool->always ? pool->zygote : NULL,
				     on_changed, pool, &err);

	if (slot == NULL) {
		log_info("spares", "%s: %s", slots->language->name, err.msg);
		on_failure(pool, slots);
		return;
	}
	slots->list[slots->count++] = slot;
}

/* Returns when the next step is due, as things stand. */
static uint64_t due_at(const struct pool *pool, uint64_t quiet_ms, bool busy)
{
	return pool->disturbed_ms + (busy ? POOL_BUSY_MS : quiet_ms);
}

/* ---- the zygote ---- */

const struct zygote *pool_zygote(const struct pool *pool)
{
	return pool != NULL ? pool->zygote : NULL;
}

void pool_on_zygote(struct pool *pool, void (*changed)(void *data), void *data)
{
	if (pool == NULL)
		return;
	pool->zygote_changed = changed;
	pool->zygote_changed_data = data;
}

static void on_zygote_failure(struct pool *pool)
{
	pool->zygote_failures++;
	if (pool->zygote_failures == POOL_FAILURES_MAX)
		log_warn("spares", "sessions cannot be forked here, and start by themselves");
}

static void on_zygote_changed(void *data, bool failed)
{
	struct pool *pool = data;

	if (failed && loop_now(pool->host->loop) - pool->zygote_start_ms >= POOL_FORGIVE_MS)
		pool->zygote_failures = 0;
	if (failed)
		on_zygote_failure(pool);
	schedule(pool, loop_now(pool->host->loop));
	if (pool->zygote_changed != NULL)
		pool->zygote_changed(pool->zygote_changed_data);
}

static void start_zygote(struct pool *pool)
{
	struct err err;

	pool->zygote_start_ms = loop_now(pool->host->loop);
	if (zygote_start(pool->zygote, &err) == 0)
		return;
	log_info("spares", "no parent of sessions: %s", err.msg);
	on_zygote_failure(pool);
}

static bool hangs(const struct zygote *zygote)
{
	enum zygote_state state = zygote_state(zygote);

	return (state == ZYGOTE_STARTING || state == ZYGOTE_LOADING) &&
	       zygote_loading_ms(zygote) >= POOL_LOAD_MAX_MS;
}

/*
 * Starts the zygote, and waits until it serves; like do_next_step. It does not wait for a quiet
 * moment, because the next session can then be forked.
 */
static bool get_zygote(struct pool *pool, bool busy, uint64_t *ret_due_ms)
{
	uint64_t now = loop_now(pool->host->loop);

	if (!pool->settled)
		pool->zygote = zygote_new(pool->host, pool->always, on_zygote_changed, pool);
	pool->settled = true;
	if (pool->zygote == NULL || pool->zygote_failures >= POOL_FAILURES_MAX ||
	    zygote_state(pool->zygote) == ZYGOTE_SERVING)
		return false;
	if (hangs(pool->zygote)) {
		log_info("spares", "what sessions are forked from does not get ready");
		zygote_drop(pool->zygote);
		on_zygote_failure(pool);
	}
	if (zygote_state(pool->zygote) == ZYGOTE_LOADING)
		*ret_due_ms = pool->disturbed_ms + (busy ? POOL_STOP_MAX_MS : POOL_QUIET_MS);
	else
		*ret_due_ms = due_at(pool, 0, busy);
	if (now < *ret_due_ms)
		return true;
	if (lacks_zygote(pool))
		start_zygote(pool);
	else
		zygote_pause(pool->zygote, false); /* it reports by itself how it goes */
	if (zygote_state(pool->zygote) == ZYGOTE_NONE)
		*ret_due_ms = now + POOL_QUIET_MS;
	return true;
}

/* Has the zygote's driver warm up: what is forked then shares more memory and has less to do. */
static bool warm_up_zygote(struct pool *pool, bool busy, uint64_t *ret_due_ms)
{
	if (pool->zygote == NULL || zygote_state(pool->zygote) != ZYGOTE_SERVING ||
	    !zygote_wants_ready(pool->zygote))
		return false;
	*ret_due_ms = due_at(pool, POOL_QUIET_MS, busy);
	if (loop_now(pool->host->loop) >= *ret_due_ms)
		zygote_load(pool->zygote);
	return true;
}

/* Has the zygote import the next module. */
static bool load_zygote(struct pool *pool, bool busy, uint64_t *ret_due_ms)
{
	if (pool->zygote == NULL || zygote_state(pool->zygote) != ZYGOTE_SERVING ||
	    !zygote_wants_load(pool->zygote) || pool->memory != MEMORY_PLENTY)
		return false;
	*ret_due_ms = due_at(pool, POOL_LOAD_MS, busy);
	if (loop_now(pool->host->loop) >= *ret_due_ms)
		zygote_load(pool->zygote);
	return true;
}

/* Drops a slot whose import hangs: the language starts without it. */
static bool drop_hanging_load(struct pool *pool, struct language_slots *slots, size_t index)
{
	if (slot_loading_ms(slots->list[index]) < POOL_LOAD_MAX_MS)
		return false;
	slot_free(take_at(pool, slots, index));
	on_failure(pool, slots);
	return true;
}

/*
 * Returns how many slots to have. It is none with a writable share: a slot would put placeholders
 * for protected names there, which must not happen without a session.
 */
static uint64_t count_wanted(const struct pool *pool)
{
	return confinement_facts(pool->host->confinement).protects_shares
		       ? 0
		       : pool->host->settings->spares;
}

static void replace_slot(struct pool *pool, struct language_slots *slots, size_t index)
{
	slot_free(take_at(pool, slots, index));
	start_one(pool, slots);
}

/* Makes the next step of one slot, like do_next_step. */
static bool work_on_slot(struct pool *pool, struct language_slots *slots, size_t index, bool busy,
			 uint64_t *ret_due_ms)
{
	struct slot *slot = slots->list[index];
	bool outdated = slots->language == pool->always && slot_is_outdated(slot, pool->zygote);
	bool brief = outdated || slot_wants_ready(slot);
	uint64_t due_ms = due_at(pool, brief ? POOL_QUIET_MS : POOL_LOAD_MS, busy);
	bool is_due = loop_now(pool->host->loop) >= due_ms;

	*ret_due_ms = due_ms;
	if (outdated) {
		if (is_due)
			replace_slot(pool, slots, index);
		return true;
	}
	switch (slot_state(slot)) {
	case SLOT_STARTING:
	case SLOT_DEAD:
		return true; /* it reports by itself; a dead one in the next turn of the loop */
	case SLOT_LOADING:
		if (is_due)
			slot_pause(slot, false);
		return !is_due || !drop_hanging_load(pool, slots, index);
	case SLOT_WAITING:
		break;
	}
	if (!brief && (!slot_wants_load(slot) || pool->memory != MEMORY_PLENTY))
		return false;
	if (is_due)
		slot_load(slot);
	return true;
}

/*
 * Makes the next step of a language, like do_next_step. Until the zygote has imported everything, a
 * slot that was forked earlier is better than none.
 */
static bool work_on_language(struct pool *pool, struct language_slots *slots, bool busy,
			     uint64_t *ret_due_ms)
{
	if (slots->count < count_wanted(pool)) {
		*ret_due_ms = due_at(pool, POOL_QUIET_MS, busy);
		if (loop_now(pool->host->loop) >= *ret_due_ms)
			start_one(pool, slots);
		return true;
	}
	for (size_t i = 0; i < slots->count; i++)
		if (work_on_slot(pool, slots, i, busy, ret_due_ms))
			return true;
	return false;
}

/*
 * Makes the next step if it is due; `ret_due_ms` says when to come back. Returns false when nothing
 * is left to be done.
 */
static bool do_next_step(struct pool *pool, uint64_t *ret_due_ms)
{
	bool busy = is_busy(pool);
	struct err err;

	/* Before the tier is known there is only the first slot, whose confinement was foreseen. */
	if (confinement_check(pool->host->confinement, &err) < 0)
		return false;
	pool->rested = pool->rested || !busy;
	for (size_t i = 0; i < pool->language_count; i++) {
		struct language_slots *slots = &pool->languages[i];

		if (slots->wanted_until_ms <= loop_now(pool->host->loop))
			continue;
		if (!pool->rested) {
			*ret_due_ms = loop_now(pool->host->loop) + POOL_BUSY_MS;
			return true;
		}
		if (slots->language == pool->always &&
		    (get_zygote(pool, busy, ret_due_ms) || warm_up_zygote(pool, busy, ret_due_ms)))
			return true;
		if (work_on_language(pool, slots, busy, ret_due_ms))
			return true;
	}
	return load_zygote(pool, busy, ret_due_ms);
}

/*
 * Drops slots that are not wanted any more. Returns when to look again; 0 when nothing is wanted.
 */
static uint64_t drop_unwanted(struct pool *pool)
{
	uint64_t now = loop_now(pool->host->loop);
	uint64_t next_ms = 0;

	for (size_t i = 0; i < pool->language_count; i++) {
		uint64_t until_ms = pool->languages[i].wanted_until_ms;

		if (until_ms <= now)
			drop_all_of(pool, &pool->languages[i]);
		else if (next_ms == 0 || until_ms < next_ms)
			next_ms = until_ms;
	}
	return next_ms < now + POOL_LOOK_MS ? next_ms : now + POOL_LOOK_MS;
}

static void on_timer(struct loop_timer *timer)
{
	struct pool *pool = container_of(timer, struct pool, timer);
	uint64_t now = loop_now(pool->host->loop);
	uint64_t look_ms = drop_unwanted(pool);
	uint64_t due_ms = 0;

	pool->at_work = false;
	if (look_ms == 0)
		return;
	pool->memory = pool_read_memory(pool->meminfo);
	if (pool->memory == MEMORY_SHORT) {
		pool_drop(pool);
		log_info("spares", "memory is short: none waits");
	} else {
		pool->at_work = do_next_step(pool, &due_ms);
	}
	/* a step that is under way reports by itself */
	schedule(pool, pool->at_work && due_ms > now && due_ms < look_ms ? due_ms : look_ms);
}

/* ---- handover ---- */

/* How much of a start a slot saves, in rising order. */
enum worth { WORTH_NOTHING, WORTH_STARTED, WORTH_READY, WORTH_LOADED };

static enum worth worth_of_slot(const struct pool *pool, const struct slot *slot)
{
	if (slot_is_lost(slot))
		return WORTH_NOTHING;
	if (slot_state(slot) == SLOT_WAITING)
		return slot_wants_load(slot) || slot_is_outdated(slot, pool->zygote) ? WORTH_READY
										     : WORTH_LOADED;
	if (slot_state(slot) == SLOT_STARTING && slot == pool->head_start)
		return WORTH_STARTED;
	return WORTH_NOTHING;
}

/* Returns the index of the slot that saves most; `count` when none saves anything. */
static size_t find_best_slot(const struct pool *pool, const struct language_slots *slots)
{
	enum worth most = WORTH_NOTHING;
	size_t best = slots->count;

	for (size_t i = 0; i < slots->count; i++)
		if (worth_of_slot(pool, slots->list[i]) > most) {
			most = worth_of_slot(pool, slots->list[i]);
			best = i;
		}
	return best;
}

struct slot *pool_take(struct pool *pool, const struct language *language)
{
	struct language_slots *slots =
		pool != NULL && language != NULL ? slots_of(pool, language) : NULL;
	size_t best = slots != NULL ? find_best_slot(pool, slots) : 0;

	return slots != NULL && best < slots->count ? take_at(pool, slots, best) : NULL;
}

uint64_t pool_wait_ms(struct pool *pool, const struct language *language)
{
	const struct language_slots *slots =
		pool != NULL && language == pool->always ? slots_of(pool, language) : NULL;
	uint64_t since_ms;

	if (slots == NULL || find_best_slot(pool, slots) < slots->count || pool->zygote == NULL ||
	    !zygote_is_starting(pool->zygote))
		return 0;
	since_ms = zygote_loading_ms(pool->zygote);
	if (since_ms >= POOL_ZYGOTE_WAIT_MS)
		return 0;
	pool_defer_work(pool); /* otherwise it would be called away before it was of use */
	return POOL_ZYGOTE_WAIT_MS - since_ms;
}

void pool_start_first(struct pool *pool, const struct language *language)
{
	struct language_slots *slots = pool != NULL ? slots_of(pool, language) : NULL;

	if (slots == NULL || slots->count > 0)
		return;
	pool_want(pool, language); /* otherwise it would be dropped as unwanted */
	start_one(pool, slots);
	pool->head_start = slots->count > 0 ? slots->list[0] : NULL;
}

void pool_drop(struct pool *pool)
{
	for (size_t i = 0; pool != NULL && i < pool->language_count; i++)
		drop_all_of(pool, &pool->languages[i]);
}

/* ---- life ---- */

struct pool *pool_new(const struct session_host *host, const struct language *always,
		      const char *meminfo)
{
	struct pool *pool = xcalloc(1, sizeof(*pool));

	pool->host = host;
	pool->always = always;
	pool->meminfo = meminfo;
	return pool;
}

void pool_free(struct pool *pool)
{
	if (pool == NULL)
		return;
	loop_timer_stop(&pool->timer);
	pool_drop(pool);
	zygote_free(pool->zygote);
	free(pool);
}
