/* SPDX-License-Identifier: MIT */
/*
 * asking.c - the pipes of programs that ask. The server holds the bell open for writing, too, so
 * that it never ends.
 */
#include "session/asking.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/list.h"
#include "base/mem.h"
#include "workspace/beneath.h"
#include "workspace/workspace.h"

#define BELL "pipe"
#define REFUSAL(reason) "{\"ok\": false, \"code\": \"limit\", \"text\": \"" reason "\"}"

enum {
	READ_CHUNK = 4 << 10,
	BELL_MODE = 0622, /* a session may run as another user */
	NAME_MAX_CHARS = ASKING_ID_CHARS + 10,
};

struct ask {
	struct list node;
	struct asking *asking;
	int request_fd;
	int answer_fd;
	bool whole; /* the request has arrived */
	struct loop_io io;
	struct buf in;
};

struct asking {
	struct loop *loop;
	const struct workspace *workspace;
	const struct asking_handlers *handlers;
	void *data;
	int bell_fd;
	struct loop_io bell;
	char id[ASKING_ID_CHARS + 1]; /* of the line that is being read */
	size_t id_len;                /* more than ASKING_ID_CHARS: the line is none */
	struct list asks;
};

/* ---- one request ---- */

static void ask_free(struct ask *ask)
{
	list_remove(&ask->node);
	loop_io_stop(&ask->io);
	fd_close(&ask->request_fd);
	fd_close(&ask->answer_fd);
	buf_release(&ask->in);
	free(ask);
}

static void put_line(int fd, const char *line)
{
	cleanup_free char *text = xasprintf("%.*s\n", ASKING_ANSWER_MAX, line);

	(void)!write(fd, text, strlen(text));
}

void asking_answer(struct ask *ask, const char *line)
{
	put_line(ask->answer_fd, line);
	ask_free(ask);
}

static void drop(struct ask *ask)
{
	const struct asking *asking = ask->asking;

	if (ask->whole)
		asking->handlers->gone(ask, asking->data);
	ask_free(ask);
}

static void read_request(struct ask *ask)
{
	const struct asking *asking = ask->asking;
	char chunk[READ_CHUNK];
	const char *end;
	struct err err;
	ssize_t n = read(ask->request_fd, chunk, sizeof(chunk));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(ask);
		return;
	}
	if (buf_add(&ask->in, chunk, (size_t)n, &err) < 0) {
		asking_answer(ask, REFUSAL("These are too many packages at once."));
		return;
	}
	end = memchr(ask->in.data, '\n', ask->in.len);
	if (end == NULL)
		return;
	ask->whole = true;
	loop_io_set_events(&ask->io, 0); /* epoll reports the end of the program all the same */
	asking->handlers->asked(ask, ask->in.data, (size_t)(end - ask->in.data), asking->data);
}

static void on_ask(struct loop_io *io, uint32_t events)
{
	struct ask *ask = container_of(io, struct ask, io);

	if (!ask->whole && (events & EPOLLIN) != 0)
		read_request(ask);
	else
		drop(ask);
}

/* ---- the bell ---- */

/* Opens a pipe of a program and removes its name. Returns -1 if it is none. */
static int open_pipe(int folder_fd, const char *id, const char *what, int flags)
{
	char name[NAME_MAX_CHARS];
	cleanup_fd int fd = -1;
	struct stat st;

	(void)snprintf(name, sizeof(name), "%s.%s", id, what);
	fd = beneath_open(folder_fd, name, flags | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
		return -1;
	(void)unlinkat(folder_fd, name, 0);
	return fd_steal(&fd);
}

static void take(struct asking *asking, const char *id)
{
	cleanup_fd int folder = beneath_open(workspace_data_fd(asking->workspace), ASKING_FOLDER,
					     O_RDONLY | O_DIRECTORY, 0);
	cleanup_fd int answer = folder < 0 ? -1 : open_pipe(folder, id, "answer", O_WRONLY);
	cleanup_fd int request = answer < 0 ? -1 : open_pipe(folder, id, "request", O_RDONLY);
	struct ask *ask;
	struct err err;

	if (request < 0)
		return;
	if (list_len(&asking->asks) >= ASKING_MAX) {
		put_line(answer, REFUSAL("The server takes no more requests of this session at "
					 "once: wait for the others."));
		return;
	}
	ask = xcalloc(1, sizeof(*ask));
	list_init(&ask->node);
	ask->asking = asking;
	ask->request_fd = fd_steal(&request);
	ask->answer_fd = fd_steal(&answer);
	buf_init(&ask->in, ASKING_REQUEST_MAX);
	list_append(&asking->asks, &ask->node);
	if (loop_io_start(asking->loop, &ask->io, ask->request_fd, EPOLLIN, on_ask, &err) < 0) {
		ask_free(ask);
		return;
	}
	put_line(ask->answer_fd, "");
}

static void take_char(struct asking *asking, char c)
{
	if (c == '\n') {
		asking->id[asking->id_len <= ASKING_ID_CHARS ? asking->id_len : 0] = '\0';
		asking->id_len = 0;
		if (strlen(asking->id) == ASKING_ID_CHARS)
			take(asking, asking->id);
		return;
	}
	if (strchr("0123456789abcdef", c) == NULL || asking->id_len > ASKING_ID_CHARS)
		asking->id_len = ASKING_ID_CHARS + 1;
	else if (asking->id_len == ASKING_ID_CHARS)
		asking->id_len++;
	else
		asking->id[asking->id_len++] = c;
}

static void on_bell(struct loop_io *io, uint32_t events)
{
	struct asking *asking = container_of(io, struct asking, bell);
	char chunk[(ASKING_ID_CHARS + 1) * ASKING_MAX];
	ssize_t n = read(asking->bell_fd, chunk, sizeof(chunk));

	(void)events;
	for (ssize_t i = 0; i < n; i++)
		take_char(asking, chunk[i]);
}

static int make_bell(struct asking *asking, struct err *err)
{
	cleanup_fd int folder = beneath_open(workspace_packages_fd(asking->workspace), BELL_FOLDER,
					     O_RDONLY | O_DIRECTORY, 0);

	if (folder < 0)
		return err_sys(err, "opening a session's folder '%s'", BELL_FOLDER);
	(void)unlinkat(folder, BELL, 0); /* of an earlier life */
	if (mkfifoat(folder, BELL, BELL_MODE) < 0 || fchmodat(folder, BELL, BELL_MODE, 0) < 0)
		return err_sys(err, "making a session's pipe '%s'", BELL);
	asking->bell_fd = beneath_open(folder, BELL, O_RDWR | O_NONBLOCK, 0);
	return asking->bell_fd < 0 ? err_sys(err, "opening a session's pipe '%s'", BELL) : 0;
}

struct asking *asking_new(struct loop *loop, const struct workspace *workspace,
			  const struct asking_handlers *handlers, void *data, struct err *err)
{
	struct asking *asking = xcalloc(1, sizeof(*asking));

	asking->loop = loop;
	asking->workspace = workspace;
	asking->handlers = handlers;
	asking->data = data;
	asking->bell_fd = -1;
	list_init(&asking->asks);
	if (make_bell(asking, err) == 0 &&
	    loop_io_start(loop, &asking->bell, asking->bell_fd, EPOLLIN, on_bell, err) == 0)
		return asking;
	asking_free(asking);
	return NULL;
}

void asking_free(struct asking *asking)
{
	if (asking == NULL)
		return;
	list_for_each (struct ask, ask, &asking->asks, node)
		drop(ask);
	loop_io_stop(&asking->bell);
	fd_close(&asking->bell_fd);
	free(asking);
}
