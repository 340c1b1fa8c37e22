/* SPDX-License-Identifier: MIT */
/* html_page.c - the policy names the digest of the style sheet, so that no other style counts. */
#include "journal/html_page.h"

#include <string.h>

#include "base/chars.h"
#include "journal/digest.h"
#include "journal/html.h"
#include "text/base64.h"

extern const unsigned char journal_report_style[];
extern const size_t journal_report_style_len;

enum {
	TITLE_CHARS = 1000,
	DATE = 10,    /* the characters of a time up to its day */
	MINUTES = 16, /* up to its minutes */
};

static void put_style_digest(struct buf *out)
{
	char text[DIGEST_LEN + 1];
	unsigned char bytes[DIGEST_LEN / 2];

	digest_sha256(journal_report_style, journal_report_style_len, text);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(char_hex(text[2 * i]) * 16 + char_hex(text[2 * i + 1]));
	base64_encode(out, bytes, sizeof(bytes));
}

void html_page_begin(struct buf *out, const char *title, const char *pictures)
{
	buf_puts(out,
		 "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
	buf_putf(out, "img-src %s; style-src 'sha256-", pictures);
	put_style_digest(out);
	buf_puts(out, "'; base-uri 'none'; form-action 'none'\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
	html_line(out, title, strlen(title), TITLE_CHARS);
	buf_puts(out, "</title>\n<style>");
	buf_put(out, journal_report_style, journal_report_style_len);
	buf_puts(out, "</style>\n</head>\n<body>\n");
}

void html_page_end(struct buf *out)
{
	buf_puts(out, "</body>\n</html>\n");
}

void html_page_time(struct buf *out, const char *time)
{
	if (strlen(time) < MINUTES || time[DATE] != 'T') {
		html_line(out, time, strlen(time), TITLE_CHARS);
		return;
	}
	html_line(out, time, DATE, MINUTES);
	buf_put_char(out, ' ');
	html_line(out, time + DATE + 1, MINUTES - DATE - 1, MINUTES);
}
