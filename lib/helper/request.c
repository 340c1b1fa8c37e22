/* SPDX-License-Identifier: MIT */
#include "helper/request.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "json/parse.h"

enum { READ_SIZE = 64 << 10 };

/* Up to the first newline. */
static int read_line(struct buf *line, struct err *err)
{
	for (;;) {
		char *room = buf_reserve(line, READ_SIZE, err);
		ssize_t n;

		if (room == NULL)
			return -1;
		n = read(STDIN_FILENO, room, READ_SIZE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "reading the order");
		if (n == 0)
			return err_set(err, ERR_INVALID, "the order ends before its line does");
		buf_commit(line, (size_t)n);
		if (memchr(line->data + line->len - n, '\n', (size_t)n) != NULL)
			return 0;
	}
}

json_t *request_read(size_t max, struct err *err)
{
	cleanup_buf struct buf line = BUF_INIT(max + READ_SIZE);
	json_t *order;

	if (read_line(&line, err) < 0)
		return NULL;
	order = json_parse(line.data, line.len, err);
	/* It may have held a secret. */
	explicit_bzero(line.data, line.len);
	if (order == NULL)
		(void)err_wrap(err, "the order");
	return order;
}
