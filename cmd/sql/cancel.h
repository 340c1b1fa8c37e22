/* SPDX-License-Identifier: MIT */
/*
 * stop.h - SIGTERM means: end the query that runs.
 *
 * A thread waits for the signal, so that a driver that blocks can be told from outside of it.
 */
#ifndef SQL_CANCEL_H
#define SQL_CANCEL_H

#include <stdbool.h>

#include "base/err.h"

/* Before any other thread is made. */
int cancel_watch(struct err *err) MUST_CHECK;
/* A query begins. `cancel` is called from the other thread. A process that was told to stop takes
 * no further query. */
void cancel_begin(void (*cancel)(void *data), void *data);
/* It is over: `cancel` is not called any more. */
void cancel_end(void);
bool cancel_requested(void);
/* ERR_CANCELLED. */
int cancel_fail(struct err *err);

/*
 * `expired` is called by the thread that cancel_watch started, unless it is set anew before, in
 * `seconds`; 0: never. It must end the process.
 */
void cancel_at(unsigned seconds, void (*expired)(void));

#endif
