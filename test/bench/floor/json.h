// SPDX-License-Identifier: MIT
/*
 * json.h - growing buffers, and just enough JSON for a client that writes it well.
 */
#ifndef FLOOR_JSON_H
#define FLOOR_JSON_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buf {
	char *data;
	size_t len, cap;
};

static inline void buf_reserve(struct buf *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 4096;

	if (b->len + more <= b->cap)
		return;
	while (cap < b->len + more)
		cap *= 2;
	b->data = realloc(b->data, cap);
	if (!b->data)
		abort();
	b->cap = cap;
}

static inline void buf_add(struct buf *b, const void *data, size_t len)
{
	buf_reserve(b, len);
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static inline void buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

static inline void buf_drop_front(struct buf *b, size_t len)
{
	memmove(b->data, b->data + len, b->len - len);
	b->len -= len;
}

static inline void buf_put_json(struct buf *b, const char *s, size_t len)
{
	static const char letters[] = "\bb\tt\nn\ff\rr\"\"\\\\";
	char *to;

	buf_reserve(b, len * 6 + 1);
	to = b->data + b->len;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		const char *letter = letters;

		if (c >= 0x20 && c != '"' && c != '\\') {
			*to++ = (char)c;
			continue;
		}
		while (*letter && *letter != (char)c)
			letter += 2;
		*to++ = '\\';
		if (*letter)
			*to++ = letter[1];
		else
			to += snprintf(to, 6, "u%04x", c);
	}
	b->len = (size_t)(to - b->data);
}

static inline void buf_put_base64(struct buf *b, const unsigned char *s, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *to;

	buf_reserve(b, len * 4 / 3 + 8);
	to = b->data + b->len;
	for (size_t i = 0; i < len; i += 3) {
		size_t rest = len - i;
		unsigned v = (unsigned)s[i] << 16;

		if (rest > 1)
			v |= (unsigned)s[i + 1] << 8;
		if (rest > 2)
			v |= s[i + 2];
		*to++ = digits[v >> 18];
		*to++ = digits[v >> 12 & 63];
		*to++ = rest > 1 ? digits[v >> 6 & 63] : '=';
		*to++ = rest > 2 ? digits[v & 63] : '=';
	}
	b->len = (size_t)(to - b->data);
}

static const char *skip_space(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

static const char *skip_string(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p + 1 : p;
}

static const char *skip_value(const char *p)
{
	int depth = 0;

	if (*p == '"')
		return skip_string(p);
	if (*p != '{' && *p != '[')
		return p + strcspn(p, ",}]");
	while (*p) {
		if (*p == '"') {
			p = skip_string(p);
			continue;
		}
		if (*p == '{' || *p == '[')
			depth++;
		if ((*p == '}' || *p == ']') && --depth == 0)
			return p + 1;
		p++;
	}
	return p;
}

/* The text of object's member `key`, up to *ret_end; NULL when there is none. */
static const char *member(const char *object, const char *key, const char **ret_end)
{
	size_t len = strlen(key);
	const char *p = skip_space(object);

	if (*p != '{')
		return NULL;
	p = skip_space(p + 1);
	while (*p == '"') {
		const char *name = p + 1, *value, *end;
		bool hit;

		p = skip_string(p);
		hit = (size_t)(p - 1 - name) == len && !memcmp(name, key, len);
		p = skip_space(p);
		value = *p == ':' ? skip_space(p + 1) : p;
		end = skip_value(value);
		if (hit) {
			*ret_end = end;
			return value;
		}
		p = skip_space(end);
		if (*p == ',')
			p = skip_space(p + 1);
	}
	return NULL;
}

static inline bool is_string(const char *value, const char *end, const char *want)
{
	size_t len = strlen(want);

	return value && (size_t)(end - value) == len + 2 && !memcmp(value + 1, want, len);
}

static inline unsigned read_hex4(const char *p)
{
	char digits[5] = { p[0], p[1], p[2], p[3], 0 };

	return (unsigned)strtoul(digits, NULL, 16);
}

static inline char *put_utf8(char *to, unsigned c)
{
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	if (c < 0x800) {
		*to++ = (char)(0xC0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*to++ = (char)(0xE0 | c >> 12);
		} else {
			*to++ = (char)(0xF0 | c >> 18);
			*to++ = (char)(0x80 | (c >> 12 & 63));
		}
		*to++ = (char)(0x80 | (c >> 6 & 63));
	}
	*to++ = (char)(0x80 | (c & 63));
	return to;
}

/* *p stands on the u of an escape and is left on its last digit. */
static inline unsigned read_escape(const char **p)
{
	unsigned c = read_hex4(*p + 1);

	*p += 4;
	if (c >= 0xD800 && c < 0xDC00 && (*p)[1] == '\\' && (*p)[2] == 'u') {
		c = 0x10000 + ((c - 0xD800) << 10) + (read_hex4(*p + 3) - 0xDC00);
		*p += 6;
	}
	return c;
}

static inline char *unescape(const char *p, const char *end, size_t *ret_len)
{
	static const char letters[] = "b\bt\tn\nf\fr\r";
	char *text = malloc((size_t)(end - p) + 1), *to = text;

	if (!text)
		abort();
	for (p++, end--; p < end; p++) {
		const char *letter;

		if (*p != '\\') {
			*to++ = *p;
			continue;
		}
		p++;
		letter = strchr(letters, *p);
		if (*p == 'u')
			to = put_utf8(to, read_escape(&p));
		else
			*to++ = letter ? letter[1] : *p;
	}
	*ret_len = (size_t)(to - text);
	return text;
}

#endif
