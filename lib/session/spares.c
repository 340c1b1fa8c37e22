/* SPDX-License-Identifier: MIT */
#include "session/spares.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "event/loop.h"
#include "session/session_internal.h"
#include "session/spare.h"

/* With less than this it is short, or an eighth of all there is, whichever is less. */
#define MEMORY_KB_MIN ((uint64_t)1 << 20)

enum { ROW_SPARES_MAX = 16, LINE_MAX_BYTES = 128 };

/* Those of one language. */
struct row {
	const struct language *language;
	struct spare *spares[ROW_SPARES_MAX];
	size_t count;
	uint64_t wanted_until_ms;
	unsigned int failures;
};

struct spares {
	const struct session_host *host;
	const struct language *always;
	const char *meminfo;
	struct row rows[SESSION_LANGUAGES_MAX];
	size_t row_count;
	struct loop_timer timer;
	uint64_t disturbed_ms;
	enum spares_memory memory; /* at the last look */
	bool rested;               /* nobody was busy once: the first answer has been given */
	bool at_work;              /* something is left to be done, or under way */
};

static void on_timer(struct loop_timer *timer);

/* ---- memory ---- */

enum spares_memory spares_look_at_memory(const char *path)
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

static struct row *row_of(struct spares *s, const struct language *language)
{
	struct row *row;

	for (size_t i = 0; i < s->row_count; i++)
		if (s->rows[i].language == language)
			return &s->rows[i];
	if (s->row_count == SESSION_LANGUAGES_MAX)
		return NULL;
	row = &s->rows[s->row_count++];
	row->language = language;
	return row;
}

static struct spare *take_at(struct row *row, size_t index)
{
	struct spare *spare = row->spares[index];

	row->spares[index] = row->spares[--row->count];
	return spare;
}

static void drop_all(struct row *row)
{
	while (row->count > 0)
		spare_free(take_at(row, 0));
}

/* ---- when ---- */

static void schedule(struct spares *s, uint64_t due_ms)
{
	loop_timer_start(s->host->loop, &s->timer, due_ms, on_timer);
}

static bool is_busy(const struct spares *s)
{
	return s->host->busy != NULL && s->host->busy(s->host->owner);
}

static void pause_all(const struct spares *s, bool pause)
{
	for (size_t i = 0; i < s->row_count; i++)
		for (size_t j = 0; j < s->rows[i].count; j++)
			spare_pause(s->rows[i].spares[j], pause);
}

void spares_disturb(struct spares *s)
{
	if (s == NULL || !s->at_work)
		return;
	s->disturbed_ms = loop_now(s->host->loop);
	pause_all(s, true);
	schedule(s, s->disturbed_ms + SPARES_QUIET_MS);
}

static void want(struct spares *s, const struct language *language)
{
	struct row *row = row_of(s, language);

	if (row == NULL || row->failures >= SPARES_FAILURES_MAX)
		return;
	row->wanted_until_ms = loop_now(s->host->loop) + SPARES_WANTED_MS;
	s->at_work = true;
}

void spares_want(struct spares *s, const struct language *language)
{
	if (s == NULL)
		return;
	want(s, s->always);
	if (language != s->always)
		want(s, language);
	spares_disturb(s);
}

/* ---- what ---- */

static void on_failure(struct spares *s, struct row *row)
{
	row->failures++;
	if (row->failures < SPARES_FAILURES_MAX)
		return;
	log_info("spares", "%s does not start ahead of its sessions, and is not tried again",
		 row->language->name);
	row->wanted_until_ms = 0;
	s->at_work = true;
}

static void judge(struct spares *s, struct row *row, size_t index)
{
	struct spare *spare = row->spares[index];

	if (spare_state(spare) == SPARE_DEAD) {
		spare_free(take_at(row, index));
		on_failure(s, row);
	} else if (spare_state(spare) == SPARE_WAITING && !spare_wants_load(spare)) {
		row->failures = 0;
		log_info("spares", "%s is ready", row->language->name);
	}
}

static void on_changed(struct spare *spare, void *data)
{
	struct spares *s = data;
	struct row *row = row_of(s, spare_language(spare));

	for (size_t i = 0; row != NULL && i < row->count; i++)
		if (row->spares[i] == spare) {
			judge(s, row, i);
			break;
		}
	schedule(s, loop_now(s->host->loop));
}

static void start_one(struct spares *s, struct row *row)
{
	struct err err;
	struct spare *spare = spare_new(s->host, row->language, on_changed, s, &err);

	if (spare == NULL) {
		log_info("spares", "%s: %s", row->language->name, err.msg);
		on_failure(s, row);
		return;
	}
	row->spares[row->count++] = spare;
}

/* An import that hangs: without it the language starts as ever. */
static bool give_up_load(struct spares *s, struct row *row, size_t index)
{
	if (spare_loading_ms(row->spares[index]) < SPARES_LOAD_MAX_MS)
		return false;
	spare_free(take_at(row, index));
	on_failure(s, row);
	return true;
}

/* When it may go on, as things stand; later than now: not yet. */
static uint64_t due(const struct spares *s, uint64_t quiet_ms, bool busy)
{
	return s->disturbed_ms + (busy ? SPARES_BUSY_MS : quiet_ms);
}

/* The next thing to be done for this row, one at a time; `ret_due_ms` says when to come back. */
static bool work_on(struct spares *s, struct row *row, bool busy, uint64_t *ret_due_ms)
{
	uint64_t now = loop_now(s->host->loop);
	uint64_t start_ms = due(s, SPARES_QUIET_MS, busy);
	uint64_t load_ms = due(s, SPARES_LOAD_MS, busy);

	if (row->count < s->host->settings->spares) {
		*ret_due_ms = start_ms;
		if (now >= start_ms)
			start_one(s, row);
		return true;
	}
	for (size_t i = 0; i < row->count; i++) {
		struct spare *spare = row->spares[i];
		enum spare_state state = spare_state(spare);

		*ret_due_ms = load_ms;
		if (state == SPARE_STARTING || state == SPARE_DEAD)
			return true; /* it tells by itself, a dead one when the loop turns */
		if (state == SPARE_LOADING) {
			if (now >= load_ms)
				spare_pause(spare, false);
			return now < load_ms || !give_up_load(s, row, i);
		}
		if (!spare_wants_load(spare) || s->memory != MEMORY_PLENTY)
			continue;
		if (now >= load_ms)
			spare_load(spare);
		return true;
	}
	return false;
}

/* False when nothing is left to be done. */
static bool work(struct spares *s, uint64_t *ret_due_ms)
{
	bool busy = is_busy(s);

	s->rested = s->rested || !busy;
	for (size_t i = 0; i < s->row_count; i++) {
		struct row *row = &s->rows[i];

		if (row->wanted_until_ms <= loop_now(s->host->loop))
			continue;
		if (!s->rested) {
			*ret_due_ms = loop_now(s->host->loop) + SPARES_BUSY_MS;
			return true;
		}
		if (work_on(s, row, busy, ret_due_ms))
			return true;
	}
	return false;
}

/* Those that nobody wants any more; false when there are none left that anybody could. */
static bool drop_unwanted(struct spares *s)
{
	bool wanted = false;

	for (size_t i = 0; i < s->row_count; i++) {
		if (s->rows[i].wanted_until_ms > loop_now(s->host->loop))
			wanted = true;
		else
			drop_all(&s->rows[i]);
	}
	return wanted;
}

static void on_timer(struct loop_timer *timer)
{
	struct spares *s = container_of(timer, struct spares, timer);
	uint64_t now = loop_now(s->host->loop);
	uint64_t due_ms = 0;

	s->at_work = false;
	if (!drop_unwanted(s))
		return;
	s->memory = spares_look_at_memory(s->meminfo);
	if (s->memory == MEMORY_SHORT) {
		for (size_t i = 0; i < s->row_count; i++)
			drop_all(&s->rows[i]);
		log_info("spares", "memory is short: none waits");
	} else {
		s->at_work = work(s, &due_ms);
	}
	/* One that is under way tells by itself. */
	schedule(s, s->at_work && due_ms > now ? due_ms : now + SPARES_LOOK_MS);
}

/* ---- handing over ---- */

/* One that has imported everything, when there is one. */
struct spare *spares_take(struct spares *s, const struct language *language)
{
	struct row *row = s != NULL && language != NULL ? row_of(s, language) : NULL;

	size_t best = SIZE_MAX;

	for (size_t i = 0; row != NULL && i < row->count; i++)
		if (spare_state(row->spares[i]) == SPARE_WAITING &&
		    (best == SIZE_MAX || !spare_wants_load(row->spares[i])))
			best = i;
	return best == SIZE_MAX ? NULL : take_at(row, best);
}

/* ---- life ---- */

struct spares *spares_new(const struct session_host *host, const struct language *always,
			  const char *meminfo)
{
	struct spares *s = xcalloc(1, sizeof(*s));

	s->host = host;
	s->always = always;
	s->meminfo = meminfo;
	return s;
}

void spares_free(struct spares *s)
{
	if (s == NULL)
		return;
	loop_timer_stop(&s->timer);
	for (size_t i = 0; i < s->row_count; i++)
		drop_all(&s->rows[i]);
	free(s);
}
