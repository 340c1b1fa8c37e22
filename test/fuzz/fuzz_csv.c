/* SPDX-License-Identifier: MIT */
/* layers: sql */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sql/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Fields and rows as bytes that no two readings share: what two readings are compared by. */
struct seen {
	struct buf bytes;
	struct buf again; /* the same rows, written as we write them */
	bool in_row;
};

static int on_field(void *data, const char *s, size_t len, bool missing, struct err *err)
{
	struct seen *seen = data;

	(void)err;
	buf_putf(&seen->bytes, "%d %zu ", missing, len);
	buf_put(&seen->bytes, s, len);
	if (seen->in_row)
		buf_puts(&seen->again, ",");
	csv_put(&seen->again, missing ? NULL : s, len);
	seen->in_row = true;
	return 0;
}

static int on_row(void *data, struct err *err)
{
	struct seen *seen = data;

	(void)err;
	buf_puts(&seen->bytes, "/");
	buf_puts(&seen->again, "\r\n");
	seen->in_row = false;
	return 0;
}

static int read_all(struct seen *seen, char separator, const char *text, size_t len, size_t piece)
{
	static const struct csv_handlers handlers = { .field = on_field, .row = on_row };
	struct csv_reader reader;
	struct err err;
	int result = 0;

	buf_init(&seen->bytes, BUF_UNBOUNDED);
	buf_init(&seen->again, BUF_UNBOUNDED);
	seen->in_row = false;
	csv_start(&reader, separator, &handlers, seen);
	for (size_t at = 0; result == 0 && at < len; at += piece)
		result = csv_feed(&reader, text + at, len - at < piece ? len - at : piece, &err);
	if (result == 0)
		result = csv_finish(&reader, &err);
	csv_release(&reader);
	return result;
}

static void release(struct seen *seen)
{
	buf_release(&seen->bytes);
	buf_release(&seen->again);
}

static bool is_same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && memcmp(buf_str(a), buf_str(b), a->len) == 0;
}

/*
 * A text says the same in one piece and byte by byte, and what it says, written by us and read
 * again, is what it said: but for rows that are one missing field, which are empty lines then.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	char separator = csv_separator(text, size);
	struct seen whole;
	struct seen pieces;
	struct seen again;
	int result = read_all(&whole, separator, text, size, size + 1);

	if (read_all(&pieces, separator, text, size, 1) != result ||
	    !is_same(&whole.bytes, &pieces.bytes))
		abort();
	if (result == 0) {
		if (read_all(&again, ',', buf_str(&whole.again), whole.again.len, size + 1) < 0 ||
		    !is_same(&whole.again, &again.again))
			abort();
		release(&again);
	}
	release(&whole);
	release(&pieces);
	return 0;
}
