/* SPDX-License-Identifier: MIT */
/*
 * cancel.h - ends the running query when SIGTERM arrives.
 *
 * A thread of its own waits for the signal, so that a driver that blocks can be cancelled from
 * outside.
 */
#ifndef SQL_CANCEL_H
#define SQL_CANCEL_H

#include <stdbool.h>

#include "base/err.h"

/* Starts the thread. Must be called before any other thread is made. Returns -1 and sets *err. */
int cancel_watch(struct err *err) MUST_CHECK;
/*
 * Begins a query. `cancel` is called from the other thread. After SIGTERM the process takes no
 * further query.
 */
void cancel_begin(void (*cancel)(void *data), void *data);
/* Ends the query: `cancel` is no longer called. */
void cancel_end(void);
/* Returns true after SIGTERM. */
bool cancel_requested(void);
/* Sets *err to ERR_CANCELLED. Always returns -1. */
int cancel_fail(struct err *err);

/*
 * Calls `expired` from the thread of cancel_watch after `seconds`, unless it is called again
 * before; 0 means never. `expired` must end the process.
 */
void cancel_at(unsigned seconds, void (*expired)(void));

#endif
