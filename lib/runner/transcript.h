/* SPDX-License-Identifier: MIT */
/*
 * transcript.h - what a cell wrote to its terminal, in bounded memory.
 *
 * Bytes are kept raw as a head and a rolling tail; the terminal model runs over them when the text
 * is asked for, and when both are full of what lines showed before they were written over. What
 * does not fit one answer goes whole into a spool file.
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
	bool spooled; /* the whole lies in the spool */
};

/*
 * `spool` is owned by the transcript; nothing is written to it for a short output. `redact`
 * (borrowed, or NULL) takes secrets out of everything before it is held or spooled.
 */
struct transcript *transcript_new(struct spool *spool_own, const struct redact *redact);
void transcript_free(struct transcript *transcript);
void transcript_feed(struct transcript *transcript, const char *data, size_t len);
/* Puts `text` at this point of the output, on lines of its own. */
void transcript_insert(struct transcript *transcript, const char *text, size_t len);
/* What follows stands on a line of its own. */
void transcript_end_open_line(struct transcript *transcript);
/* The output rests: what may be the start of a secret, and is too short for one, is shown. */
void transcript_settle(struct transcript *transcript);
/* Forgets what no take has shown; what is spooled stays there. */
void transcript_clear(struct transcript *transcript);
bool transcript_empty(const struct transcript *transcript);
/* The last line has something on it; colours and modes show nothing. */
bool transcript_has_open_line(const struct transcript *transcript);
/*
 * The output is over. Appends it to `out` and `result`, what is answered besides (well-formed
 * UTF-8; both may be NULL), to `ret_result`: together at most `max_chars` characters. The result
 * has what the output leaves, and half at least; either is clipped. What is not shown whole lies in
 * the spool, the result behind the output; what is discards the spool.
 */
struct transcript_text transcript_render(struct transcript *transcript, size_t max_chars,
					 const struct buf *result, struct buf *out,
					 struct buf *ret_result);
/*
 * Appends what came since the last take, and begins anew: what comes now is shown by the next one.
 * From the first on everything is spooled, and stays.
 */
struct transcript_text transcript_take(struct transcript *transcript, size_t max_chars,
				       struct buf *out);
/* Appends the last line that is not empty, finished or not, of what is held. */
void transcript_end_line(const struct transcript *transcript, struct buf *out);
/* Appends the bytes that are held, without the middle that is not. */
void transcript_read(const struct transcript *transcript, struct buf *out);
/* Appends the unfinished last line: the prompt when somebody waits for input. */
void transcript_last_line(const struct transcript *transcript, struct buf *out);
/* Appends what a terminal would answer to the queries that have no answer yet (CSI 6n, CSI c). */
void transcript_take_answers(struct transcript *transcript, struct buf *out);
/* Bytes of output in the spool, once it is over. A result that lies there stands behind them. */
size_t transcript_spooled(const struct transcript *transcript);
/* Path of the spool as the session sees it, NULL when there is none. */
const char *transcript_spool_path(const struct transcript *transcript);
/* Bytes that the spool's limit dropped. */
uint64_t transcript_spool_dropped(const struct transcript *transcript);

#endif
