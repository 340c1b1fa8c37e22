/* SPDX-License-Identifier: MIT */
/* redact_internal.h - shared by the parts of redact.h. */
#ifndef REDACT_REDACT_INTERNAL_H
#define REDACT_REDACT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "redact/encoding.h"
#include "redact/matcher.h"
#include "redact/redact.h"

/* The letters that the decoded bytes are read as. */
enum alphabet { ALPHABET_TEXT, ALPHABET_BASE64, ALPHABET_HEX };

/* REDACT_ASK: it depends on the bytes that follow. */
enum { REDACT_NO_LETTER = -1, REDACT_NOTHING = -2, REDACT_ASK = -3 };

enum { VIEWS = 9, REDACT_SLICE = 16 << 10 };
/* Gaps searched in one text; our own texts have one each. */
enum { REDACT_GAPS_MAX = 16 };

enum pattern {
	PATTERN_PLAIN,
	PATTERN_BACKSLASH,
	PATTERN_PERCENT,
	PATTERN_BASE64,
	PATTERN_HEX,
	PATTERN_VERBATIM, /* needed by few values: redact_add() */
	PATTERNS
};

/* One way to read a text. */
struct view_kind {
	enum encoding encoding;
	enum alphabet alphabet;
	enum pattern pattern;
};

extern const struct view_kind redact_view_kinds[VIEWS];
/* The views of an encoding begin here and end where the next one's begin. */
extern const size_t redact_first_view[ENCODINGS + 1];

struct redact {
	struct matcher *matchers[PATTERNS];
	struct matcher *ends[PATTERNS]; /* the same strings, reversed */
	char **names;
	char **values; /* without blanks around them */
	size_t count;
	size_t encodings;           /* encodings in use: VERBATIM only if a value needs it */
	bool wakes[ENCODINGS][256]; /* bytes with which a match may begin */
	int16_t alone[VIEWS][256];  /* the letter that a byte is; REDACT_ASK in one view means all
				       views of the encoding */
};

/* A range of the text that is a value. */
struct mark {
	uint64_t from;
	uint64_t to;
	uint64_t longest; /* length of the string with `tag` */
	uint32_t tag;
	bool emitted;
};

struct view {
	const struct matcher *matcher;
	uint32_t state;
	size_t letters;
	size_t mask;      /* of the ring */
	uint64_t *starts; /* where the last letters begin in the text: a ring */
	uint64_t end;     /* of the last letter */
	uint64_t ignored; /* bytes since then that stand for nothing */
};

/* Positions count from the start of the text. */
struct redact_stream {
	const struct redact *redact;
	struct buf text; /* from `base` on */
	uint64_t base;
	uint64_t emitted;         /* the text was emitted up to here */
	uint64_t read[ENCODINGS]; /* the text was scanned up to here */
	struct view views[VIEWS];
	struct mark *marks; /* not yet emitted, in order, without overlaps */
	size_t mark_first;
	size_t mark_count; /* from the start of the array */
	size_t mark_cap;
	bool found;
	bool whole;       /* the stream holds all of the text */
	uint64_t scanned; /* scanned up to here, of a whole text */
	uint64_t gap;     /* behind the last gap that was searched */
	size_t gaps;      /* searched gaps, or REDACT_GAPS_MAX if there are no more */
	bool cut;         /* and its end was cut off */
};

/* Returns the letter that a byte is in an alphabet, REDACT_NO_LETTER or REDACT_NOTHING. */
int redact_letter(enum alphabet alphabet, char c);
/* Scans all text that is there. `last`: no more follows. */
void redact_scan(struct redact_stream *stream, bool last);
/* Scans REDACT_SLICE bytes from `at`, up to which the text was scanned. */
void redact_scan_slice(struct redact_stream *stream, uint64_t at, bool last);
/* Appends the text up to `to`, with values replaced. */
void redact_emit(struct redact_stream *stream, uint64_t to, struct buf *out);
/* Marks a range of the text as a value. */
void redact_mark(struct redact_stream *stream, struct mark mark);
/* Drops the bytes that no view needs any more. */
void redact_forget(struct redact_stream *stream);

#endif
