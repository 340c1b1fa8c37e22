/* SPDX-License-Identifier: MIT */
/*
 * tally.h - who was asked for, what became of it, how many bytes went: told to the server.
 *
 * A row a host and port, at most TALLY_ROWS; what comes after goes into one row without a name,
 * as do requests whose host is no name. Reports are whole and come at most once a second; the
 * more was told, the more seldom, so that a session cannot reach the cap on what a helper says.
 *
 *   {"hosts": [{"host": "a.example", "port": 443, "allowed": 2, "refused": 0, "failed": 0,
 *               "sent": 517, "received": 4096, "last": "allowed"}], "bytes": 4613}
 */
#ifndef PROXY_TALLY_H
#define PROXY_TALLY_H

#include <stdint.h>

#include "event/loop.h"
#include "net/host.h"
#include "net/verdict.h"

struct tally;
struct tally_row;

enum { TALLY_ROWS = 64 };

struct tally *tally_new(struct loop *loop);
void tally_free(struct tally *tally);
/* The row of `to`, NULL for what has no name. Never NULL, valid until tally_free. */
struct tally_row *tally_find(struct tally *tally, const struct host_port *to);
void tally_count(struct tally *tally, struct tally_row *row, enum verdict verdict);
/* Bytes that went between the session and the host. */
void tally_add(struct tally *tally, struct tally_row *row, uint64_t sent, uint64_t received);
/* The last report, as the helper's result. */
void tally_finish(struct tally *tally);
/* Bytes of all rows. */
uint64_t tally_bytes(const struct tally *tally);

#endif
