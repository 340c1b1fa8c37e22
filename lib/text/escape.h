/* SPDX-License-Identifier: MIT */
/*
 * escape.h - telling control sequences from text, byte by byte (ECMA-48; the state machine of
 * DEC's terminals, without the C1 bytes, which are UTF-8 here).
 *
 * Control strings (OSC, DCS, APC, PM, SOS) end with ST or BEL, but also at a line feed: an
 * unfinished one must not swallow the rest of the output. CAN and SUB end everything.
 */
#ifndef TEXT_ESCAPE_H
#define TEXT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ESCAPE_BYTE = 0x1b,
	ESCAPE_PARAMS = 16,
	ESCAPE_PARAM_MAX = 1 << 20, /* a larger number counts as this one */
};

enum escape_step {
	ESCAPE_TEXT,    /* the byte is text or a control character: the caller's */
	ESCAPE_PART,    /* the byte is part of a sequence */
	ESCAPE_CSI,     /* it ended one: final, prefix, params */
	ESCAPE_COMMAND, /* it ended ESC and one letter: final */
};

/* Zero-initialised. */
struct escape {
	uint8_t state;
	char prefix;       /* one of ? > = < of a CSI, or 0 */
	bool drawing;      /* letters are lines of boxes: DEC's graphics as G0 */
	bool designates;   /* the open sequence says which characters G0 has */
	bool intermediate; /* has bytes 0x20-0x2f: means something else than without */
	char final;
	uint8_t param_count;
	uint32_t params[ESCAPE_PARAMS]; /* those not given are 0 */
};

/* True when no sequence is open: every byte but ESCAPE_BYTE is text or a control character. */
static inline bool escape_idle(const struct escape *escape)
{
	return escape->state == 0;
}

enum escape_step escape_feed(struct escape *escape, unsigned char byte);
/*
 * Whether the last line has something on it behind these bytes, which follow what `escape` was fed;
 * `open`: it had before. Colours, erasures, modes and commands (ESC and a letter) show
 * nothing.
 */
bool escape_line_open(struct escape *escape, bool open, const char *data, size_t len);
/* Parameter `index`, `otherwise` when it is missing or 0. */
uint32_t escape_param(const struct escape *escape, size_t index, uint32_t otherwise);
/* What a character looks like while letters are lines of boxes: DEC Special Graphics. */
uint32_t escape_drawn(uint32_t cp);

/* Bytes at the end that only make sense with what follows: a cut character or control sequence. */
size_t escape_unfinished(const char *data, size_t len);

#endif
