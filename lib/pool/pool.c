/* SPDX-License-Identifier: MIT */
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

/* With less than this it is short, or an eighth of all there is, whichever is less. */
#define MEMORY_KB_MIN ((uint64_t)1 << 20)

enum { ROW_SPARES_MAX = 16, LINE_MAX_BYTES = 128 };

/* Those of one language. */
struct row {
	const struct language *language;
	struct slot *spares[ROW_SPARES_MAX];
	size_t count;
	uint64_t wanted_until_ms;
	unsigned int failures;
};

struct pool {
	const struct session_host *host;
	const struct language *always;
	const char *meminfo;
	struct row rows[LANGUAGES_MAX];
	size_t row_count;
	struct loop_timer timer;
	uint64_t disturbed_ms;
	const struct slot *head_start; /* in a row, or NULL */
	enum pool_memory memory;       /* at the last look */
	struct zygote *parent;         /* NULL: sessions are not forked */
	unsigned int parent_failures;  /* in a row */
	uint64_t parent_start_ms;
	void (*parent_told)(void *data);
	void *parent_told_data;
	bool settled; /* whether there is a parent */
	bool rested;  /* nobody was busy once: the first answer has been given */
	bool at_work; /* something is left to be done, or under way */
};

static void on_timer(struct loop_timer *timer);

/* ---- memory ---- */

enum pool_memory pool_look_at_memory(const char *path)
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

/* ---- rows ---- */

static struct row *row_of(struct pool *s, const struct language *language)
{
	struct row *row;

	for (size_t i = 0; i < s->row_count; i++)
		if (s->rows[i].language == language)
			return &s->rows[i];
	if (s->row_count == LANGUAGES_MAX)
		return NULL;
	row = &s->rows[s->row_count++];
	row->language = language;
	return row;
}

static struct slot *take_at(struct pool *s, struct row *row, size_t index)
{
	struct slot *spare = row->spares[index];

	if (spare == s->head_start)
		s->head_start = NULL;
	row->spares[index] = row->spares[--row->count];
	return spare;
}

static void drop_all_of(struct pool *s, struct row *row)
{
	while (row->count > 0)
		slot_free(take_at(s, row, 0));
	if (row->language == s->always && s->parent != NULL)
		zygote_drop(s->parent);
}

/* ---- when ---- */

static void schedule(struct pool *s, uint64_t due_ms)
{
	loop_timer_start(s->host->loop, &s->timer, due_ms, on_timer);
}

static bool is_busy(const struct pool *s)
{
	return s->host->busy != NULL && s->host->busy(s->host->owner);
}

static void pause_all(const struct pool *s, bool pause)
{
	/* Who comes while it imports is no copy. */
	if (s->parent != NULL)
		zygote_pause(s->parent, pause && zygote_loading_ms(s->parent) < POOL_STOP_MAX_MS);
	for (size_t i = 0; i < s->row_count; i++)
		for (size_t j = 0; j < s->rows[i].count; j++)
			slot_pause(s->rows[i].spares[j], pause);
}

/* It is to be started as soon as nobody waits for an answer. */
static bool lacks_parent(const struct pool *s)
{
	return s->parent_failures < POOL_FAILURES_MAX &&
	       (s->parent != NULL ? zygote_state(s->parent) == ZYGOTE_NONE : !s->settled);
}

void pool_defer_work(struct pool *s)
{
	if (s == NULL || !s->at_work)
		return;
	s->disturbed_ms = loop_now(s->host->loop);
	pause_all(s, true);
	schedule(s, s->disturbed_ms + (lacks_parent(s) ? 0 : POOL_QUIET_MS));
}

static void want(struct pool *s, const struct language *language)
{
	struct row *row = row_of(s, language);

	if (row == NULL || row->failures >= POOL_FAILURES_MAX)
		return;
	row->wanted_until_ms = loop_now(s->host->loop) + s->host->settings->spares_idle * 1000;
	s->at_work = true;
}

void pool_want(struct pool *s, const struct language *language)
{
	if (s == NULL)
		return;
	want(s, s->always);
	if (language != s->always)
		want(s, language);
	pool_defer_work(s);
}

/* ---- what ---- */

static void on_failure(struct pool *s, struct row *row)
{
	row->failures++;
	if (row->failures < POOL_FAILURES_MAX)
		return;
	log_info("spares", "%s does not start ahead of its sessions, and is not tried again",
		 row->language->name);
	row->wanted_until_ms = 0;
	s->at_work = true;
}

static void judge(struct pool *s, struct row *row, size_t index)
{
	struct slot *spare = row->spares[index];

	if (slot_state(spare) == SLOT_DEAD) {
		slot_free(take_at(s, row, index));
		on_failure(s, row);
	} else if (slot_state(spare) == SLOT_WAITING && !slot_wants_load(spare)) {
		row->failures = 0;
		log_info("spares", "%s is ready", row->language->name);
	}
}

static void on_changed(struct slot *spare, void *data)
{
	struct pool *s = data;
	struct row *row = row_of(s, slot_language(spare));

	for (size_t i = 0; row != NULL && i < row->count; i++)
		if (row->spares[i] == spare) {
			judge(s, row, i);
			break;
		}
	schedule(s, loop_now(s->host->loop));
}

static void start_one(struct pool *s, struct row *row)
{
	struct err err;
	struct slot *spare =
		slot_new(s->host, row->language, row->language == s->always ? s->parent : NULL,
			 on_changed, s, &err);

	if (spare == NULL) {
		log_info("spares", "%s: %s", row->language->name, err.msg);
		on_failure(s, row);
		return;
	}
	row->spares[row->count++] = spare;
}

/* When it may go on, as things stand; later than now: not yet. */
static uint64_t due(const struct pool *s, uint64_t quiet_ms, bool busy)
{
	return s->disturbed_ms + (busy ? POOL_BUSY_MS : quiet_ms);
}

/* ---- the parent ---- */

const struct zygote *pool_zygote(const struct pool *s)
{
	return s != NULL ? s->parent : NULL;
}

void pool_on_zygote(struct pool *s, void (*told)(void *data), void *data)
{
	if (s == NULL)
		return;
	s->parent_told = told;
	s->parent_told_data = data;
}

static void on_parent_failure(struct pool *s)
{
	s->parent_failures++;
	if (s->parent_failures == POOL_FAILURES_MAX)
		log_warn("spares", "sessions cannot be forked here, and start by themselves");
}

static void on_parent_changed(void *data, bool failed)
{
	struct pool *s = data;

	if (failed && loop_now(s->host->loop) - s->parent_start_ms >= POOL_FORGIVE_MS)
		s->parent_failures = 0;
	if (failed)
		on_parent_failure(s);
	schedule(s, loop_now(s->host->loop));
	if (s->parent_told != NULL)
		s->parent_told(s->parent_told_data);
}

static void start_parent(struct pool *s)
{
	struct err err;

	s->parent_start_ms = loop_now(s->host->loop);
	if (zygote_start(s->parent, &err) == 0)
		return;
	log_info("spares", "no parent of sessions: %s", err.msg);
	on_parent_failure(s);
}

static bool hangs(const struct zygote *parent)
{
	enum zygote_state state = zygote_state(parent);

	return (state == ZYGOTE_STARTING || state == ZYGOTE_LOADING) &&
	       zygote_loading_ms(parent) >= POOL_LOAD_MAX_MS;
}

/*
 * Until it serves, as work_on below. No quiet moment is waited for to start it: who comes next is
 * its copy.
 */
static bool get_parent(struct pool *s, bool busy, uint64_t *ret_due_ms)
{
	uint64_t now = loop_now(s->host->loop);

	if (!s->settled)
		s->parent = zygote_new(s->host, s->always, on_parent_changed, s);
	s->settled = true;
	if (s->parent == NULL || s->parent_failures >= POOL_FAILURES_MAX ||
	    zygote_state(s->parent) == ZYGOTE_SERVING)
		return false;
	if (hangs(s->parent)) {
		log_info("spares", "what sessions are forked from does not get ready");
		zygote_drop(s->parent);
		on_parent_failure(s);
	}
	if (zygote_state(s->parent) == ZYGOTE_LOADING)
		*ret_due_ms = s->disturbed_ms + (busy ? POOL_STOP_MAX_MS : POOL_QUIET_MS);
	else
		*ret_due_ms = due(s, 0, busy);
	if (now < *ret_due_ms)
		return true;
	if (lacks_parent(s))
		start_parent(s);
	else
		zygote_pause(s->parent, false); /* it tells by itself how it goes on */
	if (zygote_state(s->parent) == ZYGOTE_NONE)
		*ret_due_ms = now + POOL_QUIET_MS;
	return true;
}

/* Likewise: what is forked from it then has more memory in common with it, and has less to do. */
static bool make_parent_ready(struct pool *s, bool busy, uint64_t *ret_due_ms)
{
	if (s->parent == NULL || zygote_state(s->parent) != ZYGOTE_SERVING ||
	    !zygote_wants_ready(s->parent))
		return false;
	*ret_due_ms = due(s, POOL_QUIET_MS, busy);
	if (loop_now(s->host->loop) >= *ret_due_ms)
		zygote_load(s->parent);
	return true;
}

/* Its next import, likewise. */
static bool load_parent(struct pool *s, bool busy, uint64_t *ret_due_ms)
{
	if (s->parent == NULL || zygote_state(s->parent) != ZYGOTE_SERVING ||
	    !zygote_wants_load(s->parent) || s->memory != MEMORY_PLENTY)
		return false;
	*ret_due_ms = due(s, POOL_LOAD_MS, busy);
	if (loop_now(s->host->loop) >= *ret_due_ms)
		zygote_load(s->parent);
	return true;
}

/* An import that hangs: without it the language starts as ever. */
static bool give_up_load(struct pool *s, struct row *row, size_t index)
{
	if (slot_loading_ms(row->spares[index]) < POOL_LOAD_MAX_MS)
		return false;
	slot_free(take_at(s, row, index));
	on_failure(s, row);
	return true;
}

/* Names that are held in a folder of the person's are in the way: not without a session. */
static uint64_t count_wanted(const struct pool *s)
{
	return confinement_facts(s->host->confinement).holds_names ? 0 : s->host->settings->spares;
}

static void replace(struct pool *s, struct row *row, size_t index)
{
	slot_free(take_at(s, row, index));
	start_one(s, row);
}

/* What is to be done with one that is there, as work_on below. */
static bool work_on_one(struct pool *s, struct row *row, size_t index, bool busy,
			uint64_t *ret_due_ms)
{
	struct slot *spare = row->spares[index];
	bool outdated = row->language == s->always && slot_is_outdated(spare, s->parent);
	bool brief = outdated || slot_wants_ready(spare);
	uint64_t due_ms = due(s, brief ? POOL_QUIET_MS : POOL_LOAD_MS, busy);
	bool is_due = loop_now(s->host->loop) >= due_ms;

	*ret_due_ms = due_ms;
	if (outdated) {
		if (is_due)
			replace(s, row, index);
		return true;
	}
	switch (slot_state(spare)) {
	case SLOT_STARTING:
	case SLOT_DEAD:
		return true; /* it tells by itself, a dead one when the loop turns */
	case SLOT_LOADING:
		if (is_due)
			slot_pause(spare, false);
		return !is_due || !give_up_load(s, row, index);
	case SLOT_WAITING:
		break;
	}
	if (!brief && (!slot_wants_load(spare) || s->memory != MEMORY_PLENTY))
		return false;
	if (is_due)
		slot_load(spare);
	return true;
}

/*
 * The next thing to be done for this row, one at a time; `ret_due_ms` says when to come back. One
 * that is forked before its parent has imported all is better than none, until then.
 */
static bool work_on(struct pool *s, struct row *row, bool busy, uint64_t *ret_due_ms)
{
	if (row->count < count_wanted(s)) {
		*ret_due_ms = due(s, POOL_QUIET_MS, busy);
		if (loop_now(s->host->loop) >= *ret_due_ms)
			start_one(s, row);
		return true;
	}
	for (size_t i = 0; i < row->count; i++)
		if (work_on_one(s, row, i, busy, ret_due_ms))
			return true;
	return false;
}

/* False when nothing is left to be done. */
static bool work(struct pool *s, uint64_t *ret_due_ms)
{
	bool busy = is_busy(s);
	struct err err;

	/* A head start is all there is before: it was foreseen how that one is confined. */
	if (confinement_check(s->host->confinement, &err) < 0)
		return false;
	s->rested = s->rested || !busy;
	for (size_t i = 0; i < s->row_count; i++) {
		struct row *row = &s->rows[i];

		if (row->wanted_until_ms <= loop_now(s->host->loop))
			continue;
		if (!s->rested) {
			*ret_due_ms = loop_now(s->host->loop) + POOL_BUSY_MS;
			return true;
		}
		if (row->language == s->always &&
		    (get_parent(s, busy, ret_due_ms) || make_parent_ready(s, busy, ret_due_ms)))
			return true;
		if (work_on(s, row, busy, ret_due_ms))
			return true;
	}
	return load_parent(s, busy, ret_due_ms);
}

/* Drops what nobody wants any more, and says when to look again; 0: nothing is wanted. */
static uint64_t drop_unwanted(struct pool *s)
{
	uint64_t now = loop_now(s->host->loop);
	uint64_t next_ms = 0;

	for (size_t i = 0; i < s->row_count; i++) {
		uint64_t until_ms = s->rows[i].wanted_until_ms;

		if (until_ms <= now)
			drop_all_of(s, &s->rows[i]);
		else if (next_ms == 0 || until_ms < next_ms)
			next_ms = until_ms;
	}
	return next_ms < now + POOL_LOOK_MS ? next_ms : now + POOL_LOOK_MS;
}

static void on_timer(struct loop_timer *timer)
{
	struct pool *s = container_of(timer, struct pool, timer);
	uint64_t now = loop_now(s->host->loop);
	uint64_t look_ms = drop_unwanted(s);
	uint64_t due_ms = 0;

	s->at_work = false;
	if (look_ms == 0)
		return;
	s->memory = pool_look_at_memory(s->meminfo);
	if (s->memory == MEMORY_SHORT) {
		pool_drop(s);
		log_info("spares", "memory is short: none waits");
	} else {
		s->at_work = work(s, &due_ms);
	}
	/* One that is under way tells by itself. */
	schedule(s, s->at_work && due_ms > now && due_ms < look_ms ? due_ms : look_ms);
}

/* ---- handing over ---- */

/* How much of a start it saves, the more the later. */
enum worth { WORTH_NOTHING, WORTH_STARTED, WORTH_READY, WORTH_LOADED };

static enum worth worth_of(const struct pool *s, const struct slot *spare)
{
	if (slot_is_lost(spare))
		return WORTH_NOTHING;
	if (slot_state(spare) == SLOT_WAITING)
		return slot_wants_load(spare) || slot_is_outdated(spare, s->parent) ? WORTH_READY
										    : WORTH_LOADED;
	if (slot_state(spare) == SLOT_STARTING && spare == s->head_start)
		return WORTH_STARTED;
	return WORTH_NOTHING;
}

/* The index of that which saves most; as many as there are when none saves anything. */
static size_t best_of(const struct pool *s, const struct row *row)
{
	enum worth most = WORTH_NOTHING;
	size_t best = row->count;

	for (size_t i = 0; i < row->count; i++)
		if (worth_of(s, row->spares[i]) > most) {
			most = worth_of(s, row->spares[i]);
			best = i;
		}
	return best;
}

struct slot *pool_take(struct pool *s, const struct language *language)
{
	struct row *row = s != NULL && language != NULL ? row_of(s, language) : NULL;
	size_t best = row != NULL ? best_of(s, row) : 0;

	return row != NULL && best < row->count ? take_at(s, row, best) : NULL;
}

uint64_t pool_wait_ms(struct pool *s, const struct language *language)
{
	const struct row *row = s != NULL && language == s->always ? row_of(s, language) : NULL;
	uint64_t since_ms;

	if (row == NULL || best_of(s, row) < row->count || s->parent == NULL ||
	    !zygote_is_starting(s->parent))
		return 0;
	since_ms = zygote_loading_ms(s->parent);
	if (since_ms >= POOL_COMING_MS)
		return 0;
	pool_defer_work(s); /* or it is called away before it was of use */
	return POOL_COMING_MS - since_ms;
}

void pool_start_first(struct pool *s, const struct language *language)
{
	struct row *row = s != NULL ? row_of(s, language) : NULL;

	if (row == NULL || row->count > 0)
		return;
	pool_want(s, language); /* or it would be dropped as unwanted */
	start_one(s, row);
	s->head_start = row->count > 0 ? row->spares[0] : NULL;
}

void pool_drop(struct pool *s)
{
	for (size_t i = 0; s != NULL && i < s->row_count; i++)
		drop_all_of(s, &s->rows[i]);
}

/* ---- life ---- */

struct pool *pool_new(const struct session_host *host, const struct language *always,
		      const char *meminfo)
{
	struct pool *s = xcalloc(1, sizeof(*s));

	s->host = host;
	s->always = always;
	s->meminfo = meminfo;
	return s;
}

void pool_free(struct pool *s)
{
	if (s == NULL)
		return;
	loop_timer_stop(&s->timer);
	pool_drop(s);
	zygote_free(s->parent);
	free(s);
}
