/* SPDX-License-Identifier: MIT */
/* index_page.c - a list of links. Names and titles are text of others, and pass html.h. */
#include "journal/index_page.h"

#include <string.h>

#include "journal/html.h"
#include "journal/html_page.h"
#include "json/get.h"

enum { LINE_CHARS = 200, NAME_CHARS = 40, LINK_CHARS = 16 << 10 };

static void put_line(struct buf *out, const char *text, size_t max_chars)
{
	html_line(out, text, strlen(text), max_chars);
}

static void put_times(struct buf *out, const json_t *row)
{
	const char *begun = json_text_at(row, "begun");
	const char *ended = json_text_at(row, "ended");

	html_page_time(out, begun);
	if (ended[0] != '\0') {
		buf_puts(out, " to ");
		html_page_time(out, ended);
	}
	buf_puts(out, " (UTC)");
}

static void put_cells(struct buf *out, const json_t *row)
{
	json_int_t cells = json_integer_value(json_object_get(row, "cells"));
	json_int_t failed = json_integer_value(json_object_get(row, "failed"));
	json_t *languages = json_object_get(row, "languages");
	const char *name;
	const json_t *facts;

	buf_putf(out, "%" JSON_INTEGER_FORMAT " cell%s", cells, cells == 1 ? "" : "s");
	if (failed > 0)
		buf_putf(out, ", %" JSON_INTEGER_FORMAT " failed", failed);
	json_object_foreach (languages, name, facts) {
		buf_puts(out, ", ");
		put_line(out, name, NAME_CHARS);
	}
}

static void put_picture(struct buf *out, const json_t *row)
{
	const char *picture = json_text_at(row, "picture");

	if (picture[0] == '\0')
		return;
	buf_puts(out, "<img class=\"thumb\" loading=\"lazy\" alt=\"\" src=\"");
	put_line(out, picture, LINK_CHARS);
	buf_puts(out, "\">");
}

static void put_row(struct buf *out, const json_t *row)
{
	const char *title = json_text_at(row, "title");

	buf_puts(out, "<li class=\"cell item\">\n<a href=\"");
	put_line(out, json_text_at(row, "link"), LINK_CHARS);
	buf_puts(out, "\">");
	put_picture(out, row);
	put_line(out, json_text_at(row, title[0] != '\0' ? "title" : "session_id"), LINE_CHARS);
	buf_puts(out, "</a>\n<p class=\"note\">");
	if (title[0] != '\0') {
		put_line(out, json_text_at(row, "session_id"), LINE_CHARS);
		buf_puts(out, "<br>\n");
	}
	put_times(out, row);
	buf_puts(out, "<br>\n");
	put_cells(out, row);
	buf_puts(out, "</p>\n</li>\n");
}

void index_page_draw(struct buf *out, const json_t *rows)
{
	size_t count = json_array_size(rows);
	size_t n;
	const json_t *row;

	html_page_begin(out, "Sessions", "file:");
	buf_puts(out, "<header>\n<h1>Sessions</h1>\n</header>\n<main>\n<ul class=\"list\">\n");
	json_array_foreach (rows, n, row)
		if (n < INDEX_PAGE_ROWS_MAX)
			put_row(out, row);
	buf_puts(out, "</ul>\n");
	if (count > INDEX_PAGE_ROWS_MAX)
		buf_putf(out, "<p class=\"note\">%zu older sessions are in this folder, too.</p>\n",
			 count - INDEX_PAGE_ROWS_MAX);
	buf_puts(out, "</main>\n");
	html_page_end(out);
}
