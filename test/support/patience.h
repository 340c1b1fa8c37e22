/* SPDX-License-Identifier: MIT */
/*
 * patience.h - how long a test waits for what must come. Only what hangs takes so long, on however
 * busy a machine: no test measures time, and none takes silence for an answer.
 *
 * Include after cmocka.h.
 */
#ifndef SUPPORT_PATIENCE_H
#define SUPPORT_PATIENCE_H

#include <poll.h>

#include "base/clock.h"
#include "event/loop.h"

enum { PATIENCE_MS = 100000, PATIENCE_TURN_MS = 20 };

/* Does `meanwhile` until `condition`, which is asked once a round. */
#define patience_do_until(meanwhile, condition)                                                    \
	do {                                                                                       \
		uint64_t patience_end = clock_ms() + PATIENCE_MS;                                  \
		while (!(condition)) {                                                             \
			if (clock_ms() >= patience_end)                                            \
				fail_msg("never came true: %s", #condition);                       \
			meanwhile;                                                                 \
		}                                                                                  \
	} while (0)

/* Does nothing until `condition`. */
#define patience_until(condition) patience_do_until((void)poll(NULL, 0, 1), condition)

/* Turns `loop` until `condition`, which may be about what the loop does not see. */
#define patience_turn_until(loop, condition)                                                       \
	patience_do_until(loop_turn((loop), PATIENCE_TURN_MS), condition)

#endif
