/* SPDX-License-Identifier: MIT */
/*
 * victims.c - for memory it first goes through the processes in order until the rest fits, then
 * back, to spare those that were chosen before a larger one made them needless.
 */
#include "sandbox/process/victims.h"

#include <limits.h>
#include <stdlib.h>

/* Growth of an idle interpreter, by a thread, makes it rank before a running one that is still. */
static int rank_of(const struct victim *row)
{
	if (!row->is_interpreter)
		return row->is_growing ? 0 : 1;
	if (row->is_growing)
		return row->is_running ? 2 : 3;
	return row->is_running ? 4 : 5;
}

static int by_rank(const void *a, const void *b)
{
	const struct victim *one = a;
	const struct victim *two = b;
	int order = rank_of(one) - rank_of(two);

	return order != 0 ? order : (one->started < two->started) - (one->started > two->started);
}

/* Summary of the processes that grow. It decides about those that do not. */
struct growth {
	bool any;
	bool of_interpreter;
};

static struct growth find_growth(const struct victim *rows, size_t len)
{
	struct growth growth = { false, false };

	for (size_t i = 0; i < len; i++) {
		growth.any |= rows[i].is_growing;
		growth.of_interpreter |= rows[i].is_growing && rows[i].is_interpreter;
	}
	return growth;
}

/*
 * Returns how much memory may be in use if this process stays. A program that is still is ended
 * before an interpreter that grows. It is ended also if nothing seems to grow: on a busy machine
 * the program that grows may have been still since the last measure.
 */
static uint64_t limit_of(const struct victim *row, struct growth growth,
			 const struct victims_need *need)
{
	bool may_stay =
		!row->is_growing && (row->is_interpreter || (growth.any && !growth.of_interpreter));

	return may_stay && need->still_max > need->max ? need->still_max : need->max;
}

/* Ending a process that does not grow is in vain if more is held than may be in use. */
static bool helps(const struct victim *row, const struct victims_need *need)
{
	return row->is_growing || need->held <= need->max;
}

/* Lets those live that the others' end makes needless; `left` is in use without the chosen. */
static void spare(struct victim *rows, size_t len, struct growth growth,
		  const struct victims_need *need, uint64_t left)
{
	bool still_goes = false;

	for (size_t i = len; i > 0; i--) {
		struct victim *row = &rows[i - 1];

		if (!row->is_chosen || (row->is_growing && still_goes))
			continue;
		if (left + row->bytes <= limit_of(row, growth, need)) {
			row->is_chosen = false;
			left += row->bytes;
		} else {
			still_goes |= !row->is_growing;
		}
	}
}

void victims_for_memory(struct victim *rows, size_t len, const struct victims_need *need)
{
	struct growth growth = find_growth(rows, len);
	uint64_t left = need->held;
	size_t count = 0;

	qsort(rows, len, sizeof(*rows), by_rank);
	for (size_t i = 0; i < len; i++) {
		rows[i].is_chosen = false;
		left += rows[i].bytes;
	}
	for (size_t i = 0; i < len && count < need->count_max; i++) {
		if (need->programs_only && rows[i].is_interpreter)
			continue;
		if (left <= limit_of(&rows[i], growth, need) || !helps(&rows[i], need))
			continue;
		rows[i].is_chosen = true;
		left -= rows[i].bytes;
		count++;
	}
	spare(rows, len, growth, need, left);
}

/* Unlike memory, a folder has no more room when others than those that write are ended. */
static int disk_rank_of(const struct victim *row)
{
	int kind = row->is_running ? 1 : 2;

	if (!row->is_interpreter)
		kind = 0;
	return row->is_growing ? kind : kind + 3;
}

void victims_for_disk(struct victim *rows, size_t len)
{
	int first = INT_MAX;

	for (size_t i = 0; i < len; i++)
		first = disk_rank_of(&rows[i]) < first ? disk_rank_of(&rows[i]) : first;
	for (size_t i = 0; i < len; i++)
		rows[i].is_chosen = disk_rank_of(&rows[i]) == first;
}
