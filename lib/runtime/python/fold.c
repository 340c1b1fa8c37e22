/* SPDX-License-Identifier: MIT */
/*
 * fold.c - folds the frames of libraries in a traceback.
 *
 * A file is a library's by its path: below the folders of Python's own modules and of installed
 * packages, compiled in ("<frozen ...>"), or a relative path of Cython. Cells, files of the session
 * and of shares are the user's. Frames inside exception groups, which are indented, stay.
 */
#include "runtime/python/fold.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/buf.h"
#include "base/util.h"

#define FRAME "  File \""

enum { ROW_MIN = 2 /* frames that are worth a line */ };

/* One frame: its line and those of its source, which are indented further. */
struct frame_lines {
	const char *start;
	const char *end; /* of the frame, behind its last newline */
	const char *path;
	size_t path_len;
	const char *line_number;
	size_t number_len;
	const char *function;
	size_t function_len;
};

static const char *next_line(const char *at)
{
	const char *newline = strchr(at, '\n');

	return newline != NULL ? newline + 1 : at + strlen(at);
}

static bool contains(const char *text, size_t len, const char *part)
{
	return memmem(text, len, part, strlen(part)) != NULL;
}

static bool ends_with(const char *text, size_t len, const char *part)
{
	size_t part_len = strlen(part);

	return len >= part_len && memcmp(text + len - part_len, part, part_len) == 0;
}

/* Returns the part of the path that a reader knows, or NULL if the file is not a library's. */
static const char *library_path(const char *path, size_t len)
{
	static const char *const places[] = { "/site-packages/", "/dist-packages/" };
	const char *found;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		found = memmem(path, len, places[i], strlen(places[i]));
		if (found != NULL)
			return found + strlen(places[i]);
	}
	found = memmem(path, len, "/lib/python3", strlen("/lib/python3"));
	if (found != NULL) {
		found = memchr(found + 5, '/', (size_t)(path + len - found - 5));
		return found != NULL ? found + 1 : NULL;
	}
	if (contains(path, len, "<frozen ") ||
	    (path[0] != '/' && (ends_with(path, len, ".pyx") || ends_with(path, len, ".pxi"))))
		return path;
	return NULL;
}

/* Reads `  File "PATH", line N, in FUNCTION`. Returns false if there is no such line. */
static bool read_frame(const char *at, struct frame_lines *ret)
{
	const char *end = next_line(at);
	const char *quote;
	const char *in;

	if (strncmp(at, FRAME, strlen(FRAME)) != 0)
		return false;
	*ret = (struct frame_lines){ .start = at, .path = at + strlen(FRAME) };
	quote = memmem(ret->path, (size_t)(end - ret->path), "\", line ", 8);
	if (quote == NULL)
		return false;
	ret->path_len = (size_t)(quote - ret->path);
	ret->line_number = quote + 8;
	in = memmem(quote, (size_t)(end - quote), ", in ", 5);
	if (in == NULL)
		return false;
	ret->number_len = (size_t)(in - ret->line_number);
	ret->function = in + 5;
	ret->function_len = strcspn(ret->function, "\n");
	while (strncmp(end, "    ", 4) == 0)
		end = next_line(end);
	ret->end = end;
	return true;
}

/* Returns whether the frame at `at` is a library's. */
static bool read_library_frame(const char *at, struct frame_lines *ret)
{
	return read_frame(at, ret) && library_path(ret->path, ret->path_len) != NULL;
}

static void put_row(struct buf *out, size_t count, const struct frame_lines *last)
{
	const char *path = library_path(last->path, last->path_len);

	buf_putf(out, "  [%zu frames of libraries, the last %.*s:%.*s in %.*s]\n", count,
		 (int)(last->path + last->path_len - path), path, (int)last->number_len,
		 last->line_number, (int)last->function_len, last->function);
}

void fold_traceback(const char *traceback, struct buf *out)
{
	const char *at = traceback;

	while (*at != '\0') {
		struct frame_lines frame;
		struct frame_lines last;
		const char *row = at;
		size_t count = 0;

		while (read_library_frame(at, &frame)) {
			last = frame;
			at = frame.end;
			count++;
		}
		if (count >= ROW_MIN) {
			put_row(out, count, &last);
			continue;
		}
		if (count == 0)
			at = next_line(at);
		buf_put(out, row, (size_t)(at - row));
	}
}
