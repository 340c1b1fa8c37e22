/* SPDX-License-Identifier: MIT */
/*
 * room.h - how much may still be exported: of one session, and of all sessions below the root.
 *
 * A request to export has "room", the bytes that the session may still add. It may have
 * "total_room", the bytes that all sessions may still add by the server's count, and "total_max",
 * the bytes that they may take together. A file without room by that count is refused only after
 * the root was measured, once a request: the progress {"total": BYTES} then has its size.
 *
 * Request {"op": "measure", "root"}: the result is {"bytes"}, the size of the root
 * (workspace/kept_size.h).
 */
#ifndef FILES_ROOM_H
#define FILES_ROOM_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

struct room {
	json_int_t session;
	json_int_t total;
	json_int_t total_max; /* 0: without a limit */
	const char *root;
	bool measured;
};

/* Reads the members of a request. `root` is borrowed for the life of `ret`. */
void room_parse(struct room *ret, const json_t *request, const char *root);
/*
 * Checks that a file of `size` bytes may replace a copy of `before`. A spare file may take half of
 * the room. Returns -1 and sets *err: ERR_LIMIT "limit" for the session's room, ERR_BUSY "total"
 * for that of all.
 */
int room_check(struct room *room, json_int_t size, json_int_t before, bool spare,
	       struct err *err) MUST_CHECK;
/* Counts `bytes` that were added, or less than 0 that became free. */
void room_take(struct room *room, json_int_t bytes);
/* Runs the request to measure and sends the result. Returns -1 and sets *err. */
int room_run(const json_t *request, struct err *err) MUST_CHECK;

#endif
