/* SPDX-License-Identifier: MIT */
/*
 * memory_guard.c - finds the interpreter whose running cell is at fault. Only growth since the last
 * poll counts, because an idle interpreter may guard more than the one that grows.
 */
#include "session/memory_guard.h"

#include <string.h>

#include "runner/runner.h"

enum {
	FAR_PART = 8,    /* part of the limit above it that is far above */
	GROWTH_PART = 4, /* part of the largest growth: less is not at fault */
	SETTLE_MS = 3000,
	/* The measure under way at a cell's end, and the two after it, from which growth counts. */
	EXCUSED_MEASURES = 3,
};

static uint64_t growth_of(const struct sandbox_usage *usage, const struct runner *runner)
{
	int number = runner_interpreter_number(runner);

	for (size_t i = 0; number != 0 && i < SANDBOX_GROWTHS_MAX; i++)
		if (usage->growths[i].interpreter == number)
			return usage->growths[i].bytes;
	return 0;
}

static uint64_t largest_growth(const struct sandbox_usage *usage)
{
	uint64_t most = 0;

	for (size_t i = 0; i < SANDBOX_GROWTHS_MAX; i++)
		if (usage->growths[i].bytes > most)
			most = usage->growths[i].bytes;
	return most;
}

static bool is_busy(const struct session *s, size_t index)
{
	return runner_state(s->languages[index].runner) == RUNNER_BUSY;
}

/*
 * Returns the index of the language whose running, uninterrupted cell grew most; language_count if
 * none did, or by less than `least`.
 */
static size_t find_growing(const struct memory_guard *guard, const struct session *s,
			   const struct sandbox_usage *usage, uint64_t least)
{
	uint64_t best = 0;
	size_t found = s->language_count;

	for (size_t i = 0; i < s->language_count; i++) {
		uint64_t growth = growth_of(usage, s->languages[i].runner);

		if (!is_busy(s, i) || guard->stopped[i] > 0 || growth <= best || growth < least)
			continue;
		best = growth;
		found = i;
	}
	return found;
}

/* Memory that the kernel holds for processes, and files in memory, are no interpreter's growth. */
static size_t find_only_busy(const struct memory_guard *guard, const struct session *s)
{
	size_t found = s->language_count;

	for (size_t i = 0; i < s->language_count; i++) {
		if (!is_busy(s, i))
			continue;
		if (found < s->language_count)
			return s->language_count;
		found = i;
	}
	return found < s->language_count && guard->stopped[found] == 0 ? found : s->language_count;
}

static void interrupt(struct memory_guard *guard, const struct session *s, size_t index,
		      uint64_t used_bytes)
{
	guard->stopped[index] = used_bytes;
	guard->blamed[index] = true;
	runner_stop(s->languages[index].runner, RUNNER_STOP_INTERRUPT);
}

static uint64_t growth_of_others(const struct memory_guard *guard, const struct session *s,
				 const struct sandbox_usage *usage)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < s->language_count; i++)
		if (is_busy(s, i) && guard->stopped[i] == 0)
			bytes += growth_of(usage, s->languages[i].runner);
	return bytes;
}

/* Interrupts further cells that would take the session far above its limit by the next poll. */
static void interrupt_others(struct memory_guard *guard, const struct session *s,
			     const struct sandbox_usage *usage)
{
	size_t index;

	while (usage->memory_bytes + growth_of_others(guard, s, usage) > memory_guard_max(s) &&
	       (index = find_growing(guard, s, usage, 0)) < s->language_count)
		interrupt(guard, s, index, usage->memory_bytes);
}

/* Returns whether a cell was interrupted. */
static bool interrupt_growing(struct memory_guard *guard, const struct session *s,
			      const struct sandbox_usage *usage)
{
	size_t index = find_growing(guard, s, usage, largest_growth(usage) / GROWTH_PART);

	if (index == s->language_count &&
	    largest_growth(usage) < s->limits.memory_max / MEMORY_GUARD_STEP_PART)
		index = find_only_busy(guard, s);
	if (index == s->language_count)
		return false;
	interrupt(guard, s, index, usage->memory_bytes);
	interrupt_others(guard, s, usage);
	return true;
}

bool memory_guard_interrupt_all(struct memory_guard *guard, const struct session *s,
				const struct sandbox_usage *usage)
{
	bool any = false;

	for (size_t i = 0; i < s->language_count; i++) {
		if (!is_busy(s, i) || guard->stopped[i] > 0)
			continue;
		interrupt(guard, s, i, usage->memory_bytes);
		any = true;
	}
	return any;
}

bool memory_guard_needs_programs(const struct session *s, const struct sandbox_usage *usage)
{
	return usage->memory_bytes - usage->programs_bytes <= s->limits.memory_max;
}

uint64_t memory_guard_max(const struct session *s)
{
	return s->limits.memory_max + s->limits.memory_max / FAR_PART;
}

bool memory_guard_waits(struct memory_guard *guard, const struct session *s,
			const struct sandbox_usage *usage)
{
	uint64_t now = loop_now(s->host->loop);
	uint64_t max = s->limits.memory_max;
	bool is_new = guard->base == 0;
	bool grows = is_new || usage->memory_bytes > guard->base + max / MEMORY_GUARD_STEP_PART;

	if (memory_guard_needs_programs(s, usage) || usage->memory_bytes > memory_guard_max(s))
		return false;
	if (grows && interrupt_growing(guard, s, usage))
		guard->settled_ms = now + SETTLE_MS;
	if (is_new || now < guard->settled_ms) {
		guard->base = usage->memory_bytes;
		return true;
	}
	return !grows;
}

void memory_guard_fits(struct memory_guard *guard)
{
	guard->base = 0;
	memset(guard->blamed, 0, sizeof(guard->blamed));
}

uint64_t memory_guard_note_cell_end(struct memory_guard *guard, size_t index)
{
	uint64_t used = guard->stopped[index];

	guard->stopped[index] = 0;
	if (used > 0)
		guard->excused[index] = EXCUSED_MEASURES;
	return used;
}

void memory_guard_measured(struct memory_guard *guard)
{
	for (size_t i = 0; i < LANGUAGES_MAX; i++)
		if (guard->excused[i] > 0)
			guard->excused[i]--;
}

static bool is_anybody_blamed(const struct memory_guard *guard, const struct session *s)
{
	for (size_t i = 0; i < s->language_count; i++)
		if (guard->blamed[i] && runner_interpreter_number(s->languages[i].runner) != 0)
			return true;
	return false;
}

/* Returns the growth of a language's interpreter, without what an interrupted cell took. */
static uint64_t growth_at_fault(const struct memory_guard *guard, const struct session *s,
				const struct sandbox_usage *usage, size_t index)
{
	if (guard->excused[index] > 0 && !is_busy(s, index))
		return 0;
	return growth_of(usage, s->languages[index].runner);
}

static uint64_t largest_at_fault(const struct memory_guard *guard, const struct session *s,
				 const struct sandbox_usage *usage)
{
	uint64_t most = 0;

	for (size_t i = 0; i < s->language_count; i++) {
		uint64_t growth = growth_at_fault(guard, s, usage, i);

		if (growth > most)
			most = growth;
	}
	return most;
}

/* Lists the interpreters that run a cell (or do not) and grew by at least `least`. */
static size_t list_interpreters(const struct memory_guard *guard, const struct session *s,
				const struct sandbox_usage *usage, bool busy, uint64_t least,
				int ret_numbers[LANGUAGES_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < s->language_count; i++) {
		int number = runner_interpreter_number(s->languages[i].runner);

		if (number != 0 && is_busy(s, i) == busy &&
		    growth_at_fault(guard, s, usage, i) >= least)
			ret_numbers[count++] = number;
	}
	return count;
}

size_t memory_guard_first(const struct memory_guard *guard, const struct session *s,
			  const struct sandbox_usage *usage, int ret_numbers[LANGUAGES_MAX])
{
	uint64_t most = largest_at_fault(guard, s, usage);
	uint64_t least = most / GROWTH_PART;
	size_t count = 0;

	if (most >= s->limits.memory_max / MEMORY_GUARD_STEP_PART) {
		count = list_interpreters(guard, s, usage, true, least, ret_numbers);
		if (count == 0)
			count = list_interpreters(guard, s, usage, false, least, ret_numbers);
	}
	return count > 0 ? count : list_interpreters(guard, s, usage, true, 0, ret_numbers);
}

struct runner *memory_guard_at_fault(const struct memory_guard *guard, const struct session *s)
{
	bool any = is_anybody_blamed(guard, s);
	struct runner *found = NULL;

	for (size_t i = 0; i < s->language_count; i++) {
		if (!is_busy(s, i) || (any && guard->stopped[i] == 0))
			continue;
		if (found != NULL)
			return NULL;
		found = s->languages[i].runner;
	}
	return found;
}
