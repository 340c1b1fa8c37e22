/* SPDX-License-Identifier: MIT */
/*
 * stats.h - counts requests, verdicts and bytes by host, and reports them to the server.
 *
 * There is a row for each host and port, at most STATS_ROWS. Further hosts, and requests without a
 * valid name, share one row without a name. Each report is complete. Reports come at most once a
 * second, and less often the more was reported, so that a session cannot reach the limit on a
 * helper's output.
 *
 *   {"hosts": [{"host": "a.example", "port": 443, "allowed": 2, "refused": 0, "failed": 0,
 *               "sent": 517, "received": 4096, "last": "allowed"}], "bytes": 4613}
 */
#ifndef PROXY_STATS_H
#define PROXY_STATS_H

#include <stdint.h>

#include "event/loop.h"
#include "net/host.h"
#include "net/verdict.h"

struct stats;
struct stats_row;

enum { STATS_ROWS = 64 };

/* Makes empty statistics. `loop` is borrowed until stats_free. */
struct stats *stats_new(struct loop *loop);
void stats_free(struct stats *stats);
/*
 * Returns the row of `to`, which is NULL for requests without a name. Never NULL; valid until
 * stats_free.
 */
struct stats_row *stats_find(struct stats *stats, const struct host_port *to);
/* Counts a request with its verdict. */
void stats_count(struct stats *stats, struct stats_row *row, enum verdict verdict);
/* Adds bytes that were sent to and received from the host. */
void stats_add(struct stats *stats, struct stats_row *row, uint64_t sent, uint64_t received);
/* Sends the last report as the helper's result. */
void stats_finish(struct stats *stats);
/* Returns the bytes of all rows. */
uint64_t stats_bytes(const struct stats *stats);

#endif
