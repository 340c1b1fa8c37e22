/* SPDX-License-Identifier: MIT */
/*
 * quotation.c - writes names of session code into sentences of the server. A name with a quotation
 * mark would end its quotes, and go on as if the server said it.
 */
#include "text/quotation.h"

#include <string.h>
#include <unictype.h>
#include <unistr.h>

#include "base/buf.h"
#include "base/mem.h"
#include "text/sanitize.h"

bool quotation_is_mark(uint32_t cp)
{
	static const uint32_t others[] = { 0x2b9,   0x2ba,  0x2bb,  0x2bc,  0x2bd,   0x2c8,
					   0x2ca,   0x2cb,  0x2dd,  0x2ee,  0x2f6,   0x5f3,
					   0x5f4,   0x1cd3, 0x2032, 0x2033, 0x2034,  0x2035,
					   0x2036,  0x2037, 0x2057, 0x275b, 0x275c,  0x275d,
					   0x275e,  0x2760, 0x3003, 0xa78c, 0x1f676, 0x1f677,
					   0x1f678, '`',    0xb4,   0xa8 };

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (cp == others[i])
			return true;
	return uc_is_property_quotation_mark(cp);
}

/* Appends text with its marks escaped; of a JSON string's body the other escapes stay. */
static size_t put_without_marks(struct buf *out, const char *text, size_t len, bool is_json)
{
	size_t marks = 0;
	ucs4_t cp;
	int size;

	for (size_t at = 0; at < len; at += (size_t)size) {
		size = u8_mbtouc(&cp, (const uint8_t *)text + at, len - at);
		if (cp == '\\' && is_json && at + 1 < len) {
			size = 2;
			cp = text[at + 1] == '"' ? '"' : '\\';
		}
		if (quotation_is_mark(cp)) {
			sanitize_escape(out, cp);
			marks++;
		} else {
			buf_puts(out, cp == '\\' && !is_json ? "\\" : "");
			buf_put(out, text + at, (size_t)size);
		}
	}
	return marks;
}

char *quotation_of_path(const char *path)
{
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf body = BUF_INIT(BUF_UNBOUNDED);
	const char *text;
	const char *end;

	sanitize_symbol(&name, path, strlen(path));
	text = buf_str(&name);
	if (text[0] == '"') {
		end = strrchr(text, '"');
		(void)put_without_marks(&body, text + 1, (size_t)(end - text - 1), true);
		return xasprintf("\"%s%s", buf_str(&body), end);
	}
	if (put_without_marks(&body, text, strlen(text), false) == 0)
		return xasprintf("'%s'", text);
	return xasprintf("\"%s\"", buf_str(&body));
}
