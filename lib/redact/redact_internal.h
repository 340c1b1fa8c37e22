/* SPDX-License-Identifier: MIT */
/* redact_internal.h - what the parts of redact.h share. */
#ifndef REDACT_REDACT_INTERNAL_H
#define REDACT_REDACT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "redact/encoding.h"
#include "redact/matcher.h"
#include "redact/redact.h"

/* What the bytes that a spelling means are taken for. */
enum alphabet { ALPHABET_TEXT, ALPHABET_BASE64, ALPHABET_HEX };

/* REDACT_ASK: what it is depends on what stands behind it. */
enum { REDACT_NO_LETTER = -1, REDACT_NOTHING = -2, REDACT_ASK = -3 };

enum { VIEWS = 9, REDACT_LOOK_SLICE = 16 << 10 };
/* Looked at in one text: ours have one each. */
enum { REDACT_GAPS_MAX = 16 };

enum pattern {
	PATTERN_PLAIN,
	PATTERN_BACKSLASH,
	PATTERN_PERCENT,
	PATTERN_BASE64,
	PATTERN_HEX,
	PATTERN_VERBATIM, /* few values need it: redact_add() */
	PATTERNS
};

/* A way in which a text is looked at. */
struct look {
	enum encoding spelling;
	enum alphabet alphabet;
	enum pattern pattern;
};

extern const struct look redact_looks[VIEWS];
/* Those of a spelling begin here, and end where the next one's begin. */
extern const size_t redact_first_look[SPELLINGS + 1];

struct redact {
	struct matcher *matchers[PATTERNS];
	struct matcher *ends[PATTERNS]; /* the same strings, backwards */
	char **names;
	size_t count;
	size_t spellings;           /* that are looked at: VERBATIM only when a value needs it */
	bool wakes[SPELLINGS][256]; /* a byte with which something may begin */
	int16_t alone[VIEWS][256];  /* the letter that a byte is; REDACT_ASK for a view is for all
				     * of its spelling */
};

/* Part of the text that is a value. */
struct mark {
	uint64_t from;
	uint64_t to;
	uint64_t longest; /* length of what `tag` is of */
	uint32_t tag;
	bool said;
};

struct view {
	const struct matcher *matcher;
	uint32_t state;
	size_t letters;
	size_t mask;      /* of the ring */
	uint64_t *starts; /* of the last letters in the text: a ring */
	uint64_t end;     /* of the last letter */
	uint64_t ignored; /* bytes since then that mean nothing */
};

/* Positions count from the start of the text. */
struct redact_stream {
	const struct redact *redact;
	struct buf text; /* from `base` on */
	uint64_t base;
	uint64_t said;            /* up to here it was given out */
	uint64_t read[SPELLINGS]; /* up to here it was looked at */
	struct view views[VIEWS];
	struct mark *marks; /* of what was not given out, in order and apart */
	size_t mark_first;
	size_t mark_count; /* from the start of the array */
	size_t mark_cap;
	bool found;
	bool whole;      /* all of the text is there */
	uint64_t looked; /* up to here, of a whole text */
	uint64_t gap;    /* behind the last one that was looked at */
	size_t gaps;     /* that were, or REDACT_GAPS_MAX: there are no more */
	bool cut;        /* and its end was cut off */
};

/* What a byte of an alphabet is for it: a letter, REDACT_NO_LETTER or REDACT_NOTHING. */
int redact_letter(enum alphabet alphabet, char c);
bool redact_is_blank(char c);
/* Looks at all that is there; `last`: no more will come. */
void redact_look(struct redact_stream *stream, bool last);
/* At REDACT_LOOK_SLICE bytes from `at` on, up to which it was looked. */
void redact_look_at(struct redact_stream *stream, uint64_t at, bool last);
/* Appends the text up to `to`. */
void redact_say(struct redact_stream *stream, uint64_t to, struct buf *out);
/* Part of the text is a value. */
void redact_mark(struct redact_stream *stream, struct mark mark);
/* Bytes that nobody needs any more go. */
void redact_forget(struct redact_stream *stream);
/* What `view` has begun goes no further at `at`: it is a value if the text was cut there. */

#endif
