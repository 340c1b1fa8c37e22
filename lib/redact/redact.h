/* SPDX-License-Identifier: MIT */
/*
 * redact.h - taking secret values out of text: "[secret NAME]" stands where one stood.
 *
 * A value is found as it is, JSON-escaped and with other backslash escapes, percent-encoded, in
 * hexadecimal and in base64 of either alphabet wherever in the encoded bytes it lies; across
 * colours, carriage returns, the line breaks of an encoder, and the borders of what is fed. What is
 * left of a base64 text on either side of it holds at most four bits of the value.
 *
 * What it cannot tell: an escaped value whose first or last letters make an escape with what
 * stands beside it (C:\\ and then n..., or ...\\20 and then 1).
 *
 * The time is linear in the text. What is held back is what may still turn out to be a value, and
 * thus bounded by the longest.
 */
#ifndef REDACT_REDACT_H
#define REDACT_REDACT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Behind it stand the name and "]". */
#define REDACT_MARK "[secret "

struct redact;
struct redact_stream;

enum {
	REDACT_CHARS_MIN = 8, /* shorter values would hide half of any text */
	REDACT_BYTES_MAX = 16 << 10,
	/* Letters of a value that was cut: https://, postgres:// and -----BEGIN are everybody's. */
	REDACT_BEGUN_MIN = 12,
};

/*
 * Whether a value can be found: without blanks around it and carriage returns it has
 * REDACT_CHARS_MIN characters, and REDACT_BYTES_MAX bytes at most.
 */
bool redact_takes(const char *value);

struct redact *redact_new(void);
/* NULL is allowed. */
void redact_free(struct redact *redact);
/* A value that redact_takes(). */
void redact_add(struct redact *redact, const char *name, const char *value);
/* After the last value, before any text. */
void redact_finish(struct redact *redact);

/* One text in pieces. `redact` is borrowed. */
struct redact_stream *redact_stream_new(const struct redact *redact);
/* NULL is allowed. */
void redact_stream_free(struct redact_stream *stream);
/* Appends to `out` what is sure of the text so far. */
void redact_feed(struct redact_stream *stream, const char *data, size_t len, struct buf *out);
/*
 * The text rests here: appends what is held, but for a beginning of REDACT_CHARS_MIN bytes and
 * more. Should a value go on after it, its rest is taken out.
 */
void redact_settle(struct redact_stream *stream, struct buf *out);
/* The text ends here: appends all that is held. */
void redact_end(struct redact_stream *stream, struct buf *out);
/* Bytes that are held. */
size_t redact_held(const struct redact_stream *stream);

/*
 * A whole text; `stream` is as new before and after. The first REDACT_BEGUN_MIN letters and more of
 * a value are one, too, where "..." or "[...]" stands behind them: a long text that was cut to be
 * shown. So are its last ones behind the dots. False, with `out` as it was: nothing was found.
 */
bool redact_text(struct redact_stream *stream, const char *text, size_t len, struct buf *out);
/*
 * The same for a text that takes long: begin, then step as long as there is more. Each looks at
 * some KB. What was found in it, `out` has without; else `out` is as it was.
 */
enum redact_step { REDACT_MORE, REDACT_NOTHING_FOUND, REDACT_FOUND };

void redact_begin(struct redact_stream *stream, const char *text, size_t len);
enum redact_step redact_step(struct redact_stream *stream, struct buf *out);
/* Replaces *text, which is the caller's; NULL of either is allowed. */
void redact_string(const struct redact *redact, char **text);
/* The same with a text of which only the start is there: its end is as if "..." stood behind it. */
void redact_cut_string(const struct redact *redact, char **text);
/*
 * Appends the bytes `from` to `to` of a text, of which redact_reach() bytes before and behind them
 * are there, too, where it has so many. A value is said in the part in which it begins: parts that
 * follow on each other make the text without values.
 */
void redact_range(const struct redact *redact, const char *text, size_t len, size_t from, size_t to,
		  struct buf *out);
/* The bytes that a value takes at most, were each of its letters a \\uHHHH. */
size_t redact_reach(const struct redact *redact);

/*
 * Escapes the blanks within marks in `names`, lines of names as text/name_lines.h reads them: as in
 * a name where the mark is part of one, as _ in the words behind it. The caller frees the result.
 */
char *redact_escape_names(const char *names);

#endif
