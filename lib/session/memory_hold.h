/* SPDX-License-Identifier: MIT */
/*
 * memory_hold.h - cells are interrupted before an interpreter is ended for the session's memory.
 *
 * Above the limit the running cell of the interpreter that grew most since the look before is
 * interrupted, each cell once. It keeps what it has, and has a while to end; then what is used may
 * stay as it is. What then grows on, and what is far above the limit, is ended.
 */
#ifndef SESSION_MEMORY_HOLD_H
#define SESSION_MEMORY_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proc/sandbox.h"
#include "session/session_internal.h"

enum {
	MEMORY_HOLD_STEP_PART = 64, /* of the limit: so much more is growth */
};

struct memory_hold {
	uint64_t base;       /* what was used then; 0: not above the limit */
	uint64_t settled_ms; /* until then it may grow: a cell ends meanwhile */
	/* By lane: for how much its running cell was interrupted; 0: it was not. */
	uint64_t stopped[LANGUAGES_MAX];
	/* By lane: since what is used is above the limit, a cell of it was. */
	bool blamed[LANGUAGES_MAX];
};

/*
 * By an exact measure that is above the limit: is nobody to be ended for it now? Programs never are
 * waited for when their end suffices.
 */
bool memory_hold_waits(struct memory_hold *hold, const struct session *session,
		       const struct sandbox_usage *usage);
/* So much may stay that does not grow. */
uint64_t memory_hold_max(const struct session *session);
/* What is used is not above the limit any more. */
void memory_hold_fits(struct memory_hold *hold);
/* The cell of `lane` has ended: what memory_hold.stopped has of it, which is over. */
uint64_t memory_hold_end_cell(struct memory_hold *hold, size_t lang);
/*
 * Numbers of the interpreters that are to go before the others: of those that run a cell the ones
 * that grow as much as any, else those that grow behind a cell, else all that run one. One whose
 * cell was interrupted may have grown until then. Returns how many.
 */
size_t memory_hold_first(const struct session *session, const struct sandbox_usage *usage,
			 int ret_numbers[LANGUAGES_MAX]);

/*
 * The only runner whose cell is at fault, as far as can be told; NULL: there is none, or several.
 */
struct runner *memory_hold_at_fault(const struct memory_hold *hold, const struct session *session);

#endif
