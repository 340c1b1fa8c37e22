/* SPDX-License-Identifier: MIT */
/*
 * memory_guard.h - interrupts cells before an interpreter is killed for the session's memory.
 *
 * Above the limit, the guard interrupts the running cell of the interpreter that grew most since
 * the last poll, and cells whose growth would lead far above the limit by the next poll. Each cell
 * is interrupted once. It keeps its data and has some time to end; memory in use after that may
 * stay. If memory grows after that, or is far above the limit, interpreters are killed.
 */
#ifndef SESSION_MEMORY_GUARD_H
#define SESSION_MEMORY_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proc/sandbox.h"
#include "session/session_internal.h"

enum {
	MEMORY_GUARD_STEP_PART = 64, /* part of the limit that counts as growth */
};

struct memory_guard {
	uint64_t base;       /* bytes in use, from which growth counts; 0: not above the limit */
	uint64_t settled_ms; /* growth is allowed until then, because a cell is ending */
	/* by language: bytes for which its running cell was interrupted; 0: it was not */
	uint64_t stopped[LANGUAGES_MAX];
	/* by language: one of its cells was interrupted since the limit was exceeded */
	bool blamed[LANGUAGES_MAX];
	/* by language: quick measures that still count what its interrupted cell took */
	unsigned excused[LANGUAGES_MAX];
};

/*
 * Takes an exact measure above the limit, and interrupts cells. Returns true if nothing must be
 * killed now. Returns false if the end of programs suffices: no time is given to them.
 */
bool memory_guard_waits(struct memory_guard *guard, const struct session *session,
			const struct sandbox_usage *usage);
/* Returns whether the end of programs, which are no interpreters, suffices. */
bool memory_guard_needs_programs(const struct session *session, const struct sandbox_usage *usage);
/*
 * Interrupts all running cells that were not yet, for programs that they start again and again.
 * Returns whether there was one.
 */
bool memory_guard_interrupt_all(struct memory_guard *guard, const struct session *session,
				const struct sandbox_usage *usage);
/* Returns how much memory may stay if it does not grow. */
uint64_t memory_guard_max(const struct session *session);
/* Notes that memory is within the limit again. */
void memory_guard_fits(struct memory_guard *guard);
/* Notes a quick measure. Exact ones count growth since the last but one of these. */
void memory_guard_measured(struct memory_guard *guard);
/*
 * Notes that a cell of language `index` has ended. Returns the bytes for which it was interrupted,
 * or 0.
 */
uint64_t memory_guard_note_cell_end(struct memory_guard *guard, size_t index);
/*
 * Lists the numbers of the interpreters to be killed first, and returns how many. These are those
 * that run a cell and grow as much as any; else those that grow after their cell ended; else all
 * that run a cell. Memory that an interrupted cell took until its end is no growth after it.
 */
size_t memory_guard_first(const struct memory_guard *guard, const struct session *session,
			  const struct sandbox_usage *usage, int ret_numbers[LANGUAGES_MAX]);

/* Returns the only runner whose cell is at fault, borrowed. Returns NULL if there is none, or
 * several. */
struct runner *memory_guard_at_fault(const struct memory_guard *guard,
				     const struct session *session);

#endif
