/* SPDX-License-Identifier: MIT */
/*
 * write.c - a JSON writer of our own for answers. jansson's calls back for every character, which
 * took a third of the time of a small call. The output equals jansson's byte by byte except for the
 * escapes of invisible characters; a test compares them over all of Unicode.
 */
#include "json/write.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "text/invisible.h"

enum { REAL_DIGITS_MIN = 15, REAL_DIGITS_MAX = 17, REAL_TEXT_MAX = 32, INTEGER_TEXT_MAX = 20 };

struct sink {
	struct buf *out;
	struct err *err;
};

static int add_piece(const char *data, size_t len, void *context)
{
	struct sink *sink = context;

	return buf_add(sink->out, data, len, sink->err);
}

/* Returns how many digits read back as the same number: 0.1 needs one, 0.1 + 0.2 needs 17. */
static size_t real_digits(double value)
{
	size_t digits = REAL_DIGITS_MIN;
	char text[REAL_TEXT_MAX];

	for (; digits < REAL_DIGITS_MAX; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", (int)digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return digits;
}

/* Returns the most digits that a real within `value` needs. */
static size_t digits_within(const json_t *value)
{
	size_t most = REAL_DIGITS_MIN;
	size_t index;
	const char *key;
	json_t *item;

	if (json_is_real(value))
		return real_digits(json_real_value(value));
	json_array_foreach (value, index, item) {
		size_t digits = digits_within(item);

		most = digits > most ? digits : most;
	}
	/* Iterating changes nothing, but jansson's iterator takes no const. */
	json_object_foreach ((json_t *)(uintptr_t)value, key, item) {
		size_t digits = digits_within(item);

		most = digits > most ? digits : most;
	}
	return most;
}

static int write_with(struct buf *out, const json_t *value, size_t flags, struct err *err)
{
	struct sink sink = { .out = out, .err = err };

	flags |= JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits_within(value));
	/* Set before, because the callback replaces it with its own message, ERR_LIMIT. */
	err->code = ERR_NONE;
	if (json_dump_callback(value, add_piece, &sink, flags) == 0)
		return 0;
	if (err->code == ERR_NONE)
		(void)err_set(err, ERR_INTERNAL, "a value that JSON cannot hold");
	return -1;
}

static int write_value(struct buf *out, json_t *value, struct err *err);

/* ---- numbers ---- */

/* Returns the start of the digits of `value`, which end at `end`. */
static char *put_digits(char *end, uint64_t value, int least)
{
	for (int digits = 0; value > 0 || digits < least; digits++, value /= 10)
		*--end = (char)('0' + value % 10);
	return end;
}

static int write_integer(struct buf *out, json_int_t value, struct err *err)
{
	char text[INTEGER_TEXT_MAX];
	char *end = text + sizeof(text);
	char *start = put_digits(end, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 1);

	if (value < 0)
		*--start = '-';
	return buf_add(out, start, (size_t)(end - start), err);
}

/*
 * Returns whether `value` is a whole number of microseconds, as durations are, and one that is
 * written without an exponent.
 */
static bool is_micros(double value, uint64_t *ret_micros)
{
	if (!(value >= 1e-4 && value < 1e9))
		return false;
	*ret_micros = (uint64_t)(value * 1e6 + 0.5);
	return (double)*ret_micros / 1e6 == value;
}

/* Writes the shortest digits that read back as the same number. */
static int write_real(struct buf *out, json_t *value, struct err *err)
{
	char text[REAL_TEXT_MAX];
	char *end = text + sizeof(text);
	uint64_t micros;
	char *start;

	if (!is_micros(json_real_value(value), &micros)) /* jansson writes its digits */
		return write_with(out, value, JSON_COMPACT, err);
	start = put_digits(end, micros % 1000000, 6);
	while (end > start + 1 && end[-1] == '0')
		end--;
	*--start = '.';
	start = put_digits(start, micros / 1000000, 1);
	return buf_add(out, start, (size_t)(end - start), err);
}

/* ---- texts and values ---- */

/* Returns the letter of the two-character escape of `c`; 0 if it has none. */
static char short_escape(unsigned char c)
{
	switch (c) {
	case '"':
	case '\\':
		return (char)c;
	case '\b':
		return 'b';
	case '\f':
		return 'f';
	case '\n':
		return 'n';
	case '\r':
		return 'r';
	case '\t':
		return 't';
	default:
		return '\0';
	}
}

static void put_hex(char out[4], uint32_t unit)
{
	static const char digits[] = "0123456789ABCDEF";

	for (int i = 3; i >= 0; i--, unit >>= 4)
		out[i] = digits[unit & 15];
}

static int write_escape(struct buf *out, uint32_t cp, struct err *err)
{
	char escape[12] = { '\\', cp < 0x80 ? short_escape((unsigned char)cp) : '\0' };

	if (escape[1] != '\0')
		return buf_add(out, escape, 2, err);
	escape[1] = 'u';
	if (cp < 0x10000) {
		put_hex(escape + 2, cp);
		return buf_add(out, escape, 6, err);
	}
	memcpy(escape + 6, "\\u", 2);
	put_hex(escape + 2, 0xd800 + ((cp - 0x10000) >> 10));
	put_hex(escape + 8, 0xdc00 + (cp & 0x3ff));
	return buf_add(out, escape, sizeof(escape), err);
}

/* Returns the code point at `s` of well-formed UTF-8, and its length in *ret_len. */
static uint32_t code_point(const char *s, size_t *ret_len)
{
	unsigned char lead = (unsigned char)*s;
	size_t len = 1 + (size_t)(lead >= 0xc0) + (lead >= 0xe0) + (lead >= 0xf0);
	uint32_t cp = len == 1 ? lead : lead & (0x7fU >> len);

	for (size_t i = 1; i < len; i++)
		cp = cp << 6 | ((unsigned char)s[i] & 0x3f);
	*ret_len = len;
	return cp;
}

/*
 * Returns whether it is a control, a line break beyond ASCII, or a character that the filter
 * removes.
 */
static bool needs_escape(struct invisible *filter, uint32_t cp)
{
	uint32_t out[INVISIBLE_OUT_MAX];
	bool stays = invisible_next(filter, cp, out) == 1;

	if (cp < 0x7f)
		return cp < ' ' || cp == '"' || cp == '\\';
	return !stays || cp <= 0x9f || cp == 0x2028 || cp == 0x2029;
}

/* Returns the number of ASCII characters at the start of `s` that need no escape. */
static size_t plain_run(const char *s, size_t len)
{
	size_t run = 0;

	while (run < len && s[run] >= ' ' && s[run] < 0x7f && s[run] != '"' && s[run] != '\\')
		run++;
	return run;
}

/* Most strings are plain, and short: three calls to append one would take most of the time. */
static int write_plain(struct buf *out, const char *text, size_t len, struct err *err)
{
	char *room = buf_reserve(out, len + 2, err);

	if (room == NULL)
		return -1;
	room[0] = '"';
	memcpy(room + 1, text, len);
	room[1 + len] = '"';
	buf_commit(out, len + 2);
	return 0;
}

/*
 * Values hold only well-formed UTF-8 (make.h, parse.h), so text without escapes is copied in runs.
 */
static int write_string(struct buf *out, const char *text, size_t len, struct err *err)
{
	size_t start = 0;
	size_t step;
	struct invisible filter = { 0 };

	if (plain_run(text, len) == len)
		return write_plain(out, text, len, err);
	if (buf_add(out, "\"", 1, err) < 0)
		return -1;
	for (size_t i = 0; i < len; i += step) {
		uint32_t cp;

		step = plain_run(text + i, len - i);
		if (step > 0) {
			filter =
				(struct invisible){ .previous = (unsigned char)text[i + step - 1] };
			continue;
		}
		cp = code_point(text + i, &step);
		if (!needs_escape(&filter, cp))
			continue;
		if (buf_add(out, text + start, i - start, err) < 0 ||
		    write_escape(out, cp, err) < 0)
			return -1;
		start = i + step;
	}
	if (buf_add(out, text + start, len - start, err) < 0)
		return -1;
	return buf_add(out, "\"", 1, err);
}

static int write_object(struct buf *out, json_t *object, struct err *err)
{
	const char *separator = "{";

	if (json_object_size(object) == 0)
		return buf_add_str(out, "{}", err);
	for (void *member = json_object_iter(object); member != NULL;
	     member = json_object_iter_next(object, member)) {
		if (buf_add(out, separator, 1, err) < 0 ||
		    write_string(out, json_object_iter_key(member),
				 json_object_iter_key_len(member), err) < 0 ||
		    buf_add(out, ":", 1, err) < 0 ||
		    write_value(out, json_object_iter_value(member), err) < 0)
			return -1;
		separator = ",";
	}
	return buf_add(out, "}", 1, err);
}

static int write_array(struct buf *out, const json_t *array, struct err *err)
{
	const char *separator = "[";

	if (json_array_size(array) == 0)
		return buf_add_str(out, "[]", err);
	for (size_t i = 0; i < json_array_size(array); i++) {
		if (buf_add(out, separator, 1, err) < 0 ||
		    write_value(out, json_array_get(array, i), err) < 0)
			return -1;
		separator = ",";
	}
	return buf_add(out, "]", 1, err);
}

static int write_value(struct buf *out, json_t *value, struct err *err)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return write_object(out, value, err);
	case JSON_ARRAY:
		return write_array(out, value, err);
	case JSON_STRING:
		return write_string(out, json_string_value(value), json_string_length(value), err);
	case JSON_INTEGER:
		return write_integer(out, json_integer_value(value), err);
	case JSON_REAL:
		return write_real(out, value, err);
	case JSON_TRUE:
		return buf_add_str(out, "true", err);
	case JSON_FALSE:
		return buf_add_str(out, "false", err);
	case JSON_NULL:
		break;
	}
	return buf_add_str(out, "null", err);
}

int json_write(struct buf *out, const json_t *value, struct err *err)
{
	/* Iterating changes nothing, but jansson's iterator takes no const. */
	return write_value(out, (json_t *)(uintptr_t)value, err);
}

int json_write_sorted(struct buf *out, const json_t *value, struct err *err)
{
	return write_with(out, value, JSON_COMPACT | JSON_SORT_KEYS, err);
}

int json_write_indented(struct buf *out, const json_t *value, struct err *err)
{
	return write_with(out, value, JSON_INDENT(2), err);
}

char *json_write_text(const json_t *value)
{
	struct buf out;
	struct err err;

	buf_init(&out, BUF_UNBOUNDED);
	if (json_write(&out, value, &err) < 0)
		buf_clear(&out);
	return buf_steal(&out);
}

int json_write_file(int dir_fd, const char *name, const json_t *value, struct err *err)
{
	cleanup_free char *text = json_write_text(value);

	return fd_replace_file(dir_fd, name, text, err);
}
