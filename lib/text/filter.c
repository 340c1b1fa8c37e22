/* SPDX-License-Identifier: MIT */
#include "text/filter.h"

#include <unictype.h>

#include "base/util.h"

enum { ZERO_WIDTH_JOINER = 0x200d };

struct range {
	uint32_t first;
	uint32_t last;
};

/* Ascending. */
static const struct range hidden[] = {
	{ 0x00ad, 0x00ad },   /* soft hyphen */
	{ 0x034f, 0x034f },   /* combining grapheme joiner */
	{ 0x061c, 0x061c },   /* Arabic letter mark */
	{ 0x115f, 0x1160 },   /* Hangul fillers */
	{ 0x17b4, 0x17b5 },   /* Khmer inherent vowels */
	{ 0x180e, 0x180e },   /* Mongolian vowel separator */
	{ 0x200b, 0x200c },   /* zero-width space and non-joiner */
	{ 0x200e, 0x200f },   /* left-to-right and right-to-left mark */
	{ 0x202a, 0x202e },   /* embeddings and overrides */
	{ 0x2060, 0x206f },   /* word joiner, invisible operators, isolates */
	{ 0x3164, 0x3164 },   /* Hangul filler */
	{ 0xfeff, 0xfeff },   /* byte order mark */
	{ 0xffa0, 0xffa0 },   /* halfwidth Hangul filler */
	{ 0xfff0, 0xfffb },   /* unassigned ignorables, interlinear annotation */
	{ 0x1bca0, 0x1bca3 }, /* shorthand format controls */
	{ 0x1d173, 0x1d17a }, /* musical format controls */
	{ 0xe0000, 0xe00ff }, /* tags */
	{ 0xe01f0, 0xe0fff }, /* unassigned ignorables */
};

bool filter_hides(uint32_t cp)
{
	/* No need to look: most scripts, symbols, and U+FFFD. */
	if (cp < hidden[0].first || (cp > 0x3164 && cp < 0xfeff) || cp == 0xfffd)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++) {
		if (cp <= hidden[i].last)
			return cp >= hidden[i].first;
	}
	return false;
}

static bool is_selector(uint32_t cp)
{
	return (cp >= 0xfe00 && cp <= 0xfe0f) || (cp >= 0xe0100 && cp <= 0xe01ef);
}

static bool selector_stays(const struct filter *filter, uint32_t cp)
{
	uint32_t base = filter->previous;

	if (base <= ' ' || is_selector(base))
		return false;
	return cp <= 0xfe0f || uc_is_property_ideographic(base);
}

static bool is_pictograph(uint32_t cp)
{
	/* No need to look: letters, box drawing, ideographs. */
	if (cp < 0xa9 || (cp > 0x2500 && cp < 0x25a0) || (cp > 0x3299 && cp < 0x1f000))
		return false;
	return uc_is_property_extended_pictographic(cp);
}

/* What may stand between a pictograph and the joiner after it. */
static bool extends_emoji(uint32_t cp)
{
	return cp == 0xfe0f || (cp >= 0x1f3fb && cp <= 0x1f3ff);
}

size_t filter_next(struct filter *filter, uint32_t cp, uint32_t out[2])
{
	bool pictograph;
	size_t count = 0;

	if (cp < 0x80) {
		*filter = (struct filter){ .previous = cp };
		out[0] = cp;
		return 1;
	}
	if (cp == ZERO_WIDTH_JOINER) {
		filter->joiner = filter->emoji;
		return 0;
	}
	if (filter_hides(cp) || (is_selector(cp) && !selector_stays(filter, cp)))
		return 0;
	pictograph = is_pictograph(cp);
	if (filter->joiner && pictograph)
		out[count++] = ZERO_WIDTH_JOINER;
	out[count++] = cp;
	filter->emoji = pictograph || (filter->emoji && extends_emoji(cp));
	filter->joiner = false;
	filter->previous = cp;
	return count;
}
