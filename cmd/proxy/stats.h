/* SPDX-License-Identifier: MIT */
/*
 * tally.h - who was asked for, what became of it, how many bytes went: told to the server.
 *
 * A row a host and port, at most STATS_ROWS; what comes after goes into one row without a name,
 * as do requests whose host is no name. Reports are whole and come at most once a second; the
 * more was told, the more seldom, so that a session cannot reach the cap on what a helper says.
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

struct stats *stats_new(struct loop *loop);
void stats_free(struct stats *tally);
/* The row of `to`, NULL for what has no name. Never NULL, valid until stats_free. */
struct stats_row *stats_find(struct stats *tally, const struct host_port *to);
void stats_count(struct stats *tally, struct stats_row *row, enum verdict verdict);
/* Bytes that went between the session and the host. */
void stats_add(struct stats *tally, struct stats_row *row, uint64_t sent, uint64_t received);
/* The last report, as the helper's result. */
void stats_finish(struct stats *tally);
/* Bytes of all rows. */
uint64_t stats_bytes(const struct stats *tally);

#endif
