/* SPDX-License-Identifier: MIT */
#include "json/write.h"

enum { REAL_DIGITS = 15 };

struct sink {
	struct buf *out;
	struct err *err;
};

static int add_piece(const char *data, size_t len, void *context)
{
	struct sink *sink = context;

	return buf_add(sink->out, data, len, sink->err);
}

static int write_with(struct buf *out, const json_t *value, size_t flags, struct err *err)
{
	struct sink sink = { .out = out, .err = err };

	flags |= JSON_ENCODE_ANY | JSON_REAL_PRECISION(REAL_DIGITS);
	/* Set first: the callback's own message, a limit, replaces it. */
	err->code = ERR_NONE;
	if (json_dump_callback(value, add_piece, &sink, flags) == 0)
		return 0;
	if (err->code == ERR_NONE)
		(void)err_set(err, ERR_INTERNAL, "a value that JSON cannot hold");
	return -1;
}

int json_write(struct buf *out, const json_t *value, struct err *err)
{
	return write_with(out, value, JSON_COMPACT, err);
}

int json_write_sorted(struct buf *out, const json_t *value, struct err *err)
{
	return write_with(out, value, JSON_COMPACT | JSON_SORT_KEYS, err);
}

int json_write_indented(struct buf *out, const json_t *value, struct err *err)
{
	return write_with(out, value, JSON_INDENT(2), err);
}

char *json_write_text(const json_t *value)
{
	struct buf out;
	struct err err;

	buf_init(&out, BUF_UNBOUNDED);
	if (json_write(&out, value, &err) < 0)
		buf_clear(&out);
	return buf_steal(&out);
}
