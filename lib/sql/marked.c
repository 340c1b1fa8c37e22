/* SPDX-License-Identifier: MIT */
/*
 * marked.c - recognises numbers with marks by lists of signs and words. A code such as 12A or 300-B
 * must not count as one, so the letters and their places are narrow.
 */
#include "sql/marked.h"

#include <ctype.h>
#include <string.h>

#include "base/chars.h"
#include "base/util.h"

enum {
	WORDS_MAX = 16, /* bytes behind a number */
	WORD_MAX = 8,   /* of one word */
};

#define MINUS "\xe2\x88\x92" /* U+2212 */

/* ---- around the number ---- */

/* Returns the length of the list's entry that the text begins with; 0 for none. */
static size_t begins_with(const char *s, size_t len, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) <= len && memcmp(list[i], s, strlen(list[i])) == 0)
			return strlen(list[i]);
	return 0;
}

/*
 * Returns the length of the currency's sign, percent sign, sign or blank that the text begins with.
 */
static size_t mark_length(const char *s, size_t len)
{
	static const char *const marks[] = { "$",
					     "%",
					     "(",
					     ")",
					     " ",
					     "-",
					     "+",
					     "\xc2\xa2", /* cent */
					     "\xc2\xa3", /* pound */
					     "\xc2\xa5", /* yen */
					     "\xc2\xa0", /* blanks */
					     "\xe2\x80\xaf",
					     "\xe2\x80\xb0", /* per mille */
					     MINUS };

	if (isalnum((unsigned char)*s))
		return 0;
	/* U+20A0 to U+20CF are all signs of currencies. */
	if (len >= 3 && memcmp(s, "\xe2\x82", 2) == 0 && (unsigned char)s[2] >= 0xa0)
		return 3;
	if (len >= 3 && memcmp(s, "\xe2\x83", 2) == 0 && (unsigned char)s[2] <= 0x8f)
		return 3;
	return begins_with(s, len, marks, ARRAY_SIZE(marks));
}

static bool is_letter(const char *s, size_t len)
{
	return isalpha((unsigned char)*s) ||
	       ((unsigned char)*s >= 0x80 && mark_length(s, len) == 0);
}

/*
 * Returns the length of the word that the text begins with: letters, and "$" or a full stop behind
 * them.
 */
static size_t word_length(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && is_letter(s + n, len - n))
		n++;
	return n > 0 && n < len && (s[n] == '$' || s[n] == '.') ? n + 1 : n;
}

/* `list` has words, with a blank before and behind each. */
static bool is_word_of(const char *s, size_t len, const char *list, size_t size)
{
	char word[WORD_MAX + 2];

	if (len == 0 || len > WORD_MAX)
		return false;
	word[0] = word[len + 1] = ' ';
	memcpy(word + 1, s, len);
	return memmem(list, size - 1, word, len + 2) != NULL;
}

static const char currencies[] = " AED ARS AUD BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP "
				 "HKD HUF IDR ILS INR ISK JPY KES KRW KZT MAD MXN MYR NGN NOK "
				 "NZD PEN PHP PKR PLN QAR RMB RON RSD RUB SAR SEK SGD THB TRY "
				 "TWD UAH USD VND ZAR A$ AU$ C$ CA$ HK$ NZ$ NT$ R$ S$ US$ Fr. "
				 "kr kr. Rs Rs. Ft lei K\xc4\x8d z\xc5\x82 \xd0\xbb\xd0\xb2 "
				 "\xd1\x80\xd1\x83\xd0\xb1 \xd1\x80\xd1\x83\xd0\xb1. "
				 "\xd0\xb3\xd1\x80\xd0\xbd ";

static bool is_currency(const char *s, size_t len)
{
	return len > 1 && is_word_of(s, len, currencies, sizeof(currencies));
}

/* Units of numbers. */
static const char units[] = " t kg g mg lb lbs oz km m cm mm mi ft l L dl cl ml h hr hrs "
			    "min s sec ms ns us d kB KB MB GB TB KiB MiB GiB TiB Hz kHz "
			    "MHz GHz W kW MW Wh kWh MWh V A C F px pt pcs bps pp ha bar "
			    "days hours years m\xc2\xb2 m\xc2\xb3 km\xc2\xb2 \xc2\xb0 "
			    "\xc2\xb0"
			    "C \xc2\xb0"
			    "F \xc2\xb5s ";

static bool is_unit(const char *s, size_t len)
{
	return is_word_of(s, len, units, sizeof(units));
}

/* Factors of numbers. */
static const char factors[] =
	" k K M B T G Ki Mi Gi Ti bn Bn mn mln Mln Mio Mio. mio mio. mrd Mrd Mrd. "
	"tn Tsd. thousand million millions billion billions trillion "
	"lakh lakhs crore crores ";

static bool is_factor(const char *s, size_t len)
{
	return is_word_of(s, len, factors, sizeof(factors));
}

/* Skips the text before the number. Returns false if it is something else. */
static bool skip_front(const char **s, size_t *len)
{
	size_t signs = 0;
	size_t words = 0;

	while (*len > 0 && !char_is_digit(**s)) {
		size_t n = mark_length(*s, *len);

		if (n > 0) {
			signs += **s == '-' || **s == '+' ||
				 (n == sizeof(MINUS) - 1 && memcmp(*s, MINUS, n) == 0);
		} else {
			n = word_length(*s, *len);
			if (!is_currency(*s, n))
				return false;
			words++;
		}
		*s += n;
		*len -= n;
	}
	return *len > 0 && signs <= 1 && words <= 1;
}

/*
 * Returns whether the letter behind the digits is a factor; any other capital letter makes a code
 * of them, as in 12A. K and M may follow any number; B, G and T one with a point or a mark.
 */
static bool is_letter_behind(char letter, bool sure)
{
	return letter == 'K' || letter == 'M' || (sure && strchr("BGT", letter) != NULL);
}

/* `sure`: the digits are not part of a code. */
static bool is_behind(const char *s, size_t len, bool sure)
{
	size_t words = 0;

	for (size_t at = 0; at < len;) {
		size_t n = mark_length(s + at, len - at);

		if (n == 0) {
			n = word_length(s + at, len - at);
			if (!is_currency(s + at, n) && !is_unit(s + at, n) && !is_factor(s + at, n))
				return false;
			if (n == 1 && isupper((unsigned char)s[at]) &&
			    !is_letter_behind(s[at], sure))
				return false;
			words++;
		} else if ((s[at] == '-' || s[at] == '+') && at + n < len) {
			return false; /* 300-B; a sign may end it */
		}
		at += n;
	}
	return words <= 1;
}

/* ---- its digits ---- */

/* Returns the length of the separator of groups or the point that the text begins with. */
static size_t group_mark_length(const char *s, size_t len)
{
	if (len > 0 && strchr(",.' ", *s) != NULL)
		return 1;
	if (len > 1 && memcmp(s, "\xc2\xa0", 2) == 0)
		return 2;
	return len > 2 && memcmp(s, "\xe2\x80\xaf", 3) == 0 ? 3 : 0;
}

/*
 * Returns the kind of digits in groups of three. The first group may be shorter; the last may have
 * any length behind another separator or the only one. In India 1,23,45,678 has groups of two
 * before the last.
 */
static enum marked_kind kind_of_digits(const char *s, size_t len)
{
	size_t count = chars_digits(s, len);
	size_t seen = 0;
	char first = '\0';
	char mark = '\0';
	bool point;

	while (count > 0 && count < len) {
		size_t skip = group_mark_length(s + count, len - count);

		if (skip == 0 ||
		    (mark != '\0' && count != 3 && !(count == 2 && mark == ',' && s[count] == ',')))
			return MARKED_NONE;
		mark = s[count];
		if (seen++ == 0)
			first = mark;
		s += count + skip;
		len -= count + skip;
		count = chars_digits(s, len);
	}
	point = mark == '.' || (mark == ',' && (first != mark || seen == 1));
	if (count == 0 || (mark != '\0' && count != 3 && !point))
		return MARKED_NONE;
	return mark == ',' && point && (count != 3 || first != mark) ? MARKED_COMMA : MARKED_OTHER;
}

/* Returns the end of the last digit, 0 if too much follows it. */
static size_t end_of_digits(const char *s, size_t len)
{
	size_t end = len;

	while (end > 0 && len - end < WORDS_MAX && !char_is_digit(s[end - 1]))
		end--;
	return end > 0 && char_is_digit(s[end - 1]) ? end : 0;
}

enum marked_kind marked_kind(const char *s, size_t len)
{
	size_t end = end_of_digits(s, len);
	bool sure = end > 0 && (!char_is_digit(*s) || memchr(s, '.', end) != NULL ||
				memchr(s, ',', end) != NULL);

	if (end == 0 || !is_behind(s + end, len - end, sure) || !skip_front(&s, &end))
		return MARKED_NONE;
	return kind_of_digits(s, end);
}

const char *marked_unit(const char *s, size_t len, size_t *ret_len)
{
	size_t at = end_of_digits(s, len);
	const char *unit = s + len;

	*ret_len = 0;
	while (at > 0 && at < len) {
		size_t n = mark_length(s + at, len - at);

		if (n == 0) {
			n = word_length(s + at, len - at);
			unit = s + at;
			*ret_len = n;
		}
		at += n > 0 ? n : 1;
	}
	return unit;
}
