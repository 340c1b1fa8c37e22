/* SPDX-License-Identifier: MIT */
#include "runtime/python/dump.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/buf.h"

#define HEADER_END "(most recent call first):\n"
#define DRIVER "  File \"<ptycell driver>\", line "
#define STUB "  File \"<string>\", line "
#define MODULES "Extension modules: "

struct line {
	const char *data;
	size_t len; /* with its newline */
};

static bool begins(const struct line *line, const char *text)
{
	size_t len = strlen(text);

	return line->len >= len && memcmp(line->data, text, len) == 0;
}

static bool ends(const struct line *line, const char *text)
{
	size_t len = strlen(text);

	return line->len >= len && memcmp(line->data + line->len - len, text, len) == 0;
}

static bool is_header(const struct line *line)
{
	return (begins(line, "Current thread 0x") || begins(line, "Thread 0x")) &&
	       ends(line, HEADER_END);
}

static struct line line_at(const struct buf *text, size_t at)
{
	const char *data = text->data + at;
	const char *end = memchr(data, '\n', text->len - at);

	return (struct line){ data, end != NULL ? (size_t)(end - data) + 1 : text->len - at };
}

void dump_tidy(struct buf *text)
{
	bool in_dump = false;
	bool dropped = false; /* the line before */
	size_t kept = 0;

	for (size_t at = 0; at < text->len;) {
		struct line line = line_at(text, at);

		at += line.len;
		in_dump = in_dump || is_header(&line);
		/* The driver is started by a line of -c, the frame behind its own. */
		dropped = in_dump && (begins(&line, DRIVER) || begins(&line, MODULES) ||
				      (dropped && begins(&line, STUB)));
		if (dropped)
			continue;
		memmove(text->data + kept, line.data, line.len);
		kept += line.len;
	}
	if (kept < text->len) {
		text->len = kept;
		text->data[kept] = '\0';
	}
}
