/* SPDX-License-Identifier: MIT */
/*
 * golden.h - folders of input and expected output: test/data/KIND/CASE/{in,out}.
 *
 * A test program passes its arguments to golden_wants_update(): with --update it writes `out`
 * instead of comparing with it. Include after cmocka.h.
 */
#ifndef SUPPORT_GOLDEN_H
#define SUPPORT_GOLDEN_H

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"

static inline bool golden_wants_update(int argc, char *const argv[])
{
	return argc > 1 && str_eq(argv[1], "--update");
}

static inline char *golden_read(const char *folder, const char *name, size_t *ret_len)
{
	cleanup_free char *path = xasprintf("%s/%s", folder, name);
	struct err err;
	char *data = fd_read_file(AT_FDCWD, path, 1 << 20, ret_len, &err);

	if (data == NULL)
		fail_msg("%s", err.msg);
	return data;
}

static inline void golden_write(const char *folder, const struct buf *out)
{
	cleanup_free char *path = xasprintf("%s/out", folder);
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct err err;

	assert_int_equal(fd_write_all(fd, out->data, out->len, &err), 0);
}

static inline void golden_case(const char *folder,
			       void (*render)(const char *in, size_t len, struct buf *out),
			       bool update)
{
	cleanup_free char *in = NULL;
	cleanup_free char *expected = NULL;
	cleanup_buf struct buf out;
	size_t in_len;
	size_t expected_len;

	in = golden_read(folder, "in", &in_len);
	buf_init(&out, BUF_UNBOUNDED);
	render(in, in_len, &out);
	if (update) {
		golden_write(folder, &out);
		return;
	}
	expected = golden_read(folder, "out", &expected_len);
	assert_string_equal(buf_str(&out), expected);
	assert_int_equal(out.len, expected_len);
}

static inline int golden_is_case(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Every case of `kind`; there must be one. */
static inline void golden_each(const char *kind,
			       void (*render)(const char *in, size_t len, struct buf *out),
			       bool update)
{
	cleanup_free char *root = xasprintf("%s/%s", TEST_DATA, kind);
	struct dirent **entries = NULL;
	int count = scandir(root, &entries, golden_is_case, alphasort);

	assert_in_range(count, 1, 10000);
	for (int i = 0; i < count; i++) {
		cleanup_free char *folder = xasprintf("%s/%s", root, entries[i]->d_name);

		print_message("%s/%s\n", kind, entries[i]->d_name);
		free(entries[i]);
		golden_case(folder, render, update);
	}
	free(entries);
}

#endif
