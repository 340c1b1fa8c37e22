/* SPDX-License-Identifier: MIT */
/*
 * encoding.c - chooses among the encodings that can decode a text that is not UTF-8.
 *
 * libuchardet knows the frequencies of letters. From a few letters it concludes anything, and it
 * may name an encoding that cannot decode the text. An encoding that decodes the text into natural
 * writing therefore comes before its answer. Among equals, Windows-1252 is the likeliest.
 */
#include "encoding.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <uchardet/uchardet.h>

#include "base/util.h"
#include "narrow.h"
#include "text/utf8.h"
#include "wide.h"

enum {
	LOOK_SIZE = 4096,     /* bytes in which zeros are counted */
	FEW_LETTERS = 8,      /* fewer characters beyond ASCII prove too little */
	MOSTLY = 10,          /* well-formed characters for each malformed byte of a UTF-8 text */
	FIRST_LETTER = 0xa0,  /* of ISO 8859; only Windows encodings have letters below it */
	READ_MAX = 192 << 10, /* bytes that are decoded in each encoding */
	ODD_SHARE = 7,
};

/* libuchardet's results and iconv's names for them. `latin`: one of many similar encodings. */
static const struct {
	const char *found;
	const char *name;    /* NULL: the same */
	const char *windows; /* the encoding for bytes below FIRST_LETTER */
	bool latin;
} rows[] = {
	{ "ISO-8859-1", "CP1252", NULL, true },    { "WINDOWS-1252", "CP1252", NULL, true },
	{ "ISO-8859-15", NULL, "CP1252", true },   { "ISO-8859-2", NULL, "CP1250", true },
	{ "WINDOWS-1250", "CP1250", NULL, true },  { "ISO-8859-9", "CP1254", NULL, true },
	{ "WINDOWS-1254", "CP1254", NULL, true },  { "ISO-8859-13", "CP1257", NULL, true },
	{ "WINDOWS-1257", "CP1257", NULL, true },  { "WINDOWS-1251", "CP1251", NULL, false },
	{ "ISO-8859-5", NULL, "CP1251", false },   { "KOI8-R", NULL, NULL, false },
	{ "KOI8-U", NULL, NULL, false },           { "ISO-8859-7", "CP1253", NULL, false },
	{ "WINDOWS-1253", "CP1253", NULL, false }, { "ISO-8859-8", "CP1255", NULL, false },
	{ "WINDOWS-1255", "CP1255", NULL, false }, { "ISO-8859-6", NULL, "CP1256", false },
	{ "WINDOWS-1256", "CP1256", NULL, false }, { "WINDOWS-1258", "CP1258", NULL, false },
	{ "TIS-620", "CP874", NULL, false },       { "ISO-8859-11", "CP874", NULL, false },
	{ "SHIFT_JIS", "CP932", NULL, false },     { "EUC-JP", NULL, NULL, false },
	{ "EUC-KR", "CP949", NULL, false },        { "UHC", "CP949", NULL, false },
	{ "GB18030", NULL, NULL, false },          { "BIG5", "CP950", NULL, false },
};

static void set(struct encoding *encoding, const char *name, size_t mark)
{
	*encoding = (struct encoding){ .mark = mark };
	(void)snprintf(encoding->name, sizeof(encoding->name), "%s", name);
}

/*
 * Returns the name of UTF-16 when zero bytes show it. Text has few characters with a zero in either
 * byte, and most of a table's characters have one. A single zero is a mistake in a small file.
 */
static const char *wide_name(const char *head, size_t len)
{
	size_t looked = size_min(len, LOOK_SIZE) & ~(size_t)1;
	size_t zeros[2] = { 0 };

	for (size_t i = 0; i < looked; i++)
		zeros[i % 2] += head[i] == '\0';
	if (looked < 4 || zeros[0] + zeros[1] < 2 || zeros[0] + zeros[1] < looked / 16)
		return NULL;
	if (zeros[1] > 4 * zeros[0])
		return "UTF-16LE";
	return zeros[0] > 4 * zeros[1] ? "UTF-16BE" : NULL;
}

void encoding_begin(struct encoding *encoding, const char *head, size_t len)
{
	static const struct {
		const char *mark;
		size_t len;
		const char *name;
	} marks[] = { { "\xef\xbb\xbf", 3, "" },
		      { "\xff\xfe\0\0", 4, "UTF-32LE" },
		      { "\xff\xfe", 2, "UTF-16LE" },
		      { "\xfe\xff", 2, "UTF-16BE" },
		      { "\0\0\xfe\xff", 4, "UTF-32BE" } };
	const char *wide = wide_name(head, len);

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (len >= marks[i].len && memcmp(head, marks[i].mark, marks[i].len) == 0) {
			set(encoding, marks[i].name, marks[i].len);
			return;
		}
	set(encoding, wide != NULL ? wide : "", 0);
}

struct letters {
	size_t all;      /* bytes beyond ASCII */
	size_t low;      /* those below FIRST_LETTER */
	size_t formed;   /* characters beyond ASCII in UTF-8 */
	size_t unformed; /* bytes that belong to none */
};

static struct letters count_letters(const char *sample, size_t len)
{
	struct letters letters = { 0 };
	struct utf8_decoder decoder = { 0 };

	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)sample[i];
		int32_t got[2];

		letters.all += byte >= 0x80;
		letters.low += byte >= 0x80 && byte < FIRST_LETTER;
		utf8_decode(&decoder, byte, &got[0], &got[1]);
		for (size_t k = 0; k < 2; k++) {
			letters.unformed += got[k] == UTF8_REPLACEMENT;
			letters.formed += got[k] >= 0x80 && got[k] != UTF8_REPLACEMENT;
		}
	}
	return letters;
}

/* Returns the encoding that libuchardet's result stands for; NULL when it proves too little. */
static const char *name_of(const char *found, const struct letters *letters)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcasecmp(found, rows[i].found) != 0)
			continue;
		if (rows[i].latin && letters->all < FEW_LETTERS)
			break;
		if (rows[i].windows != NULL && letters->low > 0)
			return rows[i].windows;
		return rows[i].name != NULL ? rows[i].name : rows[i].found;
	}
	return NULL;
}

static bool is_latin(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].latin && (strcasecmp(name, rows[i].found) == 0 ||
				      (rows[i].name != NULL && str_eq(name, rows[i].name)) ||
				      (rows[i].windows != NULL && str_eq(name, rows[i].windows))))
			return true;
	return false;
}

static const char *choose(const char *found, const char *sample, size_t len,
			  const struct letters *letters)
{
	size_t read = size_min(len, READ_MAX);
	bool is_wide = wide_is(found);
	const char *wide;
	const char *narrow;
	size_t odd;

	/* Cyrillic words can be read as pairs, too, if all have even length. */
	if (found != NULL && !is_wide && !is_latin(found) &&
	    narrow_oddness(found, sample, read) == 0)
		return found;
	wide = wide_guess(sample, read, found);
	if (wide != NULL)
		return wide;
	narrow = narrow_guess(sample, read, is_wide ? NULL : found, &odd);
	if (is_wide && odd > letters->all / ODD_SHARE && wide_errors(found, sample, read) == 0)
		return found;
	return narrow;
}

void encoding_guess(struct encoding *encoding, const char *sample, size_t len)
{
	struct letters letters = count_letters(sample, len);
	uchardet_t detector;

	if (letters.formed > MOSTLY * letters.unformed) {
		encoding->broken = true;
		return;
	}
	detector = uchardet_new();
	(void)uchardet_handle_data(detector, sample, len);
	uchardet_data_end(detector);
	set(encoding,
	    choose(name_of(uchardet_get_charset(detector), &letters), sample, len, &letters), 0);
	encoding->guessed = true;
	uchardet_delete(detector);
}
