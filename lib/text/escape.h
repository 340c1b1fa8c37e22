/* SPDX-License-Identifier: MIT */
/*
 * escape.h - separates control sequences from text, byte by byte (ECMA-48). The state machine is
 * that of DEC's terminals without C1 bytes, which are UTF-8 here.
 *
 * Control strings (OSC, DCS, APC, PM, SOS) end with ST or BEL, and also at a line feed: an
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
	ESCAPE_TEXT,    /* the byte is text or a control character: the caller handles it */
	ESCAPE_PART,    /* the byte is part of a sequence */
	ESCAPE_CSI,     /* the byte ended a CSI sequence: final, prefix, params */
	ESCAPE_COMMAND, /* the byte ended ESC and one letter: final */
};

/* A zeroed struct is the start state. */
struct escape {
	uint8_t state;
	char prefix;       /* one of ? > = < of a CSI, or 0 */
	bool drawing;      /* letters are drawn as lines of boxes: DEC's graphics as G0 */
	bool designates;   /* the open sequence selects the characters of G0 */
	bool intermediate; /* has bytes 0x20-0x2f, which change its meaning */
	char final;
	uint8_t param_count;
	uint32_t params[ESCAPE_PARAMS]; /* 0 if not given */
};

/*
 * Returns whether no sequence is open: every byte but ESCAPE_BYTE is then text or a control
 * character.
 */
static inline bool escape_idle(const struct escape *escape)
{
	return escape->state == 0;
}

/* Takes one byte and returns what it is. */
enum escape_step escape_feed(struct escape *escape, unsigned char byte);
/*
 * Returns whether the last line shows anything after these bytes, which follow those fed to
 * `escape`. `open` says whether it did before. Colours, erasures, modes and commands (ESC and a
 * letter) show nothing.
 */
bool escape_line_open(struct escape *escape, bool open, const char *data, size_t len);
/* Returns parameter `index`, `otherwise` if it is missing or 0. */
uint32_t escape_param(const struct escape *escape, size_t index, uint32_t otherwise);
/*
 * Returns the character that `cp` looks like while letters are lines of boxes: DEC Special
 * Graphics.
 */
uint32_t escape_drawn(uint32_t cp);

/*
 * Returns the number of bytes at the end that need those that follow: a cut character or control
 * sequence.
 */
size_t escape_unfinished(const char *data, size_t len);

#endif
