/* SPDX-License-Identifier: MIT */
/*
 * program.c - the helper program's side: one request read from standard input, lines written to
 * standard output. A request may hold a secret, so its bytes are wiped as soon as they are parsed.
 * A helper that cannot write continues its work, because the server may be gone before its jobs
 * are.
 */
#include "helper/program.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"

enum { READ_SIZE = 64 << 10 };

/* Reads up to the first newline. */
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
			return err_sys(err, "reading the request");
		if (n == 0)
			return err_set(err, ERR_INVALID, "the request ends before its line does");
		buf_commit(line, (size_t)n);
		if (memchr(line->data + line->len - n, '\n', (size_t)n) != NULL)
			return 0;
	}
}

json_t *program_read_request(size_t max, struct err *err)
{
	cleanup_buf struct buf line = BUF_INIT(max + READ_SIZE);
	json_t *request;

	if (read_line(&line, err) < 0)
		return NULL;
	request = json_parse(line.data, line.len, err);
	/* The line may have held a secret. */
	explicit_bzero(line.data, line.len);
	if (request == NULL)
		(void)err_wrap(err, "the request");
	return request;
}

static void send_line(const char *kind, json_t *value_own)
{
	cleanup_json json_t *line = json_object();
	cleanup_free char *text = NULL;
	cleanup_free char *ended = NULL;
	struct err err;

	json_put(line, kind, value_own);
	text = json_write_text(line);
	ended = xasprintf("%s\n", text);
	if (fd_write_all(STDOUT_FILENO, ended, strlen(ended), &err) < 0)
		return; /* the server has ended */
}

void program_progress(json_t *value_own)
{
	send_line("progress", value_own);
}

void program_alive(void)
{
	static uint64_t last_ms;
	uint64_t now = clock_ms();

	if (now - last_ms < 1000)
		return;
	last_ms = now;
	program_progress(json_object());
}

void program_result(json_t *value_own)
{
	send_line("result", value_own);
}

void program_error(const struct err *err)
{
	json_t *value = json_object();

	json_put_str(value, "code", err_code_name(err->code));
	json_put_str(value, "message", err->msg);
	send_line("error", value);
}
