/* SPDX-License-Identifier: MIT */
/*
 * frame.c - writes frames, and parses those of the other side as their bytes arrive.
 *
 * The reader keeps offsets instead of pointers, because its buffer moves while it grows. A frame
 * stays in the buffer until the caller asks for the next one. An announced length is checked at
 * once, but memory grows only with received bytes: a driver cannot make the server allocate.
 */
#include "runtime/frame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"

enum {
	KEEP_CAP = 1 << 20, /* a larger buffer is freed once it is empty */
	HEADERS_MAX = (FRAME_PARTS_MAX + 1) * FRAME_LINE_MAX,
	AHEAD_MAX = 1 << 20, /* bytes of later frames that may wait behind a whole one */
};

enum step { STEP_HEADER, STEP_PART, STEP_DATA };

struct frame_reader {
	size_t part_max;
	struct buf in;
	size_t start; /* of the current frame */
	size_t at;    /* of the next byte to read */
	enum step step;
	size_t parts_seen;
	size_t total;
	bool dropping;   /* the long parts of this frame are not kept */
	size_t skip;     /* bytes of the current part that are dropped as they come */
	bool given;      /* `frame` is lent to the caller until the next call */
	struct err dead; /* the error that ended reading */
	size_t offsets[FRAME_PARTS_MAX]; /* of the parts' data in `in` */
	struct frame frame;
};

const struct frame_part *frame_part(const struct frame *frame, const char *name)
{
	for (size_t i = 0; i < frame->part_count; i++) {
		if (str_eq(frame->parts[i].name, name))
			return &frame->parts[i];
	}
	return NULL;
}

char *frame_text(const struct frame *frame, const char *name)
{
	const struct frame_part *part = frame_part(frame, name);

	return part != NULL ? xmemdup(part->data, part->len) : NULL;
}

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '/' ||
	       c == '+' || c == '-';
}

/* Returns the length of the name that `s` begins with. */
static size_t name_len(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && name_char(s[n]))
		n++;
	return n;
}

static bool name_valid(const char *name)
{
	size_t len = strlen(name);

	return len >= 1 && len <= FRAME_NAME_MAX && name_len(name, len) == len;
}

void frame_begin(struct buf *out, const char *type, uint64_t id, size_t part_count)
{
	assert(name_valid(type) && part_count <= FRAME_PARTS_MAX);
	buf_puts(out, type);
	buf_put_char(out, ' ');
	buf_put_number(out, id);
	buf_put_char(out, ' ');
	buf_put_number(out, part_count);
	buf_put_char(out, '\n');
}

void frame_add(struct buf *out, const char *name, const void *data, size_t len)
{
	assert(name_valid(name) && len <= FRAME_PART_MAX);
	buf_puts(out, name);
	buf_put_char(out, ' ');
	buf_put_number(out, len);
	buf_put_char(out, '\n');
	buf_put(out, data, len);
}

static size_t total_max(const struct frame_reader *r)
{
	return 2 * r->part_max;
}

struct frame_reader *frame_reader_new(size_t part_max)
{
	struct frame_reader *reader = xcalloc(1, sizeof(*reader));

	reader->part_max = part_max;
	buf_init(&reader->in, total_max(reader) + HEADERS_MAX + AHEAD_MAX);
	return reader;
}

void frame_reader_free(struct frame_reader *reader)
{
	if (reader == NULL)
		return;
	buf_release(&reader->in);
	free(reader);
}

static void compact(struct frame_reader *r)
{
	size_t done = r->given ? r->at : r->start;

	buf_consume(&r->in, done);
	for (size_t i = 0; i < r->parts_seen; i++)
		r->offsets[i] -= size_min(done, r->offsets[i]);
	r->at -= done;
	r->start = 0;
	if (r->in.len == 0 && r->in.cap > KEEP_CAP)
		buf_release(&r->in);
}

static void begin_next(struct frame_reader *r)
{
	r->given = false;
	r->start = r->at;
	r->step = STEP_HEADER;
	r->parts_seen = 0;
	r->total = 0;
	r->dropping = false;
	r->frame.left_out = 0;
	if (r->start > KEEP_CAP)
		compact(r);
}

void frame_reader_feed(struct frame_reader *reader, const void *data, size_t len)
{
	if (reader->dead.code != ERR_NONE)
		return;
	if (reader->given)
		begin_next(reader);
	compact(reader);
	if (buf_add(&reader->in, data, len, &reader->dead) < 0)
		buf_release(&reader->in);
}

bool frame_reader_pending(const struct frame_reader *reader)
{
	size_t done = reader->given ? reader->at : reader->start;

	return reader->dead.code == ERR_NONE && reader->in.len > done;
}

/* Reads a name of a header line. Moves *s past it and the one blank after it. */
static int take_name(const char **s, const char *end, char ret_name[FRAME_NAME_MAX + 1],
		     struct err *err)
{
	size_t len = name_len(*s, (size_t)(end - *s));

	if (len > FRAME_NAME_MAX)
		return err_set(err, ERR_LIMIT, "a name of %zu characters in a frame", len);
	if (len == 0 || *s + len == end || (*s)[len] != ' ')
		return err_set(err, ERR_INVALID, "a header without a name in a frame");
	memcpy(ret_name, *s, len);
	ret_name[len] = '\0';
	*s += len + 1;
	return 0;
}

/* Reads decimal digits up to `stop`. Moves *s past it. */
static int take_number(const char **s, const char *end, char stop, uint64_t *ret_number,
		       struct err *err)
{
	const char *p = *s;
	uint64_t number = 0;

	while (p < end && *p >= '0' && *p <= '9') {
		uint64_t digit = (uint64_t)(*p - '0');

		if (number > (UINT64_MAX - digit) / 10)
			return err_set(err, ERR_LIMIT, "a number too large in a frame");
		number = number * 10 + digit;
		p++;
	}
	if (p == *s || (**s == '0' && p > *s + 1) || *p != stop)
		return err_set(err, ERR_INVALID, "a header without a proper number in a frame");
	*s = p + 1;
	*ret_number = number;
	return 0;
}

/* Returns 1 and a line, whose last byte is its '\n', or 0 if it has not come whole. */
static int take_line(struct frame_reader *r, const char **ret_line, const char **ret_end,
		     struct err *err)
{
	size_t have = r->in.len - r->at;
	const char *line = buf_str(&r->in) + r->at;
	const char *newline = memchr(line, '\n', size_min(have, FRAME_LINE_MAX));

	if (newline == NULL && have >= FRAME_LINE_MAX)
		return err_set(err, ERR_LIMIT, "a header of more than %d bytes in a frame",
			       FRAME_LINE_MAX);
	if (newline == NULL)
		return 0;
	*ret_line = line;
	*ret_end = newline;
	r->at += (size_t)(newline - line) + 1;
	return 1;
}

static int read_header(struct frame_reader *r, struct err *err)
{
	const char *line;
	const char *end;
	uint64_t parts;
	int got = take_line(r, &line, &end, err);

	if (got <= 0)
		return got;
	if (take_name(&line, end, r->frame.type, err) < 0 ||
	    take_number(&line, end, ' ', &r->frame.id, err) < 0 ||
	    take_number(&line, end, '\n', &parts, err) < 0)
		return -1;
	if (parts > FRAME_PARTS_MAX)
		return err_set(err, ERR_LIMIT, "a frame of more than %d parts", FRAME_PARTS_MAX);
	r->frame.part_count = (size_t)parts;
	r->step = STEP_PART;
	return 1;
}

/* Removes bytes of the current frame. */
static void erase(struct frame_reader *r, size_t from, size_t len)
{
	if (len == 0)
		return;
	memmove(r->in.data + from, r->in.data + from + len, r->in.len - from - len);
	r->in.len -= len;
	r->in.data[r->in.len] = '\0';
}

/* Drops the bytes of the current part as they come, if it is long. */
static void skip_part(struct frame_reader *r)
{
	struct frame_part *part = &r->frame.parts[r->parts_seen];

	if (part->len <= FRAME_KEPT_MAX)
		return;
	r->skip = part->len;
	r->frame.left_out += part->len;
	part->len = 0;
}

/* Drops the long parts that have come whole. */
static void drop_parts(struct frame_reader *r)
{
	for (size_t i = 0; i < r->parts_seen; i++) {
		struct frame_part *part = &r->frame.parts[i];
		size_t len = part->len;

		if (len <= FRAME_KEPT_MAX)
			continue;
		erase(r, r->offsets[i], len);
		for (size_t later = i + 1; later < r->parts_seen; later++)
			r->offsets[later] -= len;
		r->at -= len;
		r->frame.left_out += len;
		part->len = 0;
	}
}

static int read_part(struct frame_reader *r, struct err *err)
{
	struct frame_part *part = &r->frame.parts[r->parts_seen];
	const char *line;
	const char *end;
	uint64_t len;
	int got = take_line(r, &line, &end, err);

	if (got <= 0)
		return got;
	if (take_name(&line, end, part->name, err) < 0 ||
	    take_number(&line, end, '\n', &len, err) < 0)
		return -1;
	if (len > r->part_max || r->total + len > total_max(r))
		return err_set(err, ERR_LIMIT, "a frame's part '%s' of %llu bytes", part->name,
			       (unsigned long long)len);
	r->total += (size_t)len;
	part->len = (size_t)len;
	if (r->dropping)
		skip_part(r);
	r->step = STEP_DATA;
	return 1;
}

static int read_data(struct frame_reader *r)
{
	size_t len = r->frame.parts[r->parts_seen].len;
	size_t gone = size_min(r->skip, r->in.len - r->at);

	erase(r, r->at, gone);
	r->skip -= gone;
	if (r->skip > 0)
		return 0;
	if (r->in.len - r->at < len)
		return 0;
	r->offsets[r->parts_seen++] = r->at;
	r->at += len;
	r->step = STEP_PART;
	return 1;
}

static int read_step(struct frame_reader *r, struct err *err)
{
	switch (r->step) {
	case STEP_HEADER:
		return read_header(r, err);
	case STEP_PART:
		return read_part(r, err);
	case STEP_DATA:
		break;
	}
	return read_data(r);
}

static bool whole(const struct frame_reader *r)
{
	return r->step == STEP_PART && r->parts_seen == r->frame.part_count;
}

int frame_reader_next(struct frame_reader *reader, const struct frame **ret_frame, struct err *err)
{
	if (reader->given)
		begin_next(reader);
	while (reader->dead.code == ERR_NONE && !whole(reader)) {
		int got = read_step(reader, &reader->dead);

		if (got == 0)
			return 0;
		if (got < 0)
			buf_release(&reader->in);
	}
	if (reader->dead.code != ERR_NONE) {
		*err = reader->dead;
		return -1;
	}
	for (size_t i = 0; i < reader->frame.part_count; i++)
		reader->frame.parts[i].data = buf_str(&reader->in) + reader->offsets[i];
	reader->given = true;
	*ret_frame = &reader->frame;
	return 1;
}

void frame_reader_drop(struct frame_reader *reader)
{
	struct buf rest = BUF_INIT(reader->in.max);

	if (reader->given || reader->dropping || !frame_reader_pending(reader))
		return;
	reader->dropping = true;
	drop_parts(reader);
	if (reader->step == STEP_DATA) {
		skip_part(reader);
		(void)read_data(reader);
	}
	buf_put(&rest, buf_str(&reader->in), reader->in.len);
	buf_release(&reader->in);
	reader->in = rest;
}

size_t frame_reader_held(const struct frame_reader *reader)
{
	return reader->in.len;
}
