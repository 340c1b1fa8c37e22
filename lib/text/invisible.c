/* SPDX-License-Identifier: MIT */
/*
 * invisible.c - a table of invisible ranges, each with a function that says after which character
 * it stays. Emoji sequences and scripts such as Persian and Hindi are broken without joiners, so a
 * plain ban is not possible. Attacks hide instructions for models in tags U+E0000 ("ASCII
 * smuggling"), which only three flags may contain.
 */
#include "text/invisible.h"

#include <string.h>
#include <unictype.h>

#include "base/util.h"

enum {
	ZERO_WIDTH_JOINER = 0x200d,
	BLACK_FLAG = 0x1f3f4,
	TAGS_FIRST = 0xe0000,
};

struct range {
	uint32_t first;
	uint32_t last;
};

/* Invisible characters, and where they stay; NULL means nowhere. */
struct rule {
	struct range range;
	bool (*stays)(const struct invisible *filter, uint32_t cp);
};

static bool is_in(uint32_t cp, const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (cp >= ranges[i].first && cp <= ranges[i].last)
			return true;
	}
	return false;
}

/* ---- where they stay ---- */

static bool is_variation(uint32_t cp)
{
	return (cp >= 0xfe00 && cp <= 0xfe0f) || (cp >= 0xe0100 && cp <= 0xe01ef);
}

/*
 * Returns whether it is a letter that changes beside others, a mark on one, or a virama of any
 * script.
 */
static bool joins(uint32_t cp)
{
	static const struct range indic[] = {
		{ 0x0900, 0x0dff },   /* Devanagari to Sinhala */
		{ 0x1780, 0x17d3 },   /* Khmer */
		{ 0x11000, 0x1107e }, /* Brahmi */
	};

	int type = uc_joining_type(cp);

	if (type == UC_JOINING_TYPE_T && cp >= 0x0610 && cp <= 0x08ff) /* marks of Arabic, ... */
		return true;
	if (type != UC_JOINING_TYPE_U && type != UC_JOINING_TYPE_T)
		return true;
	return uc_combining_class(cp) == UC_CCC_VR ||
	       (is_in(cp, indic, ARRAY_SIZE(indic)) && uc_is_property_xid_continue(cp));
}

static bool behind_joining(const struct invisible *filter, uint32_t cp)
{
	if (invisible_hides(filter->previous) && !(filter->emoji && is_variation(filter->previous)))
		return false;
	return (cp == ZERO_WIDTH_JOINER && filter->emoji) || joins(filter->previous);
}

static bool behind_unspaced(const struct invisible *filter, uint32_t cp)
{
	static const struct range unspaced[] = {
		{ 0x0e01, 0x0fff },   /* Thai, Lao, Tibetan */
		{ 0x1000, 0x109f },   /* Myanmar */
		{ 0x1780, 0x17ff },   /* Khmer */
		{ 0x1950, 0x19ff },   /* Tai Le, New Tai Lue */
		{ 0x1a20, 0x1aaf },   /* Tai Tham */
		{ 0x1b00, 0x1bff },   /* Balinese to Batak */
		{ 0xa980, 0xaadf },   /* Javanese to Tai Viet */
		{ 0x11700, 0x1174f }, /* Ahom */
	};

	(void)cp;
	return is_in(filter->previous, unspaced, ARRAY_SIZE(unspaced)) &&
	       !invisible_hides(filter->previous);
}

static bool behind_right_to_left(const struct invisible *filter, uint32_t cp)
{
	int class = uc_bidi_class(filter->previous);

	(void)cp;
	return (class == UC_BIDI_R || class == UC_BIDI_AL) && !invisible_hides(filter->previous);
}

static bool behind_mongolian(const struct invisible *filter, uint32_t cp)
{
	(void)cp;
	return filter->previous >= 0x1820 && filter->previous <= 0x18aa;
}

static bool behind_visible(const struct invisible *filter, uint32_t cp)
{
	(void)cp;
	return filter->previous > ' ' && !invisible_hides(filter->previous);
}

static bool behind_ideograph(const struct invisible *filter, uint32_t cp)
{
	(void)cp;
	return uc_is_property_ideographic(filter->previous);
}

static bool goes_on_flag(const struct invisible *filter, uint32_t cp)
{
	static const char *const flags[] = { "gbeng\x7f", "gbsct\x7f", "gbwls\x7f" };
	size_t count = filter->tag_count;

	for (size_t i = 0; filter->flag && count < INVISIBLE_FLAG_TAGS && i < ARRAY_SIZE(flags);
	     i++) {
		if (memcmp(flags[i], filter->tags, count) == 0 &&
		    (uint32_t)flags[i][count] == cp - TAGS_FIRST)
			return true;
	}
	return false;
}

/* Ascending. */
static const struct rule rules[] = {
	{ { 0x00ad, 0x00ad }, NULL },                 /* soft hyphen */
	{ { 0x034f, 0x034f }, NULL },                 /* combining grapheme joiner */
	{ { 0x061c, 0x061c }, behind_right_to_left }, /* Arabic letter mark */
	{ { 0x115f, 0x1160 }, NULL },                 /* Hangul fillers */
	{ { 0x17b4, 0x17b5 }, NULL },                 /* Khmer inherent vowels */
	{ { 0x180b, 0x180f }, behind_mongolian },     /* its selectors and vowel separator */
	{ { 0x200b, 0x200b }, behind_unspaced },      /* zero-width space */
	{ { 0x200c, 0x200d }, behind_joining },       /* non-joiner and joiner */
	{ { 0x200e, 0x200f }, behind_right_to_left }, /* left-to-right and right-to-left mark */
	{ { 0x202a, 0x202e }, NULL },                 /* embeddings and overrides */
	{ { 0x2060, 0x206f }, NULL },                 /* word joiner, operators, isolates */
	{ { 0x3164, 0x3164 }, NULL },                 /* Hangul filler */
	{ { 0xfe00, 0xfe0f }, behind_visible },       /* variation selectors */
	{ { 0xfeff, 0xfeff }, NULL },                 /* byte order mark */
	{ { 0xffa0, 0xffa0 }, NULL },                 /* halfwidth Hangul filler */
	{ { 0xfff0, 0xfffb }, NULL },                 /* ignorables, interlinear annotation */
	{ { 0x1bca0, 0x1bca3 }, NULL },               /* shorthand format controls */
	{ { 0x1d173, 0x1d17a }, NULL },               /* musical format controls */
	{ { TAGS_FIRST, 0xe00ff }, goes_on_flag },    /* tags */
	{ { 0xe0100, 0xe01ef }, behind_ideograph },   /* more variation selectors */
	{ { 0xe01f0, 0xe0fff }, NULL },               /* unassigned ignorables */
};

static const struct rule *rule_of(uint32_t cp)
{
	/* The common case: Latin, symbols, East Asian scripts, and U+FFFD. */
	if (cp < rules[0].range.first || (cp > 0x206f && cp < 0xfe00 && cp != 0x3164) ||
	    cp == 0xfffd)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (cp <= rules[i].range.last)
			return cp >= rules[i].range.first ? &rules[i] : NULL;
	}
	return NULL;
}

bool invisible_hides(uint32_t cp)
{
	return rule_of(cp) != NULL;
}

/* ---- the characters before ---- */

static bool is_pictograph(uint32_t cp)
{
	/* The common case: letters, box drawing, kana, ideographs. */
	if (cp < 0xa9 || (cp > 0xae && cp < 0x203c) || (cp > 0x2500 && cp < 0x25a0) ||
	    (cp > 0x303d && cp < 0x3297) || (cp > 0x3299 && cp < 0x1f000))
		return false;
	return uc_is_property_extended_pictographic(cp);
}

/* Returns whether it may stand between a pictograph and the joiner after it. */
static bool extends_emoji(uint32_t cp)
{
	return cp == 0xfe0f || (cp >= 0x1f3fb && cp <= 0x1f3ff);
}

static void remember(struct invisible *filter, uint32_t cp)
{
	bool tag = cp >= TAGS_FIRST && cp <= 0xe00ff;

	filter->emoji = is_pictograph(cp) || (filter->emoji && extends_emoji(cp));
	filter->previous = cp;
	if (tag) {
		filter->tags[filter->tag_count++] = (char)(cp - TAGS_FIRST);
		return;
	}
	filter->flag = cp == BLACK_FLAG;
	filter->tag_count = 0;
}

/* Writes "<U+200B>". Not by snprintf, which took half of the time of a text that is full of these.
 */
static size_t write_code(uint32_t cp, uint32_t out[INVISIBLE_OUT_MAX])
{
	static const char digits[] = "0123456789ABCDEF";
	int high = cp > 0xfffff ? 20 : cp > 0xffff ? 16 : 12;
	size_t len = 0;

	for (const char *c = "<U+"; *c != '\0'; c++)
		out[len++] = (unsigned char)*c;
	for (int shift = high; shift >= 0; shift -= 4)
		out[len++] = (unsigned char)digits[cp >> shift & 15];
	out[len++] = '>';
	return len;
}

size_t invisible_next(struct invisible *filter, uint32_t cp, uint32_t out[INVISIBLE_OUT_MAX])
{
	const struct rule *rule;

	if (cp < 0x80) {
		*filter = (struct invisible){ .previous = cp };
		out[0] = cp;
		return 1;
	}
	rule = rule_of(cp);
	if (rule != NULL && (rule->stays == NULL || !rule->stays(filter, cp))) {
		*filter = (struct invisible){ 0 };
		return write_code(cp, out);
	}
	remember(filter, cp);
	out[0] = cp;
	return 1;
}
