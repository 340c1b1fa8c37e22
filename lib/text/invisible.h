/* SPDX-License-Identifier: MIT */
/*
 * invisible.h - makes invisible characters visible.
 *
 * Bidi controls reorder the text around them. Zero-width characters, tags and runs of variation
 * selectors hide text from the user but not from a model (Unicode TR 36, TR 39). None is removed:
 * such a character is written as <U+200B>. It stays where a script or an emoji needs it:
 *
 * - U+200C and U+200D behind a letter of a script that joins, or an Indic letter or mark. This
 *   covers TR 31's rules A1, A2 and B, and common typing beyond them. U+200D behind an emoji;
 * - U+200B behind a letter of a script that has no blanks between words (Khmer, Thai, ...);
 * - U+061C, U+200E and U+200F behind a letter that is written from right to left;
 * - one variation selector behind a visible character, those of Mongolian behind its letters;
 * - the tags of the three flags that Unicode recommends (England, Scotland, Wales).
 *
 * One such character stays, never two in a row. The decision depends only on the text before it.
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

/* A filter for code points, one line after the other. A zeroed struct is the start. */
struct invisible {
	uint32_t previous; /* the last code point that stayed */
	bool emoji;        /* it is part of an emoji */
	bool flag;         /* it is a black flag, or a tag behind one */
	uint8_t tag_count;
	char tags[INVISIBLE_FLAG_TAGS];
};

/*
 * Returns whether the character is invisible: it stays only where the list above says so. Not for
 * controls.
 */
bool invisible_hides(uint32_t cp);
/*
 * Writes the code points that stand for `cp` and returns their number, at least one. The caller
 * handles controls.
 */
size_t invisible_next(struct invisible *filter, uint32_t cp, uint32_t out[INVISIBLE_OUT_MAX]);

#endif
