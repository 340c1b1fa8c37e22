/* SPDX-License-Identifier: MIT */
/*
 * report_lines.c - prints lines of a report. A line is a topic of ten columns and text. Text is
 * wrapped at TEXT_WIDTH, except commands to type, which begin with a blank: a wrapped command could
 * not be pasted.
 */
#include "report_lines.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "text/sanitize.h"

enum { TEXT_WIDTH = 85 };

void report_line(const char *topic, const char *fmt, ...)
{
	va_list args;

	printf("%-10s ", topic);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

/* Returns how much of `text` fits on the line; the rest begins behind a blank. */
static size_t fitting(const char *text, size_t len)
{
	size_t at = size_min(len, TEXT_WIDTH);

	if (at == len || text[0] == ' ')
		return len;
	while (at > 0 && text[at] != ' ')
		at--;
	return at > 0 ? at : len;
}

void report_text(const char *topic, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		size_t fits = fitting(text, len);

		report_line(topic, "%.*s", (int)fits, text);
		topic = "";
		text += fits;
		text += *text == ' ' || *text == '\n';
	}
}

char *report_quote_path(const char *path)
{
	struct buf out;

	buf_init(&out, BUF_UNBOUNDED);
	sanitize_line(&out, path, strlen(path), PATH_MAX);
	return buf_steal(&out);
}
