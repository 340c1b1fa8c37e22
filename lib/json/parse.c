/* SPDX-License-Identifier: MIT */
/*
 * parse.c - jansson, with a repair of text that it refuses. It refuses lone surrogates, which
 * JavaScript's JSON.stringify writes as escapes for text cut in the middle of a character
 * (ECMA-262, 2019). Text that parses at once, which is nearly all, is not copied.
 */
#include "json/parse.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "text/utf8.h"

static json_t *load_value(const char *text, size_t len, json_error_t *ret_why)
{
	return json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL,
			  ret_why);
}

enum { ESCAPE_LEN = 6 };

/* Returns the number of an escape \uXXXX; -1 for anything else. */
static long escape_at(const char *text, const char *end)
{
	char digits[ESCAPE_LEN - 1] = "";

	if (end - text < ESCAPE_LEN || text[0] != '\\' || text[1] != 'u')
		return -1;
	memcpy(digits, text + 2, sizeof(digits) - 1);
	if (strspn(digits, "0123456789abcdefABCDEF") != sizeof(digits) - 1)
		return -1;
	return strtol(digits, NULL, 16);
}

static bool is_half(long unit)
{
	return unit >= 0xd800 && unit <= 0xdfff;
}

/* Returns how many bytes belong together; 0 if they are half of a pair. */
static size_t unit_len(const char *text, const char *end)
{
	long unit = escape_at(text, end);
	long next;

	if (unit < 0)
		return text[0] == '\\' && end - text > 1 ? 2 : 1;
	if (!is_half(unit))
		return ESCAPE_LEN;
	next = escape_at(text + ESCAPE_LEN, end);
	return unit < 0xdc00 && next >= 0xdc00 && is_half(next) ? 2 * ESCAPE_LEN : 0;
}

/* Appends the string up to its closing quote, which is included. Returns the position behind it. */
static const char *mend_string(const char *text, const char *end, struct buf *out)
{
	bool ended = false;

	while (text < end && !ended) {
		size_t step = unit_len(text, end);

		ended = text[0] == '"';
		if (step == 0)
			buf_puts(out, "\\ufffd");
		else
			buf_put(out, text, step);
		text += step == 0 ? ESCAPE_LEN : step;
	}
	return text;
}

static bool is_too_large(const char *number)
{
	errno = 0;
	if (number[strcspn(number, ".eE")] == '\0')
		(void)strtoll(number, NULL, 10);
	else if (isfinite(strtod(number, NULL)))
		return false;
	return errno == ERANGE;
}

static const char *mend_number(const char *text, const char *end, struct buf *out)
{
	static const char marks[] = "+-.0123456789eE";
	const char *start = text;
	cleanup_free char *number = NULL;

	while (text < end && text[0] != '\0' && strchr(marks, text[0]) != NULL)
		text++;
	number = xmemdup(start, (size_t)(text - start));
	buf_puts(out, is_too_large(number) ? "null" : number);
	return text;
}

/*
 * Appends the text with U+FFFD for halves of pairs. With `numbers`, numbers that are too large
 * become null.
 */
static void mend(const char *text, size_t len, bool numbers, struct buf *out)
{
	const char *end = text + len;

	while (text < end) {
		char c = text[0];

		if (numbers && (c == '-' || (c >= '0' && c <= '9'))) {
			text = mend_number(text, end, out);
			continue;
		}
		buf_put(out, text++, 1);
		if (c == '"')
			text = mend_string(text, end, out);
	}
}

/*
 * Returns whether the text begins with a byte order mark of UTF-16, or half of a character. No
 * UTF-8 text begins so.
 */
static bool is_utf16(const char *text, size_t len)
{
	return len >= 2 && (text[0] == '\0' || text[1] == '\0' ||
			    memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
}

json_t *json_parse(const char *text, size_t len, struct err *err)
{
	cleanup_buf struct buf whole = BUF_INIT(BUF_UNBOUNDED);
	json_error_t why;
	json_error_t again;
	json_t *value = load_value(text, len, &why);

	if (value != NULL)
		return value;
	if (is_utf16(text, len)) {
		(void)err_set(err, ERR_INVALID, "it is text in UTF-16, where UTF-8 is needed");
		return NULL;
	}
	mend(text, len, false, &whole);
	value = load_value(buf_str(&whole), whole.len, &again);
	if (value == NULL)
		(void)err_set(err, ERR_INVALID, "%s (at byte %d)", why.text, why.position);
	return value;
}

json_t *json_parse_mended(const char *text, size_t len)
{
	cleanup_buf struct buf repaired = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf whole = BUF_INIT(BUF_UNBOUNDED);
	json_error_t why;

	utf8_repair(&repaired, text, len);
	mend(buf_str(&repaired), repaired.len, true, &whole);
	return load_value(buf_str(&whole), whole.len, &why);
}

/*
 * Returns the length up to the last comma between members of the outermost object; 0 if there is
 * none.
 */
static size_t whole_members(const char *text, size_t len)
{
	size_t end = 0;
	int depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '{' || c == '['))
			depth++;
		else if (!quoted && (c == '}' || c == ']'))
			depth--;
		else if (!quoted && c == ',' && depth == 1)
			end = i;
	}
	return end;
}

json_t *json_parse_head(const char *text, size_t len)
{
	cleanup_buf struct buf head = BUF_INIT(BUF_UNBOUNDED);
	size_t end = whole_members(text, len);
	struct err err;

	if (end == 0)
		return NULL;
	buf_put(&head, text, end);
	buf_puts(&head, "}");
	return json_parse(buf_str(&head), head.len, &err);
}

json_t *json_parse_file(int dir_fd, const char *path, size_t max, struct err *err)
{
	size_t len;
	cleanup_free char *text = fd_read_file(dir_fd, path, max, &len, err);

	return text != NULL ? json_parse(text, len, err) : NULL;
}

json_t *json_parse_const(const char *text)
{
	struct err err;
	json_t *value = json_parse(text, strlen(text), &err);

	if (value == NULL) {
		(void)fprintf(stderr, "ptycell: bad JSON in the program: %s: %s\n", err.msg, text);
		abort();
	}
	return value;
}
