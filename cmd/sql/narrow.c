/* SPDX-License-Identifier: MIT */
/*
 * narrow.c - rates how a text reads in encodings with one byte for each character.
 *
 * Nearly every byte is a character in nearly all of these encodings. But in a wrong one, words have
 * signs in them, lower case before upper case, letters of two scripts, or accents on every letter.
 * The encoding with the fewest such oddities wins.
 */
#include "narrow.h"

#include <endian.h>
#include <iconv.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <wctype.h>

#include "base/util.h"

enum {
	BYTES = 256,
	UNDEFINED_WEIGHT = 20,
	CONTROL_WEIGHT = 5,
	LATIN_END = 0x250,
	CASELESS_FIRST = 0x590, /* Hebrew, Arabic and Thai, and marks on their letters */
	CASELESS_END = 0xe80,
};

/* The likelier ones first: they win when nothing distinguishes them. */
static const char *const names[] = { "CP1252", "CP1250", "CP1251",     "KOI8-R",    "KOI8-U",
				     "CP1253", "CP1255", "CP1256",     "CP874",     "CP1254",
				     "CP1257", "CP1258", "ISO-8859-2", "ISO-8859-5" };

struct table {
	uint32_t chars[BYTES]; /* 0 for an undefined byte */
};

static bool fill(struct table *table, const char *name)
{
	iconv_t conversion = iconv_open("UTF-32LE", name);

	if (conversion == (iconv_t)-1)
		return false;
	for (unsigned i = 0; i < BYTES; i++) {
		char byte = (char)i;
		char *in = &byte;
		char *out = (char *)&table->chars[i];
		size_t in_left = 1;
		size_t out_left = sizeof(table->chars[i]);

		table->chars[i] = 0;
		(void)iconv(conversion, &in, &in_left, &out, &out_left);
		/* Some conversions wait for a mark on the letter. */
		(void)iconv(conversion, NULL, NULL, &out, &out_left);
		table->chars[i] = le32toh(table->chars[i]);
	}
	(void)iconv_close(conversion);
	return true;
}

static bool is_caseless(uint32_t c)
{
	return c >= CASELESS_FIRST && c < CASELESS_END;
}

static bool is_letter(uint32_t c)
{
	return is_caseless(c) || iswalpha((wint_t)c) != 0;
}

static bool is_latin(uint32_t c)
{
	return c < LATIN_END && is_letter(c);
}

/* Returns true for signs that may be before or between letters: quotes, dashes, points, blanks. */
static bool goes_with_letters(uint32_t c)
{
	static const char signs[] = "\xa0\xa1\xa7\xa9\xab\xad\xae\xb0\xb7\xbb\xbf";

	return (c >= 0x2010 && c < 0x2040) || c == 0x20ac || c == 0x2122 ||
	       (c < BYTES && memchr(signs, (int)c, sizeof(signs) - 1) != NULL);
}

/* Returns how odd a character beyond ASCII is behind `second` and `before`, and before `after`. */
static unsigned oddness(uint32_t second, uint32_t before, uint32_t c, uint32_t after)
{
	if (c == 0)
		return UNDEFINED_WEIGHT;
	if (c < 0xa0)
		return CONTROL_WEIGHT;
	if (!is_letter(c))
		return !goes_with_letters(c) &&
		       (is_letter(after) || before >= 0x80 || after >= 0x80);
	if (is_latin(c) != is_latin(before) && is_letter(before))
		return 1;
	if (is_latin(c) != is_latin(after) && is_letter(after))
		return 1;
	if (iswupper((wint_t)c) != 0 && iswlower((wint_t)before) != 0)
		return 1;
	if (iswlower((wint_t)c) != 0 && iswupper((wint_t)after) != 0)
		return 1;
	return is_latin(c) && before >= 0x80 && second >= 0x80 && is_letter(before) &&
	       is_letter(second);
}

static size_t read_as(const struct table *table, const char *sample, size_t len)
{
	size_t odd = 0;
	uint32_t second = ' ';
	uint32_t before = ' ';

	for (size_t i = 0; i < len; i++) {
		uint32_t c = table->chars[(unsigned char)sample[i]];

		if ((unsigned char)sample[i] >= 0x80)
			odd += oddness(second, before, c,
				       i + 1 < len ? table->chars[(unsigned char)sample[i + 1]]
						   : ' ');
		second = before;
		before = c;
	}
	return odd;
}

size_t narrow_oddness(const char *name, const char *sample, size_t len)
{
	struct table table;

	return fill(&table, name) ? read_as(&table, sample, len) : SIZE_MAX;
}

const char *narrow_guess(const char *sample, size_t len, const char *found, size_t *ret_odd)
{
	const char *best = names[0];
	size_t least = SIZE_MAX;

	for (size_t i = 0; i <= ARRAY_SIZE(names); i++) {
		const char *name = i == 0 ? found : names[i - 1];
		size_t odd = name != NULL ? narrow_oddness(name, sample, len) : SIZE_MAX;

		if (odd < least) {
			best = name;
			least = odd;
		}
	}
	*ret_odd = least;
	return best;
}
