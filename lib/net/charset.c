/* SPDX-License-Identifier: MIT */
/*
 * charset.c - iconv, and the encoded words of mail headers, which servers use in
 * Content-Disposition against RFC 6266. glibc's iconv_open reads options behind slashes
 * ("//TRANSLIT"), so a charset's name is checked first.
 */
#include "net/charset.h"

#include <iconv.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/base64.h"
#include "text/percent.h"

enum { NAME_MAX_LEN = 40, GROWTH = 4 /* bytes of UTF-8 for one byte of any charset */ };

static const char name_bytes[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:";

/* Refuses iconv's options, which follow two slashes behind a name. */
static bool is_name(const char *charset)
{
	size_t len = strspn(charset, name_bytes);

	return charset[len] == '\0' && len > 0 && len <= NAME_MAX_LEN;
}

bool charset_decode(const char *charset, const char *bytes, size_t len, struct buf *out)
{
	iconv_t conversion = is_name(charset) ? iconv_open("UTF-8", charset) : (iconv_t)-1;
	size_t room = len * GROWTH;
	cleanup_free char *text = xcalloc(room + 1, 1);
	char *from = (char *)(uintptr_t)bytes;
	char *to = text;
	size_t failed;

	if (conversion == (iconv_t)-1)
		return false;
	failed = iconv(conversion, &from, &len, &to, &room);
	(void)iconv_close(conversion);
	if (failed == (size_t)-1)
		return false;
	buf_put(out, text, (size_t)(to - text));
	return true;
}

/* ---- encoded words ---- */

/* Splits "=?charset?encoding?text?=". Returns the text behind it, NULL if it is none. */
static const char *split_word(const char *word, char **charset, char *encoding, char **text)
{
	const char *name = word + strlen("=?");
	size_t len = strcspn(name, "?*"); /* "*" begins a language */
	const char *mark = strchr(name, '?');
	const char *end =
		mark != NULL && mark[1] != '\0' && mark[2] == '?' ? strstr(mark + 3, "?=") : NULL;

	if (end == NULL)
		return NULL;
	*charset = xmemdup(name, len);
	*encoding = mark[1];
	*text = xmemdup(mark + 3, (size_t)(end - mark - 3));
	return end + strlen("?=");
}

/* Decodes Q, which is like an URL's encoding, with "=" and "_". */
static bool decode_q(char *text, struct buf *out)
{
	cleanup_free char *decoded = NULL;

	if (strchr(text, '%') != NULL)
		return false;
	for (char *c = text; *c != '\0'; c++)
		*c = (char)(*c == '=' ? '%' : *c == '_' ? ' ' : *c);
	decoded = percent_decode(text, strlen(text));
	if (decoded == NULL)
		return false;
	buf_puts(out, decoded);
	return true;
}

static bool decode_bytes(char encoding, char *text, struct buf *out)
{
	struct err err;

	if (encoding == 'B' || encoding == 'b')
		return base64_decode(out, text, strlen(text), &err) == 0;
	return (encoding == 'Q' || encoding == 'q') && decode_q(text, out);
}

static const char *decode_word(const char *word, struct buf *out)
{
	cleanup_buf struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *charset = NULL;
	cleanup_free char *text = NULL;
	char encoding = '\0';
	const char *end = split_word(word, &charset, &encoding, &text);

	if (end == NULL || !decode_bytes(encoding, text, &bytes) ||
	    !charset_decode(charset, buf_str(&bytes), bytes.len, out))
		return NULL;
	return end;
}

static bool is_blank(const char *from, const char *to)
{
	while (from < to && (*from == ' ' || *from == '\t'))
		from++;
	return from == to;
}

bool charset_decode_words(const char *text, struct buf *out)
{
	cleanup_buf struct buf decoded = BUF_INIT(BUF_UNBOUNDED);
	const char *word = strstr(text, "=?");
	bool first = true;

	if (word == NULL)
		return false;
	for (; word != NULL; word = strstr(text, "=?"), first = false) {
		if (first || !is_blank(text, word))
			buf_put(&decoded, text, (size_t)(word - text));
		text = decode_word(word, &decoded);
		if (text == NULL)
			return false;
	}
	buf_puts(&decoded, text);
	buf_put(out, buf_str(&decoded), decoded.len);
	return true;
}
