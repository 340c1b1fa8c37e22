/* SPDX-License-Identifier: MIT */
/*
 * asking.h - requests of programs of a session, in cells and between them (runtime/programs.h).
 *
 * They come over named pipes, because a session of the tier `landlock` has no sockets:
 *
 *   - packages/bell/pipe is the bell, which the server makes.
 *   - data/.cache/ask/ID.request and ID.answer are made by the program, with an ID of
 *     ASKING_ID_CHARS of 0-9 and a-f.
 *
 * 1. The program opens its two pipes, and then writes ID and a line end to the bell.
 * 2. The server opens them, removes their names, and writes an empty line to the answer. If it
 *    takes no more requests, it writes a refusal in its place (REFUSAL in asking.c).
 * 3. The program writes its request, a line. The server writes the answer, a line, when it has it.
 *
 * If the program ends before that, `request` closes, and `gone` is called.
 *
 * The bell has a folder of its own, because code may write to the bell's folder in the tier
 * `landlock`. All of it is untrusted: the server opens pipes only, through no link, and never waits
 * for one.
 */
#ifndef SESSION_ASKING_H
#define SESSION_ASKING_H

#include <stddef.h>

#include "base/err.h"
#include "event/loop.h"

struct ask;
struct asking;
struct workspace;

#define ASKING_FOLDER ".cache/ask"

enum {
	ASKING_ID_CHARS = 16,
	ASKING_MAX = 8, /* of a session, at a time */
	ASKING_REQUEST_MAX = 1 << 20,
	ASKING_ANSWER_MAX = 60 << 10, /* an empty pipe takes it at once */
};

struct asking_handlers {
	/*
	 * A request has arrived. asking_answer must follow, now or later, unless `gone` is called
	 * before. `text` is borrowed for the call.
	 */
	void (*asked)(struct ask *ask, const char *text, size_t len, void *data);
	/* The program has ended, or the session ends. `ask` is freed after the call. */
	void (*gone)(struct ask *ask, void *data);
};

/* Makes the bell of a session. `workspace` is borrowed. Returns NULL and sets *err. */
struct asking *asking_new(struct loop *loop, const struct workspace *workspace,
			  const struct asking_handlers *handlers, void *data,
			  struct err *err) MUST_CHECK;
/* Calls `gone` for each request that has no answer. `asking` may be NULL. */
void asking_free(struct asking *asking);
/* Writes the answer, a line without its end and of ASKING_ANSWER_MAX at most, and frees `ask`. */
void asking_answer(struct ask *ask, const char *line);

#endif
