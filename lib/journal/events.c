/* SPDX-License-Identifier: MIT */
/*
 * events.c - the file of events: appending, reading, and detecting a torn end. The server may be
 * killed at any instruction, so an event is one pwrite, with those that were held. The kernel
 * copies it into the page cache as a whole, except after a signal or on a full disk; the lengths
 * and the checksum reveal a short one. Nothing is synced: the file lives as long as the machine
 * runs.
 */
#include "journal/events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/fd.h"
#include "base/mem.h"
#include "json/parse.h"

static const char first_line[] = "ptycell events 1\n";

enum {
	FIRST_LINE_LEN = sizeof(first_line) - 1,
	HEAD_LEN = 3 * 9, /* three times eight digits and a blank or line end */
	LINE_ENDS = 2,
	DIGITS = 8,
};

struct events {
	int dir_fd;
	int fd; /* -1: not opened yet */
	uint64_t size;
	uint64_t on_disk; /* what lies beyond `size` is left by a failed write */
	struct buf held;  /* the last bytes up to `size`, which are not written yet */
};

void events_release(struct event *event)
{
	json_decref(event->fields);
	event->fields = NULL;
	buf_release(&event->bytes);
}

struct events *events_new(int dir_fd)
{
	struct events *events = xcalloc(1, sizeof(*events));

	events->dir_fd = dir_fd;
	events->fd = -1;
	buf_init(&events->held, BUF_UNBOUNDED);
	return events;
}

void events_free(struct events *events)
{
	if (events == NULL)
		return;
	fd_close(&events->fd);
	buf_release(&events->held);
	free(events);
}

uint64_t events_cost(size_t fields_len, size_t data_len)
{
	return (uint64_t)HEAD_LEN + fields_len + data_len + LINE_ENDS;
}

uint64_t events_size(const struct events *events)
{
	return events->size;
}

bool events_any(const struct events *events)
{
	return events->size > FIRST_LINE_LEN;
}

/* ---- adding ---- */

static int write_at(struct events *events, const char *data, size_t len, uint64_t offset,
		    struct err *err)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pwrite(events->fd, data + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_sys(err, "writing the journal");
		done += (size_t)n;
		if (events->on_disk < offset + done)
			events->on_disk = offset + done;
	}
	return 0;
}

static int open_file(struct events *events, struct err *err)
{
	cleanup_fd int fd = openat(events->dir_fd, EVENTS_FILE,
				   O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_sys(err, "opening the journal");
	events->fd = fd_steal(&fd);
	if (write_at(events, first_line, FIRST_LINE_LEN, 0, err) < 0) {
		fd_close(&events->fd);
		return -1;
	}
	events->size = FIRST_LINE_LEN;
	return 0;
}

static char *put_number(char *at, size_t value, char end)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = DIGITS - 1; i >= 0; i--, value >>= 4)
		at[i] = digits[value & 15];
	at[DIGITS] = end;
	return at + DIGITS + 1;
}

static void put_event(struct buf *out, const char *fields, size_t fields_len, const void *data,
		      size_t data_len)
{
	uint32_t crc = crc_32c(crc_32c(0, fields, fields_len), data, data_len);
	char head[HEAD_LEN];

	(void)put_number(put_number(put_number(head, fields_len, ' '), data_len, ' '), crc, '\n');
	buf_put(out, head, sizeof(head));
	buf_put(out, fields, fields_len);
	buf_put_char(out, '\n');
	buf_put(out, data, data_len);
	buf_put_char(out, '\n');
}

/* Returns the position of the first byte that is not written yet. */
static uint64_t written(const struct events *events)
{
	return events->size - events->held.len;
}

int events_hold(struct events *events, const char *fields, const void *data, size_t data_len,
		struct event_place *ret_place, struct err *err)
{
	size_t fields_len = strlen(fields);
	size_t before = events->held.len;

	if (fields_len > EVENTS_LEN_MAX || data_len > EVENTS_LEN_MAX)
		return err_set(err, ERR_LIMIT, "too large for the journal");
	if (events->fd < 0 && open_file(events, err) < 0)
		return -1;
	put_event(&events->held, fields, fields_len, data, data_len);
	*ret_place =
		(struct event_place){ .offset = events->size, .len = events->held.len - before };
	events->size += ret_place->len;
	return 0;
}

/* Takes back the event that was held last. */
static void drop_event(struct events *events, const struct event_place *place)
{
	events->held.len -= (size_t)place->len;
	events->size -= place->len;
}

int events_add(struct events *events, const char *fields, const void *data, size_t data_len,
	       struct event_place *ret_place, struct err *err)
{
	if (events_hold(events, fields, data, data_len, ret_place, err) < 0)
		return -1;
	if (write_at(events, events->held.data, events->held.len, written(events), err) < 0) {
		drop_event(events, ret_place);
		return -1;
	}
	buf_clear(&events->held);
	/* Removes the rest of a failed write. This is rare, and ftruncate is expensive. */
	if (events->on_disk > events->size && ftruncate(events->fd, (off_t)events->size) == 0)
		events->on_disk = events->size;
	if (events->held.cap > (1U << 20))
		buf_release(&events->held);
	return 0;
}

int events_add_or_hold(struct events *events, const char *fields, const void *data, size_t data_len,
		       struct event_place *ret_place, struct err *err)
{
	struct err ignored;

	if (events_add(events, fields, data, data_len, ret_place, err) == 0)
		return 0;
	if (events_hold(events, fields, data, data_len, ret_place, &ignored) < 0)
		*ret_place = (struct event_place){ .len = 0 };
	return -1;
}

/* ---- reading ---- */

static int read_at(const struct events *events, uint64_t offset, size_t len, struct buf *out,
		   struct err *err)
{
	char *room = buf_reserve(out, len, err);
	ssize_t got;

	if (room == NULL)
		return -1;
	if (offset >= written(events) && offset + len <= events->size) {
		buf_put(out, events->held.data + (offset - written(events)), len);
		return 0;
	}
	got = fd_read_at(events->fd, room, len, offset);
	if (got < 0)
		return err_sys(err, "reading the journal");
	if ((size_t)got < len)
		return err_set(err, ERR_SYSTEM, "the journal is shorter than it was");
	buf_commit(out, len);
	return 0;
}

struct head {
	size_t fields_len;
	size_t data_len;
	uint32_t crc;
};

/* Parses eight digits and the character that ends them. */
static bool take_digits(const char **p, char end, size_t *ret)
{
	size_t value = 0;

	for (int i = 0; i < DIGITS; i++) {
		char c = *(*p)++;

		if (c >= '0' && c <= '9')
			value = value << 4 | (size_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (size_t)(c - 'a' + 10);
		else
			return false;
	}
	*ret = value;
	return *(*p)++ == end;
}

static bool parse_head(const char *text, struct head *ret)
{
	size_t crc;

	if (!take_digits(&text, ' ', &ret->fields_len) ||
	    !take_digits(&text, ' ', &ret->data_len) || !take_digits(&text, '\n', &crc))
		return false;
	ret->crc = (uint32_t)crc;
	return ret->fields_len <= EVENTS_LEN_MAX && ret->data_len <= EVENTS_LEN_MAX;
}

/*
 * Reads the head at `offset`. Returns false if there is none, or if the file ends before the event
 * does.
 */
static bool read_head(const struct events *events, uint64_t offset, struct head *ret)
{
	cleanup_buf struct buf text = BUF_INIT(HEAD_LEN);
	struct err ignored;

	return read_at(events, offset, HEAD_LEN, &text, &ignored) == 0 &&
	       parse_head(text.data, ret) &&
	       offset + events_cost(ret->fields_len, ret->data_len) <= events->on_disk;
}

/* Splits the bytes of an event, which are complete, into its fields and data. */
static int take_apart(struct event *event, const struct head *head, struct err *err)
{
	const char *fields = event->bytes.data + HEAD_LEN;
	const char *data = fields + head->fields_len + 1;

	if (crc_32c(crc_32c(0, fields, head->fields_len), data, head->data_len) != head->crc)
		return err_set(err, ERR_SYSTEM, "the journal is not what was written");
	json_decref(event->fields);
	event->fields = json_parse(fields, head->fields_len, err);
	event->data = data;
	event->data_len = head->data_len;
	return event->fields == NULL ? -1 : 0;
}

int events_read(const struct events *events, const struct event_place *place, struct event *ret,
		struct err *err)
{
	struct head head;

	buf_clear(&ret->bytes);
	if (events->fd < 0 || place->len < events_cost(0, 0))
		return err_set(err, ERR_SYSTEM, "the journal is not what was written");
	if (read_at(events, place->offset, (size_t)place->len, &ret->bytes, err) < 0)
		return -1;
	if (!parse_head(ret->bytes.data, &head) ||
	    events_cost(head.fields_len, head.data_len) != place->len)
		return err_set(err, ERR_SYSTEM, "the journal is not what was written");
	return take_apart(ret, &head, err);
}

bool events_next(const struct events *events, struct event_place *place, struct event *ret)
{
	struct event_place next = { .offset = place->len == 0 ? FIRST_LINE_LEN
							      : place->offset + place->len };
	struct head head;
	struct err ignored;

	if (events->fd < 0 || !read_head(events, next.offset, &head))
		return false;
	next.len = events_cost(head.fields_len, head.data_len);
	if (events_read(events, &next, ret, &ignored) < 0)
		return false;
	*place = next;
	return true;
}

/* ---- an existing file ---- */

static int check_first_line(const struct events *events, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT(FIRST_LINE_LEN);

	if (read_at(events, 0, FIRST_LINE_LEN, &text, err) < 0 ||
	    memcmp(text.data, first_line, FIRST_LINE_LEN) != 0)
		return err_set(err, ERR_INVALID, "the journal is none of this version of ptycell");
	return 0;
}

static struct events *open_existing(int dir_fd, int mode, struct err *err)
{
	struct events *events = events_new(dir_fd);
	struct stat st;

	events->fd = openat(dir_fd, EVENTS_FILE, mode | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (events->fd < 0 || fstat(events->fd, &st) < 0) {
		(void)err_sys(err, "opening the journal");
		events_free(events);
		return NULL;
	}
	events->size = events->on_disk = (uint64_t)st.st_size;
	if (check_first_line(events, err) < 0) {
		events_free(events);
		return NULL;
	}
	return events;
}

struct events *events_open(int dir_fd, struct err *err)
{
	return open_existing(dir_fd, O_RDONLY, err);
}

struct events *events_open_to_add(int dir_fd, struct err *err)
{
	return open_existing(dir_fd, O_RDWR, err);
}

int events_cut(struct events *events, const struct event_place *last, struct err *err)
{
	events->size = last->len == 0 ? FIRST_LINE_LEN : last->offset + last->len;
	if (events->size == events->on_disk)
		return 0;
	if (ftruncate(events->fd, (off_t)events->size) < 0)
		return err_sys(err, "cutting off the journal's torn end");
	events->on_disk = events->size;
	return 0;
}
