/* SPDX-License-Identifier: MIT */
/*
 * wide.c - rates how a text reads in encodings with two bytes for each character.
 *
 * Most pairs of bytes are a character in each of these encodings, but not one that people use. Each
 * encoding has ranges of common characters, and a character of a small range proves more than one
 * of a large range. So the cost of a text in bits is compared, as if all characters of a range were
 * equally frequent.
 */
#include "wide.h"

#include <ctype.h>
#include <errno.h>
#include <iconv.h>
#include <stdint.h>
#include <string.h>

#include "base/util.h"

enum {
	RANGES_MAX = 6,
	KANA = 103, /* half-width; all costs are tenths of bits */
	UNCOMMON = 190,
	ERROR = 600,
	ERROR_WEIGHT = 20, /* in uncommon characters */
	COMMON_LEAST = 75, /* in 100 characters */
	KANA_LEAST = 90,   /* where most are half-width kana */
	FOUND_PERCENT = 90,
	KANA_SHARE = 10,
	OUT_SIZE = 4096,
};

struct range {
	unsigned char first_lead;
	unsigned char last_lead;
	unsigned char first_trail;
	unsigned char last_trail;
	unsigned cost;
};

static const struct wide {
	const char *name;
	unsigned char first_lead;
	unsigned char first_trail;
	bool kana; /* has single bytes of half-width kana */
	struct range ranges[RANGES_MAX];
} wides[] = {
	{ "CP932",
	  0x81,
	  0x40,
	  true,
	  { { 0x81, 0x81, 0x40, 0xac, 110 },
	    { 0x82, 0x82, 0x4f, 0xf1, 84 },
	    { 0x83, 0x83, 0x40, 0x96, 84 },
	    { 0x88, 0x88, 0x9f, 0xfc, 127 },
	    { 0x89, 0x97, 0x40, 0xfc, 127 } } },
	{ "EUC-JP",
	  0xa1,
	  0xa1,
	  false,
	  { { 0xa1, 0xa1, 0xa1, 0xfe, 110 },
	    { 0xa3, 0xa3, 0xa1, 0xfe, 110 },
	    { 0xa4, 0xa5, 0xa1, 0xf6, 84 },
	    { 0x8e, 0x8e, 0xa1, 0xdf, KANA },
	    { 0xb0, 0xcf, 0xa1, 0xfe, 127 } } },
	{ "CP949",
	  0x81,
	  0x41,
	  false,
	  { { 0xa1, 0xa1, 0xa1, 0xfe, 110 },
	    { 0xa3, 0xa3, 0xa1, 0xfe, 110 },
	    { 0xb0, 0xc8, 0xa1, 0xfe, 113 } } },
	{ "GB18030",
	  0x81,
	  0x40,
	  false,
	  { { 0xa1, 0xa1, 0xa1, 0xfe, 110 },
	    { 0xa3, 0xa3, 0xa1, 0xfe, 110 },
	    { 0xb0, 0xd7, 0xa1, 0xfe, 120 } } },
	{ "CP950",
	  0x81,
	  0x40,
	  false,
	  { { 0xa1, 0xa1, 0x40, 0xfe, 110 },
	    { 0xa4, 0xc5, 0x40, 0xfe, 125 },
	    { 0xc6, 0xc6, 0x40, 0x7e, 125 } } },
};

static const struct wide *find_wide(const char *name)
{
	for (size_t i = 0; name != NULL && i < ARRAY_SIZE(wides); i++)
		if (str_eq(name, wides[i].name))
			return &wides[i];
	return NULL;
}

bool wide_is(const char *name)
{
	return find_wide(name) != NULL;
}

size_t wide_errors(const char *name, const char *sample, size_t len)
{
	iconv_t conversion = iconv_open("UTF-8", name);
	char *in = (char *)(uintptr_t)sample;
	size_t errors = 0;

	if (conversion == (iconv_t)-1)
		return len;
	while (len > 0) {
		char out[OUT_SIZE];
		char *to = out;
		size_t room = sizeof(out);

		if (iconv(conversion, &in, &len, &to, &room) != (size_t)-1 || errno == EINVAL)
			break;
		if (errno == E2BIG)
			continue;
		errors++;
		in++;
		len--;
	}
	(void)iconv_close(conversion);
	return errors;
}

/* ---- one reading ---- */

struct score {
	size_t all;
	size_t common;
	uint64_t cost;
	size_t kana;  /* half-width */
	size_t vowel; /* those from A to SO, which nearly all texts have */
	size_t end;   /* of the last character beyond ASCII */
};

/* Returns a byte of the sample, a blank outside of it. */
static unsigned char byte_at(const char *sample, size_t len, size_t at)
{
	return at < len ? (unsigned char)sample[at] : ' ';
}

/* Returns true for a voicing sign behind a kana that can be voiced. */
static bool is_voiced(unsigned char before, unsigned char sign)
{
	bool half = before >= 0xca && before <= 0xce;

	return half || (sign == 0xde && (before == 0xb3 || (before >= 0xb6 && before <= 0xc4)));
}

static void add_kana(struct score *score, const char *sample, size_t len, size_t at)
{
	unsigned char byte = byte_at(sample, len, at);
	unsigned char before = byte_at(sample, len, at - 1);
	bool alone = at != score->end && byte_at(sample, len, at + 1) < 0x80;
	bool common = !alone && (byte < 0xde || is_voiced(before, byte));

	score->all++;
	score->kana++;
	score->vowel += byte >= 0xb1 && byte <= 0xbf;
	score->common += common;
	score->cost += common ? KANA : UNCOMMON;
	score->end = at + 1;
}

/*
 * Returns true for a Latin letter beside others, which makes a pair with one of them by accident.
 */
static bool is_accident(const char *sample, size_t len, size_t at)
{
	unsigned char before = byte_at(sample, len, at - 1);
	unsigned char trail = byte_at(sample, len, at + 1);
	unsigned char after = byte_at(sample, len, at + 2);

	return after < 0x80 && (trail < 0x80 || isalpha(before) != 0 || isalpha(after) != 0);
}

static void add_pair(struct score *score, const struct wide *wide, const char *sample, size_t len,
		     size_t at)
{
	unsigned char lead = byte_at(sample, len, at);
	unsigned char trail = byte_at(sample, len, at + 1);
	unsigned cost = UNCOMMON;

	for (size_t i = 0; i < RANGES_MAX; i++) {
		const struct range *range = &wide->ranges[i];

		if (lead >= range->first_lead && lead <= range->last_lead &&
		    trail >= range->first_trail && trail <= range->last_trail)
			cost = range->cost;
	}
	if (at != score->end && is_accident(sample, len, at))
		cost = UNCOMMON;
	score->all++;
	score->common += cost != UNCOMMON;
	score->cost += cost;
	score->end = at + 1 + (trail >= wide->first_trail);
}

static struct score read_as(const struct wide *wide, const char *sample, size_t len)
{
	struct score score = { 0 };

	for (size_t at = 0; at < len; at++) {
		unsigned char byte = (unsigned char)sample[at];

		if (byte < 0x80)
			continue;
		if (wide->kana && byte >= 0xa1 && byte <= 0xdf) {
			add_kana(&score, sample, len, at);
		} else if (at + 1 < len) {
			add_pair(&score, wide, sample, len, at);
			at = score.end - 1;
		}
	}
	return score;
}

static bool is_plausible(const struct score *score, size_t errors)
{
	size_t doubtful = score->all - score->common + ERROR_WEIGHT * errors;

	bool kana = 2 * score->kana > score->all;
	size_t least = kana ? KANA_LEAST : COMMON_LEAST;

	/* Cyrillic letters also read as kana throughout. */
	if (kana && KANA_SHARE * score->vowel < score->kana)
		return false;
	return score->all > 0 && 100 * doubtful <= (100 - least) * score->all;
}

const char *wide_guess(const char *sample, size_t len, const char *found)
{
	const char *best = NULL;
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < ARRAY_SIZE(wides); i++) {
		const struct wide *wide = &wides[i];
		struct score score = read_as(wide, sample, len);
		size_t errors = wide_errors(wide->name, sample, len);
		uint64_t cost = score.cost + ERROR * errors;

		if (found != NULL && str_eq(found, wide->name))
			cost = cost * FOUND_PERCENT / 100;
		if (cost < least && is_plausible(&score, errors)) {
			best = wide->name;
			least = cost;
		}
	}
	return best;
}
