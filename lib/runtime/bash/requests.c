/* SPDX-License-Identifier: MIT */
/*
 * requests.c - finds lines of the driver that are messages of their own, and makes frames of them.
 */
#include "runtime/bash/requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "runtime/frame.h"

enum { MARK_MAX = 100 };

const char *requests_find_line(const char *text, size_t len, size_t from, const char *mark)
{
	const char *at = text + from;
	const char *end = text + len;
	size_t mark_len = strlen(mark);

	while (at != NULL && (size_t)(end - at) >= mark_len) {
		at = memmem(at, (size_t)(end - at), mark, mark_len);
		if (at == NULL || at == text || at[-1] == '\n')
			return at;
		at++;
	}
	return NULL;
}

/* CELL and "1" or "0". */
static void put_handles(const char *line, size_t len, struct buf *frames)
{
	cleanup_free char *text = xmemdup(line, len);
	char *rest = text;
	unsigned long long id = strtoull(text, &rest, 10);

	frame_begin(frames, "handles", id, 1);
	frame_add(frames, "handles", str_eq(rest, " 1") ? "1" : "0", 1);
}

/* Returns the first complete line that begins with `mark`, and its length with the line end. */
static const char *find_request(const struct buf *in, const char *mark, size_t from, size_t limit,
				size_t *ret_len)
{
	const char *text = buf_str(in);
	const char *line;

	while (from < limit && (line = requests_find_line(text, limit, from, mark)) != NULL) {
		const char *newline = memchr(line, '\n', in->len - (size_t)(line - text));

		if (newline == NULL)
			return NULL;
		*ret_len = (size_t)(newline - line) + 1;
		if (*ret_len <= REQUEST_MAX)
			return line;
		from = (size_t)(newline - text) + 1;
	}
	return NULL;
}

bool requests_take(struct buf *in, const char *nonce, size_t from, size_t limit, struct buf *frames)
{
	char mark[MARK_MAX];
	size_t mark_len = (size_t)snprintf(mark, sizeof(mark), "@%s handles ", nonce);
	size_t len;
	const char *line = find_request(in, mark, from, limit, &len);
	size_t at = line != NULL ? (size_t)(line - in->data) : 0;

	if (line == NULL)
		return false;
	put_handles(line + mark_len, len - mark_len - 1, frames);
	memmove(in->data + at, in->data + at + len, in->len - at - len);
	in->len -= len;
	in->data[in->len] = '\0';
	return true;
}
