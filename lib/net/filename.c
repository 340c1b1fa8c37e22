/* SPDX-License-Identifier: MIT */
/*
 * filename.c - reads names from headers and paths and reduces them to one safe part. Servers break
 * the grammar of Content-Disposition in known ways (unescaped Windows paths, blanks in tokens, raw
 * Latin-1); the parser accepts those that browsers accept.
 */
#include "net/filename.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/charset.h"
#include "text/normal.h"
#include "text/percent.h"
#include "text/sanitize.h"
#include "text/utf8.h"

enum { EXTENSION_MAX = 20 };

/* ---- making safe ---- */

static const char *last_part(const char *name, size_t *len)
{
	for (size_t i = *len; i > 0; i--) {
		if (name[i - 1] == '/' || name[i - 1] == '\\') {
			*len -= i;
			return name + i;
		}
	}
	return name;
}

static bool is_edge(char c)
{
	return c == '.' || c == ' ';
}

static void trim_edges(char *name)
{
	size_t len = strlen(name);
	size_t start = 0;

	while (len > 0 && is_edge(name[len - 1]))
		len--;
	while (start < len && is_edge(name[start]))
		start++;
	memmove(name, name + start, len - start);
	name[len - start] = '\0';
}

/* Returns the longest length of at most `max` bytes that does not cut a character. */
static size_t cut_length(const char *name, size_t max)
{
	size_t len = strlen(name);

	if (len <= max)
		return len;
	while (max > 0 && ((unsigned char)name[max] & 0xc0) == 0x80)
		max--;
	return max;
}

static void shorten_name(char *name)
{
	size_t len = strlen(name);
	const char *dot = strrchr(name, '.');
	size_t extension = dot != NULL ? len - (size_t)(dot - name) : 0;
	size_t stem;

	if (len <= FILENAME_MAX_LEN)
		return;
	if (extension > EXTENSION_MAX)
		extension = 0;
	stem = cut_length(name, FILENAME_MAX_LEN - extension);
	memmove(name + stem, name + len - extension, extension);
	name[stem + extension] = '\0';
}

char *filename_make_safe(const char *name, size_t len)
{
	const char *part = last_part(name, &len);
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *safe = NULL;

	if (memchr(part, '\0', len) != NULL)
		return NULL;
	sanitize_name(&clean, part, len);
	safe = normal_compose(buf_str(&clean));
	for (char *c = safe; *c != '\0'; c++)
		if (strchr("/\\:*?\"<>|", *c) != NULL)
			*c = '_';
	trim_edges(safe);
	shorten_name(safe);
	trim_edges(safe);
	return safe[0] != '\0' ? mem_steal(&safe) : NULL;
}

/* Hashes a name: FNV-1a. */
static uint32_t hash_of(const char *text)
{
	uint32_t hash = 0x811c9dc5U;

	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * 0x01000193U;
	return hash;
}

/*
 * Makes a name of bytes in an unknown charset. Two such names would look alike if the bytes were
 * only replaced, so a hash distinguishes them.
 */
static char *from_unknown(const char *bytes)
{
	const char *dot = strrchr(bytes, '.');
	cleanup_free char *extension =
		dot != NULL ? filename_make_safe(dot + 1, strlen(dot + 1)) : NULL;
	bool has_one = extension != NULL && strlen(extension) < EXTENSION_MAX;

	return xasprintf("file-%08" PRIx32 "%s%s", hash_of(bytes), has_one ? "." : "",
			 has_one ? extension : "");
}

char *filename_from_path(const char *path)
{
	size_t len = strlen(path);
	const char *part = last_part(path, &len);
	cleanup_free char *decoded = percent_decode(part, len);

	if (decoded != NULL && !utf8_valid(decoded, strlen(decoded)))
		return from_unknown(decoded);
	return decoded != NULL ? filename_make_safe(decoded, strlen(decoded)) : NULL;
}

/* ---- Content-Disposition ---- */

struct reader {
	const char *at;
	const char *end;
};

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
		r->at++;
}

static bool is_token(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
	       (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

/* Reads a name before `=`; "" if there is none. */
static void read_token(struct reader *r, struct buf *out)
{
	while (r->at < r->end && is_token(*r->at))
		buf_put(out, r->at++, 1);
}

static void read_quoted(struct reader *r, struct buf *out)
{
	for (r->at++; r->at < r->end && *r->at != '"'; r->at++) {
		/* Servers write Windows paths without escaping, so only these two are escapes. */
		if (*r->at == '\\' && r->at + 1 < r->end && (r->at[1] == '"' || r->at[1] == '\\'))
			r->at++;
		buf_put(out, r->at, 1);
	}
	if (r->at < r->end)
		r->at++;
}

/*
 * Reads an unquoted value. A token must not hold blanks, but many do: an unquoted value continues
 * up to the `;`.
 */
static void read_value(struct reader *r, struct buf *out)
{
	skip_blanks(r);
	if (r->at < r->end && *r->at == '"') {
		read_quoted(r, out);
		return;
	}
	while (r->at < r->end && *r->at != ';')
		buf_put(out, r->at++, 1);
	while (out->len > 0 && (out->data[out->len - 1] == ' ' || out->data[out->len - 1] == '\t'))
		out->len--;
}

static void put_latin1(struct buf *out, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];
		char two[2] = { (char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f)) };

		if (c < 0x80)
			buf_put(out, bytes + i, 1);
		else
			buf_put(out, two, 2);
	}
}

/* Decodes UTF-8, encoded words, or else ISO-8859-1. */
static char *from_bytes(const char *bytes, size_t len)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!utf8_valid(bytes, len))
		put_latin1(&text, bytes, len);
	else if (strlen(bytes) < len || !charset_decode_words(bytes, &text))
		buf_put(&text, bytes, len);
	return filename_make_safe(buf_str(&text), text.len);
}

/* Decodes charset'language'percent-encoded. */
static char *from_extended(const char *value)
{
	const char *quote = strchr(value, '\'');
	const char *second = quote != NULL ? strchr(quote + 1, '\'') : NULL;
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *charset = NULL;
	cleanup_free char *decoded = NULL;

	if (second == NULL)
		return NULL;
	charset = xmemdup(value, (size_t)(quote - value));
	decoded = percent_decode(second + 1, strlen(second + 1));
	if (decoded == NULL)
		return NULL;
	if (charset_decode(charset, decoded, strlen(decoded), &text))
		return filename_make_safe(buf_str(&text), text.len);
	return from_bytes(decoded, strlen(decoded));
}

struct names {
	char *plain;
	char *extended;
};

/* Stores a parameter; the first of each kind counts. */
static void take_parameter(struct names *names, const char *name, const struct buf *value)
{
	if (names->plain == NULL && strcasecmp(name, "filename") == 0)
		names->plain = from_bytes(buf_str(value), value->len);
	else if (names->extended == NULL && strcasecmp(name, "filename*") == 0 &&
		 memchr(buf_str(value), '\0', value->len) == NULL)
		names->extended = from_extended(buf_str(value));
}

static void read_parameter(struct reader *r, struct names *names)
{
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf value = BUF_INIT(BUF_UNBOUNDED);

	skip_blanks(r);
	read_token(r, &name);
	skip_blanks(r);
	if (r->at < r->end && *r->at == '=') {
		r->at++;
		read_value(r, &value);
		if (value.len > 0) {
			value.data[value.len] = '\0';
			take_parameter(names, buf_str(&name), &value);
		}
	}
	while (r->at < r->end && *r->at != ';')
		r->at++;
	if (r->at < r->end)
		r->at++;
}

char *filename_from_disposition(const char *value, size_t len)
{
	struct reader reader = { .at = value, .end = value + len };
	struct names names = { .plain = NULL };
	char *name;

	if (len > FILENAME_HEADER_MAX)
		return NULL;
	while (reader.at < reader.end)
		read_parameter(&reader, &names);
	name = names.extended != NULL ? mem_steal(&names.extended) : mem_steal(&names.plain);
	free(names.plain);
	free(names.extended);
	return name;
}
