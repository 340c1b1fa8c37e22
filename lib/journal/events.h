/* SPDX-License-Identifier: MIT */
/*
 * events.h - the file of a session's events, in chronological order.
 *
 * Whole events are never changed or removed. events_cut() removes a torn one, and events_add() the
 * rest of a failed write. Each event is written by one call when it happens, so that it survives
 * the server. events_hold() leaves an event to the call that writes the next one. An event carries
 * its lengths and a checksum, by which a reader detects a torn one.
 * lib/journal/FORMAT.md describes the format and the events.
 *
 *   file  = "ptycell events 1\n" *event
 *   event = FIELDS-LENGTH " " DATA-LENGTH " " CRC-32C "\n" FIELDS "\n" DATA "\n"
 *
 * The three numbers have eight hexadecimal digits each. FIELDS is a JSON object, DATA any bytes.
 * The checksum covers FIELDS and DATA.
 */
#ifndef JOURNAL_EVENTS_H
#define JOURNAL_EVENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define EVENTS_FILE "events"

enum { EVENTS_LEN_MAX = 64 << 20 /* of an event's fields, and of its data */ };

struct events;

/* The position of an event in the file; a length of 0 means none. */
struct event_place {
	uint64_t offset;
	uint64_t len;
};

/* An event that was read. */
struct event {
	json_t *fields;
	const char *data; /* within `bytes` */
	size_t data_len;
	struct buf bytes;
};

/* Initialises an automatic variable. */
#define EVENT_INIT                                                                                 \
	{                                                                                          \
		.bytes = BUF_INIT(BUF_UNBOUNDED)                                                   \
	}

void events_release(struct event *event);
#define cleanup_event __attribute__((cleanup(events_release)))

/* Makes an empty one. `dir_fd` is borrowed until events_free. No file is made before the first
 * event. */
struct events *events_new(int dir_fd);
/*
 * Opens an existing file for reading. Returns NULL and sets *err: no file, or another format
 * (ERR_INVALID).
 */
struct events *events_open(int dir_fd, struct err *err) MUST_CHECK;
/* Opens an existing file as events_open() does, for adding after events_cut(). */
struct events *events_open_to_add(int dir_fd, struct err *err) MUST_CHECK;
/*
 * Removes what follows the event `last`, or the first line if its length is 0: an event that was
 * torn. Later events are added there. Returns -1 and sets *err.
 */
int events_cut(struct events *events, const struct event_place *last, struct err *err) MUST_CHECK;
void events_free(struct events *events);

/* Returns true if the file has an event. */
bool events_any(const struct events *events);
/* Return the size of the file, and the bytes that one more event takes. */
uint64_t events_size(const struct events *events);
uint64_t events_cost(size_t fields_len, size_t data_len);

/*
 * Appends an event whose fields are the JSON text `fields`. A failed event leaves nothing: the next
 * one is written in its place.
 */
int events_add(struct events *events, const char *fields, const void *data, size_t data_len,
	       struct event_place *ret_place, struct err *err) MUST_CHECK;
/*
 * Does the same, but the event is written by the same call as the next one. If the server is killed
 * before that, the event is lost. It is read as others are.
 */
int events_hold(struct events *events, const char *fields, const void *data, size_t data_len,
		struct event_place *ret_place, struct err *err) MUST_CHECK;
/*
 * Does the same as events_add(), but an event that cannot be written is held. It returns -1 then as
 * well. Only if it is not held either, the place's length is 0.
 */
int events_add_or_hold(struct events *events, const char *fields, const void *data, size_t data_len,
		       struct event_place *ret_place, struct err *err) MUST_CHECK;
/* Reads the event at a position. Returns -1 and sets *err: ERR_SYSTEM if the file has changed. */
int events_read(const struct events *events, const struct event_place *place, struct event *ret,
		struct err *err) MUST_CHECK;
/*
 * Reads the event after `place`, whose length is 0 for the first, and moves `place` to it. Returns
 * false at the end of the file and at a torn event.
 */
bool events_next(const struct events *events, struct event_place *place, struct event *ret);

#endif
