/* SPDX-License-Identifier: MIT */
/*
 * filter.h - showing the characters that nobody sees.
 *
 * Bidi controls reorder what stands around them; zero-width characters, tags and runs of variation
 * selectors hide text from the reader but not from a model (Unicode TR 36, TR 39). Nothing is left
 * out: such a character is written as <U+200B>. Where a script or an emoji needs one, it stays:
 *
 * - U+200C and U+200D behind a letter of a script that joins, or an Indic letter or mark. That is
 *   all of TR 31's rules A1, A2 and B, and what people type beyond them. U+200D behind an emoji;
 * - U+200B behind a letter of a script that has no blanks between words (Khmer, Thai, ...);
 * - U+061C, U+200E and U+200F behind a letter that is written from right to left;
 * - one variation selector behind a visible character, those of Mongolian behind its letters;
 * - the tags of the three flags that Unicode recommends (England, Scotland, Wales).
 *
 * One such character stays, never two in a row. Whether it stays depends on what came before alone.
 */
#ifndef TEXT_INVISIBLE_H
#define TEXT_INVISIBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	INVISIBLE_OUT_MAX = 10, /* <U+10FFFF> */
	INVISIBLE_FLAG_TAGS = 6,
};

/* Code points in, one line after the other; zero-initialised. */
struct invisible {
	uint32_t previous; /* the last one that stayed */
	bool emoji;        /* it is part of one */
	bool flag;         /* it is a black flag, or tags behind one */
	uint8_t tag_count;
	char tags[INVISIBLE_FLAG_TAGS];
};

/* True for what is not seen: it stays only where the list above says so. Not for controls. */
bool invisible_hides(uint32_t cp);
/* Returns how many code points, one or more, stand for `cp`. Controls are the caller's matter. */
size_t invisible_next(struct invisible *filter, uint32_t cp, uint32_t out[INVISIBLE_OUT_MAX]);

#endif
