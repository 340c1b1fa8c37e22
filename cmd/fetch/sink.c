/* SPDX-License-Identifier: MIT */
/*
 * sink.c - writes blocks and leaves holes. Bytes are gathered into blocks that are aligned in the
 * file, and a block of zeros is skipped. The final ftruncate() gives the file its length, also when
 * it ends in a hole.
 */
#include "sink.h"

#include <stdbool.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

void sink_init(struct sink *sink, int fd)
{
	*sink = (struct sink){ .fd = fd, .max_name = "the limit" };
	sink->block = xcalloc(1, SINK_BLOCK);
}

void sink_release(struct sink *sink)
{
	mem_cleanup(&sink->block);
}

static bool is_zeros(const char *data, size_t len)
{
	return data[0] == '\0' && memcmp(data, data + 1, len - 1) == 0;
}

static int refuse_size(const struct sink *sink, struct err *err)
{
	return err_set(err, ERR_LIMIT, "it is larger than %ju bytes (%s)",
		       (uintmax_t)sink->size_max, sink->max_name);
}

/* Writes a block that begins at `at`, unless it is all zeros. */
static int put_block(const struct sink *sink, const char *block, size_t len, uint64_t at,
		     struct err *err)
{
	if (len == 0 || is_zeros(block, len))
		return 0;
	return fd_write_at(sink->fd, block, len, at) < 0 ? err_sys(err, "writing the file") : 0;
}

int sink_write(struct sink *sink, const char *data, size_t len, struct err *err)
{
	if (len > sink->size_max - sink->size)
		return refuse_size(sink, err);
	while (len > 0) {
		size_t n = size_min(len, SINK_BLOCK - sink->used);

		memcpy(sink->block + sink->used, data, n);
		sink->used += n;
		sink->size += n;
		data += n;
		len -= n;
		if (sink->used < SINK_BLOCK)
			continue;
		if (put_block(sink, sink->block, SINK_BLOCK, sink->size - SINK_BLOCK, err) < 0)
			return -1;
		sink->used = 0;
	}
	return 0;
}

int sink_check_size(const struct sink *sink, uint64_t size, struct err *err)
{
	struct statvfs st;

	if (size > sink->size_max)
		return refuse_size(sink, err);
	if (fstatvfs(sink->fd, &st) == 0 && st.f_frsize > 0 &&
	    size / st.f_frsize > (uint64_t)st.f_bavail)
		return err_set(err, ERR_LIMIT, "the disk has no room for its %ju bytes",
			       (uintmax_t)size);
	return 0;
}

int sink_finish(struct sink *sink, struct err *err)
{
	if (put_block(sink, sink->block, sink->used, sink->size - sink->used, err) < 0)
		return -1;
	sink->used = 0;
	return ftruncate(sink->fd, (off_t)sink->size) == 0 ? 0 : err_sys(err, "writing the file");
}
