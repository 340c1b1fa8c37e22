/* SPDX-License-Identifier: MIT */
/*
 * dump.c - tidies a dump of faulthandler for answers, and finds the place in it.
 *
 * The driver's frames have the file name that scripts/pack-driver gives its code. The stub's frame
 * "<string>" is removed only behind one of these: session code may have such frames of its own.
 */
#include "runtime/python/dump.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/buf.h"

#define HEADER_END "(most recent call first):\n"
#define FRAME "  File \""
#define DRIVER "  File \"<ptycell driver>\", line "
#define STUB "  File \"<string>\", line "
#define MODULES "Extension modules: "
#define CURRENT "Current thread 0x"
#define CELL "<cell "

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
	bool dropped = false; /* of the previous line */
	size_t kept = 0;

	for (size_t at = 0; at < text->len;) {
		struct line line = line_at(text, at);

		at += line.len;
		in_dump = in_dump || is_header(&line);
		/* The frame of the stub, which started the driver, follows the driver's. */
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

/* The parts of a line `  File "FILE", line NUMBER in FUNCTION`. */
struct place {
	struct line file;
	struct line number;
	struct line function;
};

static struct line read_until(const char **at, const char *end, const char *mark)
{
	const char *start = *at;
	const char *found = memmem(start, (size_t)(end - start), mark, strlen(mark));

	*at = found != NULL ? found + strlen(mark) : NULL;
	return (struct line){ start, found != NULL ? (size_t)(found - start) : 0 };
}

static bool read_place(struct line line, struct place *place)
{
	const char *end = line.data + line.len;
	const char *at = line.data + strlen(FRAME);

	if (!begins(&line, FRAME) || begins(&line, DRIVER) || begins(&line, STUB))
		return false;
	place->file = read_until(&at, end, "\", line ");
	if (at != NULL)
		place->number = read_until(&at, end, " in ");
	if (at == NULL)
		return false;
	while (end > at && (end[-1] == '\n' || end[-1] == '\r'))
		end--;
	place->function = (struct line){ at, (size_t)(end - at) };
	return true;
}

/* Returns the file's name without its folders. */
static struct line base_name(struct line file)
{
	const char *slash = memrchr(file.data, '/', file.len);
	size_t before = slash != NULL ? (size_t)(slash + 1 - file.data) : 0;

	return (struct line){ file.data + before, file.len - before };
}

static void put_place(struct buf *out, const struct place *place)
{
	struct line name = base_name(place->file);

	if (!begins(&place->function, "<")) {
		buf_put(out, place->function.data, place->function.len);
		buf_puts(out, ", ");
	}
	buf_puts(out, "line ");
	buf_put(out, place->number.data, place->number.len);
	buf_puts(out, " of ");
	buf_put(out, name.data, name.len);
}

/* Returns the offset behind the last header of the thread that the signal came to: that one runs
 * the cells. */
static size_t find_current(const struct buf *text)
{
	size_t found = text->len;

	for (size_t at = 0; at < text->len;) {
		struct line line = line_at(text, at);

		at += line.len;
		if (begins(&line, CURRENT))
			found = at;
	}
	return found;
}

void dump_place(const struct buf *text, struct buf *place)
{
	struct place frame;
	bool any = false;

	for (size_t at = find_current(text); at < text->len;) {
		struct line line = line_at(text, at);

		at += line.len;
		if (!begins(&line, FRAME))
			return;
		if (!read_place(line, &frame) || (any && !begins(&frame.file, CELL)))
			continue;
		if (any)
			buf_puts(place, ", called in ");
		put_place(place, &frame);
		if (begins(&frame.file, CELL))
			return;
		any = true;
	}
}
