/* SPDX-License-Identifier: MIT */
/*
 * redact.h - removes secret values from text: "[secret NAME]" replaces each.
 *
 * A value is found as it is, JSON-escaped and with other backslash escapes, percent-encoded, in
 * hexadecimal, and in base64 of either alphabet at any offset within the encoded bytes. It is found
 * across colours, carriage returns, line breaks of an encoder, and chunks. The rest of a base64
 * text on either side of it holds at most four bits of the value.
 *
 * One case is not found: an escaped value whose first or last letters form an escape with their
 * neighbours (C:\\ before n..., or ...\\20 before 1).
 *
 * The time is linear in the text. Only text that may still become a value is held back, so its size
 * is bounded by the longest value.
 */
#ifndef REDACT_REDACT_H
#define REDACT_REDACT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* The name and "]" follow. */
#define REDACT_MARK "[secret "

struct redact;
struct redact_stream;

enum {
	REDACT_CHARS_MIN = 8, /* shorter values would hide half of any text */
	REDACT_BYTES_MAX = 16 << 10,
	/* Letters of a truncated value: https://, postgres:// and -----BEGIN are no secrets. */
	REDACT_TRUNCATED_MIN = 12,
};

/*
 * Returns whether a value can be found: without blanks around it and carriage returns, it has at
 * least REDACT_CHARS_MIN characters and at most REDACT_BYTES_MAX bytes.
 */
bool redact_takes(const char *value);

struct redact *redact_new(void);
/* Frees it. May be NULL. */
void redact_free(struct redact *redact);
/* Adds a value that redact_takes() accepts. */
void redact_add(struct redact *redact, const char *name, const char *value);
/* Completes the set of values. Must be called after the last value and before any text. */
void redact_finish(struct redact *redact);

/* Makes a stream for one text in chunks. `redact` is borrowed until redact_stream_free. */
struct redact_stream *redact_stream_new(const struct redact *redact);
/* Frees it. May be NULL. */
void redact_stream_free(struct redact_stream *stream);
/* Adds a chunk, and appends to `out` the text that is certain by now. */
void redact_feed(struct redact_stream *stream, const char *data, size_t len, struct buf *out);
/*
 * Ends a pause of the text: appends the held text except a beginning of REDACT_CHARS_MIN bytes or
 * more. If the value continues later, its rest is removed.
 */
void redact_settle(struct redact_stream *stream, struct buf *out);
/* Ends the text and appends everything that is held. */
void redact_end(struct redact_stream *stream, struct buf *out);
/* Appends the held bytes as they are: a stream that is fed them goes on as this one. */
void redact_read_held(const struct redact_stream *stream, struct buf *out);
/*
 * Returns how many of the fed bytes are held, because a secret may begin in them; 0 after
 * redact_end.
 */
size_t redact_held(const struct redact_stream *stream);

/*
 * Removes values from a whole text. `stream` must be unused; it is so again afterwards. The first
 * REDACT_TRUNCATED_MIN or more letters of a value count as one if "..." or "[...]" follows, as in a
 * long text cut for display. So do its last letters behind the dots. Returns false and leaves `out`
 * alone if nothing was found.
 */
bool redact_text(struct redact_stream *stream, const char *text, size_t len, struct buf *out);
/*
 * Remove values from a text that takes long: call begin, then step while it returns REDACT_MORE.
 * Each step processes some KB. `out` gets the text without values only if the result is
 * REDACT_FOUND.
 */
enum redact_step { REDACT_MORE, REDACT_NOTHING_FOUND, REDACT_FOUND };

void redact_begin(struct redact_stream *stream, const char *text, size_t len);
enum redact_step redact_step(struct redact_stream *stream, struct buf *out);
/* Replaces *text, which the caller owns. Either may be NULL. */
void redact_string(const struct redact *redact, char **text);
/*
 * Replaces *text as redact_string does, for a text whose end is missing: it is treated as if "..."
 * followed.
 */
void redact_cut_string(const struct redact *redact, char **text);
/*
 * Appends the text with the value of each mark in its place. Returns the name of the first mark
 * that has none, which the caller frees, or NULL. `redact` may be NULL: then no name has a value.
 */
char *redact_fill(const struct redact *redact, const char *text, size_t len, struct buf *out);
/*
 * Appends the bytes from `from` to `to` of a text, without values. The text must include
 * redact_reach() bytes on either side, if it has so many. A value is replaced in the part in which
 * it begins, so consecutive parts make up the text without values.
 */
void redact_range(const struct redact *redact, const char *text, size_t len, size_t from, size_t to,
		  struct buf *out);
/* Returns the most bytes that a value may take, with each letter as \\uHHHH. */
size_t redact_reach(const struct redact *redact);

/*
 * Escapes the blanks in marks within `names`, lines of names as text/name_lines.h reads them.
 * Within a name the escape is that of a name; in the words behind it a blank becomes _. The caller
 * frees the result.
 */
char *redact_escape_names(const char *names);

#endif
