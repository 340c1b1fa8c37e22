/* SPDX-License-Identifier: MIT */
/*
 * ptycell-files: removes a session's folder, or copies its results to where they are kept.
 *
 * One order as a line of JSON on stdin, an answer on stdout (helper/reply.h), the folder that the
 * order is about as descriptor 3. It outlives the server: both jobs have an end of their own, and
 * half of either helps nobody.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/util.h"
#include "confine.h"
#include "json/make.h"
#include "json/parse.h"
#include "keep.h"
#include "remove.h"
#include "say.h"

enum { ORDER_MAX = 64 << 20, FOLDER_FD = 3 };

/* Up to the first newline. */
static int read_order(struct buf *order, struct err *err)
{
	for (;;) {
		char *room = buf_reserve(order, 64 << 10, err);
		ssize_t n;

		if (room == NULL)
			return -1;
		n = read(STDIN_FILENO, room, 64 << 10);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "reading the order");
		if (n == 0)
			return err_set(err, ERR_INVALID, "the order ends before its line does");
		buf_commit(order, (size_t)n);
		if (memchr(order->data + order->len - n, '\n', (size_t)n) != NULL)
			return 0;
	}
}

static int obey(const json_t *order, struct err *err)
{
	const char *op = json_string_value(json_object_get(order, "op"));
	struct stat st;

	if (fstat(FOLDER_FD, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(err, ERR_INVALID, "descriptor 3 is not a folder");
	if (op != NULL && str_eq(op, "remove"))
		return remove_run(FOLDER_FD, order, err);
	if (op != NULL && str_eq(op, "keep"))
		return keep_run(FOLDER_FD, order, err);
	return err_set(err, ERR_INVALID, "the order names no known operation");
}

static int run(struct err *err)
{
	cleanup_buf struct buf text;
	cleanup_json json_t *order = NULL;

	buf_init(&text, ORDER_MAX);
	if (confine_process(err) < 0 || read_order(&text, err) < 0)
		return -1;
	order = json_parse(text.data, text.len, err);
	if (order == NULL)
		return err_wrap(err, "the order");
	return obey(order, err);
}

int main(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct err err;

	(void)sigaction(SIGPIPE, &ignore, NULL);
	(void)umask(077);
	if (run(&err) == 0)
		return EXIT_SUCCESS;
	say_error(&err);
	return EXIT_FAILURE;
}
