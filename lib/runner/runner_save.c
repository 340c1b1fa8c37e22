/* SPDX-License-Identifier: MIT */
/*
 * runner_save.c - has the driver save the session's variables, and takes the pieces of the file.
 *
 * They come over the pipe "values", mostly from a copy of the interpreter that works while cells
 * run. The end of a copy that is killed is not seen: a save that takes too long is given up. Bytes
 * that an earlier copy left in the pipe are read away before the next save begins.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "config/user_env.h"
#include "runner/runner_internal.h"

enum { PIECE_MAX = 256 << 10, READ_MAX = 64 << 10, TURN_MAX = 256 << 10, WHY_MAX = 300 };

static void end_save(struct runner *r, const struct runner_saved *saved)
{
	struct runner_save *save = r->save;

	if (save == NULL)
		return;
	r->save = NULL;
	loop_io_stop(&save->io);
	loop_timer_stop(&save->late);
	if (save->query != NULL)
		runner_query_cancel(save->query);
	frame_reader_free(save->frames);
	save->to.done(save->to.data, saved);
	free(save);
}

void runner_save_fail(struct runner *r, const char *why)
{
	end_save(r, &(struct runner_saved){ .problem = why });
}

static uint64_t number_in(const struct frame *frame, const char *name)
{
	cleanup_free char *text = frame_text(frame, name);

	return text != NULL ? strtoull(text, NULL, 10) : 0;
}

/* Handles a frame of the pipe. Session code may have written it. */
static void take_frame(struct runner *r, const struct frame *frame)
{
	const struct runner_saving *to = &r->save->to;
	const struct frame_part *data = frame_part(frame, "data");

	if (frame->id != r->save->id)
		return; /* of an earlier save */
	if (str_eq(frame->type, "values") && data != NULL) {
		if (!to->piece(to->data, data->data, data->len))
			runner_save_fail(r, "the file could not be written");
	} else if (str_eq(frame->type, "saved")) {
		end_save(r, &(struct runner_saved){ .names = number_in(frame, "names"),
						    .ms = number_in(frame, "ms"),
						    .changing = number_in(frame, "changing") > 0 });
	} else if (str_eq(frame->type, "failed")) {
		cleanup_free char *why = frame_text(frame, "why");

		runner_save_fail(r, why != NULL ? why : "it failed");
	}
}

static void take_frames(struct runner *r)
{
	const struct frame *frame;
	struct err err;
	int got = 1;

	while (r->save != NULL && got == 1) {
		got = frame_reader_next(r->save->frames, &frame, &err);
		if (got == 1)
			take_frame(r, frame);
		else if (got < 0)
			runner_save_fail(r, err.msg);
	}
}

static void on_values(struct loop_io *io, uint32_t events)
{
	struct runner_save *save = container_of(io, struct runner_save, io);
	struct runner *r = save->runner;
	char data[READ_MAX];
	size_t total = 0;
	ssize_t n = 0;

	(void)events;
	while (r->save != NULL && total < TURN_MAX && (n = read(io->fd, data, sizeof(data))) > 0) {
		total += (size_t)n;
		frame_reader_feed(r->save->frames, data, (size_t)n);
		take_frames(r);
	}
	if (r->save != NULL && n == 0)
		runner_save_fail(r, "the interpreter ended");
}

static void on_late(struct loop_timer *timer)
{
	struct runner_save *save = container_of(timer, struct runner_save, late);

	runner_save_fail(save->runner, "it took too long");
}

static void on_answer(const struct query_answer *answer, void *data)
{
	struct runner *r = data;

	r->save->query = NULL;
	if (answer->problem != NULL)
		runner_save_fail(r, answer->problem);
}

static void read_away(int fd)
{
	char data[READ_MAX];

	for (size_t total = 0; total < TURN_MAX; total += sizeof(data))
		if (read(fd, data, sizeof(data)) <= 0)
			return;
}

/* Returns the values of the user's secrets, each with a NUL behind it. */
static void list_secrets(const struct user_env *env, struct buf *out)
{
	for (size_t i = 0; env != NULL && i < env->count; i++)
		if (env->items[i].secret)
			buf_put(out, env->items[i].value, strlen(env->items[i].value) + 1);
}

static void ask(struct runner *r)
{
	cleanup_buf struct buf secrets = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *cell = xasprintf("%ju", (uintmax_t)r->save->to.cell);
	cleanup_free char *limit = xasprintf("%ju", (uintmax_t)r->save->to.bytes_max);
	cleanup_free char *here = xasprintf("%ju", (uintmax_t)r->save->to.here_ms);
	struct query_part parts[4] = { { "cell", cell, strlen(cell) },
				       { "limit", limit, strlen(limit) } };
	size_t count = 2;

	list_secrets(r->c.user_env, &secrets);
	if (secrets.len > 0)
		parts[count++] = (struct query_part){ "secrets", secrets.data, secrets.len };
	if (r->save->to.here_ms > 0)
		parts[count++] = (struct query_part){ "here", here, strlen(here) };
	r->save->query = runner_ask(r,
				    &(struct query_request){ .type = "save",
							     .parts = parts,
							     .part_count = count,
							     .work_ms = r->save->to.here_ms },
				    on_answer, r);
	r->save->id = r->save->query->id;
	if (secrets.len > 0)
		explicit_bzero(secrets.data, secrets.len);
}

int runner_save(struct runner *r, const struct runner_saving *saving, struct err *err)
{
	int fd = r->interpreter != NULL ? interpreter_descriptor(r->interpreter, "values") : -1;
	struct runner_save *save;

	if (fd < 0 || r->save != NULL || r->state != RUNNER_READY || r->held || r->query != NULL ||
	    !list_empty(&r->queue))
		return err_set(err, ERR_BUSY, "the interpreter is busy");
	save = xcalloc(1, sizeof(*save));
	save->runner = r;
	save->to = *saving;
	if (saving->here_ms > 0)
		save->here_until_ms = loop_now(r->c.loop) + saving->here_ms;
	save->frames = frame_reader_new(PIECE_MAX);
	read_away(fd);
	if (loop_io_start(r->c.loop, &save->io, fd, EPOLLIN, on_values, err) < 0) {
		frame_reader_free(save->frames);
		free(save);
		return -1;
	}
	r->save = save;
	ask(r);
	loop_timer_start(r->c.loop, &save->late, loop_now(r->c.loop) + RUNNER_SAVE_MS, on_late);
	return 0;
}

bool runner_saves(const struct runner *r)
{
	return r->save != NULL;
}

void runner_save_interrupt(struct runner *r)
{
	if (r->save != NULL && r->save->query != NULL &&
	    loop_now(r->c.loop) < r->save->here_until_ms)
		interpreter_signal_foreground(r->interpreter, SIGINT);
}
