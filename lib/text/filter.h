/* SPDX-License-Identifier: MIT */
/*
 * filter.h - leaving out the characters that nobody sees.
 *
 * Bidi controls reorder what stands around them, zero-width characters, tags and runs of
 * variation selectors hide text from the reader but not from a model (Unicode TR 36, TR 39).
 * What emoji and ideographs need of them stays: U+200D between two pictographs, and one
 * variation selector after a visible character.
 */
#ifndef TEXT_FILTER_H
#define TEXT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Code points in, one line after the other; zero-initialised. */
struct filter {
	uint32_t previous; /* the last one that stayed */
	bool emoji;        /* it is part of one */
	bool joiner;       /* U+200D came after it */
};

/* True for what never stays, wherever it stands. Controls are the caller's matter. */
bool filter_hides(uint32_t cp);
/* Returns how many code points, 0 to 2, are now due. */
size_t filter_next(struct filter *filter, uint32_t cp, uint32_t out[2]);

#endif
