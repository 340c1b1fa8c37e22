/* SPDX-License-Identifier: MIT */
/* layers: sql */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "sql/csv.h"
#include "sql/infer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct pieces {
	const char *text;
	size_t left;
	size_t piece;
};

static int read_piece(void *data, char *out, size_t size, size_t *ret_len, struct err *err)
{
	struct pieces *pieces = data;

	(void)err;
	*ret_len = size_min(size_min(pieces->piece, size), pieces->left);
	memcpy(out, pieces->text, *ret_len);
	pieces->text += *ret_len;
	pieces->left -= *ret_len;
	return 0;
}

/* Fields and rows as bytes that no two readings share: what two readings are compared by. */
struct seen {
	struct buf bytes;
	struct buf again; /* the same rows, written as we write them */
};

static void put_row(struct seen *seen, const struct csv_reader *reader)
{
	for (size_t i = 0; i < reader->count; i++) {
		const struct csv_field *field = &reader->fields[i];
		bool missing = field->len == 0 && !field->quoted;
		enum infer_class class = infer_class(field->s, field->len);

		buf_putf(&seen->bytes, "%d %d %zu ", missing, (int)class, field->len);
		buf_put(&seen->bytes, field->s, field->len);
		if (infer_is_number(class, true))
			buf_putf(&seen->bytes, "%a", infer_real(field->s, field->len, '.'));
		if (i > 0)
			buf_puts(&seen->again, ",");
		csv_put(&seen->again, missing ? NULL : field->s, field->len);
	}
	buf_puts(&seen->bytes, "/");
	buf_puts(&seen->again, "\r\n");
}

static int read_all(struct seen *seen, char separator, const char *text, size_t len, size_t piece)
{
	struct pieces pieces = { .text = text, .left = len, .piece = piece };
	struct csv_reader reader;
	struct err err;
	int result;

	buf_init(&seen->bytes, BUF_UNBOUNDED);
	buf_init(&seen->again, BUF_UNBOUNDED);
	csv_start(&reader, read_piece, &pieces);
	csv_set(&reader, separator, true);
	while ((result = csv_next(&reader, &err)) == 1)
		put_row(seen, &reader);
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
	size_t declared = csv_declared(text, size, &separator);
	struct seen whole;
	struct seen pieces;
	struct seen again;
	int result = read_all(&whole, separator, text + declared, size - declared, size + 1);

	if (read_all(&pieces, separator, text + declared, size - declared, 1) != result ||
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
