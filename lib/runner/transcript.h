/* SPDX-License-Identifier: MIT */
/*
 * transcript.h - the terminal output of a cell, in bounded memory.
 *
 * Bytes are kept raw, as a head and a rolling tail. The terminal model processes them when the text
 * is requested. When both are full, it keeps what lines showed before they were overwritten. Output
 * that does not fit into one answer is stored whole in a spool file.
 */
#ifndef RUNNER_TRANSCRIPT_H
#define RUNNER_TRANSCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "runner/ring.h"

struct redact;
struct spool;
struct transcript;

enum {
	TRANSCRIPT_HEAD_MAX = 32 << 10,
	TRANSCRIPT_TAIL_MAX = RING_MAX,
};

struct transcript_text {
	size_t shown; /* characters of the text appended */
	size_t total; /* characters there are */
	bool spooled; /* the spool has the whole output */
};

/* The value and the traceback, which follow a cell's output. They are well-formed UTF-8. */
struct transcript_result {
	struct buf text;  /* what an answer shows of it */
	struct buf whole; /* what the spool gets */
	size_t shown;     /* characters of `whole` that `text` has */
};

/*
 * Makes a transcript, which owns `spool_own` and writes nothing to it for a short output. `redact`
 * (borrowed, may be NULL) removes secrets before anything is held or spooled.
 */
struct transcript *transcript_new(struct spool *spool_own, const struct redact *redact);
void transcript_free(struct transcript *transcript);
/* Appends the result's text within the room that `all` leaves, and counts it there. */
void transcript_result_show(const struct transcript_result *result, size_t max_chars,
			    struct buf *out, struct transcript_text *all);
void transcript_feed(struct transcript *transcript, const char *data, size_t len);
/* Inserts `text` at this point of the output, on lines of its own. */
void transcript_insert(struct transcript *transcript, const char *text, size_t len);
/* Makes later output begin on a line of its own. */
void transcript_end_open_line(struct transcript *transcript);
/* Lets out what was held back because it may begin a secret, as the output rests. */
void transcript_settle(struct transcript *transcript);
/* Forgets output that no take has shown; the spool keeps it. */
void transcript_clear(struct transcript *transcript);
bool transcript_empty(const struct transcript *transcript);
/* Returns whether the last line has text; colours and modes do not count. */
bool transcript_has_open_line(const struct transcript *transcript);
/*
 * Ends the output. Appends it to `out`, and the result's text to `ret_result`: together at most
 * `max_chars` characters. `result` and `ret_result` may be NULL. The result gets the room that the
 * output leaves, and at least half; either is clipped. If anything is clipped, or left out of the
 * result's text, the spool has all of it, the result after the output; else the spool is discarded.
 */
struct transcript_text transcript_render(struct transcript *transcript, size_t max_chars,
					 const struct transcript_result *result, struct buf *out,
					 struct buf *ret_result);
/*
 * Appends the output since the last take, and begins anew. From the first take on, everything is
 * spooled and stays.
 */
struct transcript_text transcript_take(struct transcript *transcript, size_t max_chars,
				       struct buf *out);
/* Appends the last line that is held and not empty, finished or not. */
void transcript_end_line(const struct transcript *transcript, struct buf *out);
/*
 * Appends the bytes that are held: the head and the tail, without a mark where the middle is
 * missing. If `withheld` is not NULL, appends to it what follows and may begin a secret, unchanged.
 */
void transcript_read(const struct transcript *transcript, struct buf *out, struct buf *withheld);
/* Appends the unfinished last line, which is the prompt when the cell waits for input. */
void transcript_last_line(const struct transcript *transcript, struct buf *out);
/* Appends a terminal's replies to queries that have none yet (CSI 6n, CSI c). */
void transcript_take_answers(struct transcript *transcript, struct buf *out);
/*
 * Returns the bytes of output in the spool, once the output has ended. A result in the spool
 * follows them.
 */
size_t transcript_spooled(const struct transcript *transcript);
/* Returns the spool's path as the session sees it; NULL when there is none. */
const char *transcript_spool_path(const struct transcript *transcript);
/* Returns how many bytes the spool's limit dropped. */
uint64_t transcript_spool_dropped(const struct transcript *transcript);

#endif
