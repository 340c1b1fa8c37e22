/* SPDX-License-Identifier: MIT */
/*
 * listener.c - the connections of a server's socket. After the request nothing more is read from a
 * peer: what it writes stays in the kernel, whose buffer is small. A peer is freed in a turn of its
 * own, because sending to it may find out that it is gone.
 */
#include "control/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/list.h"
#include "base/mem.h"
#include "control/sockets.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"

enum { READ_CHUNK = 4 << 10, PAUSE_MS = 1000, BIND_TRIES = 100 };

enum peer_state {
	PEER_ASKS,    /* its request has not arrived whole */
	PEER_STREAMS, /* it gets further lines */
	PEER_READS,   /* it has to read the rest of the reply */
	PEER_GONE,    /* it is freed in this turn */
};

struct peer {
	struct list node;
	struct listener *listener;
	enum peer_state state;
	bool streams; /* its end is reported */
	int fd;
	struct loop_io io;
	struct loop_timer timer;
	struct loop_defer end;
	struct buf in;  /* the request so far */
	struct buf out; /* what the peer has not read */
};

struct listener {
	struct loop *loop;
	const struct listener_handlers *handlers;
	void *data;
	int folder_fd;
	int fd;
	char *name;
	struct loop_io io;
	struct loop_timer pause;
	struct list peers;
};

/* ---- the life of a connection ---- */

static void peer_free(struct peer *peer)
{
	struct listener *listener = peer->listener;

	list_remove(&peer->node);
	loop_io_stop(&peer->io);
	loop_timer_stop(&peer->timer);
	loop_defer_stop(&peer->end);
	fd_close(&peer->fd);
	buf_release(&peer->in);
	buf_release(&peer->out);
	free(peer);
	loop_io_set_events(&listener->io, EPOLLIN);
}

static void on_end(struct loop_defer *defer)
{
	struct peer *peer = container_of(defer, struct peer, end);
	const struct listener *listener = peer->listener;

	if (peer->streams)
		listener->handlers->gone(peer, listener->data);
	peer_free(peer);
}

/* Ends the connection in this turn. */
static void drop(struct peer *peer)
{
	if (peer->state == PEER_GONE)
		return;
	peer->state = PEER_GONE;
	loop_io_stop(&peer->io);
	loop_timer_stop(&peer->timer);
	loop_defer_start(peer->listener->loop, &peer->end, on_end);
}

static void on_timer(struct loop_timer *timer)
{
	drop(container_of(timer, struct peer, timer));
}

/* ---- replies ---- */

/* Sends what the kernel takes now; the rest when the peer has read some. */
static void flush(struct peer *peer)
{
	while (peer->state != PEER_GONE && peer->out.len > 0) {
		ssize_t n = send(peer->fd, peer->out.data, peer->out.len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN) {
			drop(peer);
			return;
		}
		if (n < 0)
			break;
		buf_consume(&peer->out, (size_t)n);
	}
	if (peer->out.len == 0)
		buf_release(&peer->out);
	if (peer->out.len == 0 && peer->state == PEER_READS)
		drop(peer);
	if (peer->state != PEER_GONE)
		loop_io_set_events(&peer->io, peer->out.len > 0 ? EPOLLOUT : 0);
}

static void send_line(struct peer *peer, const json_t *line)
{
	cleanup_free char *text = json_write_text(line);

	buf_puts(&peer->out, text);
	buf_put_char(&peer->out, '\n');
	flush(peer);
}

/* Sends the rest and ends the connection. */
static void finish(struct peer *peer)
{
	struct loop *loop = peer->listener->loop;

	if (peer->state == PEER_GONE)
		return;
	peer->state = PEER_READS;
	loop_timer_start(loop, &peer->timer, loop_now(loop) + LISTENER_REPLY_MS, on_timer);
	flush(peer);
}

void listener_end(struct peer *peer)
{
	peer->streams = false;
	finish(peer);
}

void listener_answer(struct peer *peer, json_t *reply_own)
{
	json_put_bool(reply_own, "ok", true);
	send_line(peer, reply_own);
	json_decref(reply_own);
	finish(peer);
}

void listener_refuse(struct peer *peer, const struct err *err)
{
	cleanup_json json_t *reply = json_object();

	json_put_bool(reply, "ok", false);
	json_put_str(reply, "code", err_code_name(err->code));
	json_put_str(reply, "error", err->msg);
	send_line(peer, reply);
	finish(peer);
}

bool listener_stream(struct peer *peer, json_t *reply_own)
{
	cleanup_json json_t *reply = reply_own;
	size_t streams = 0;
	struct err err;

	list_for_each (struct peer, other, &peer->listener->peers, node)
		streams += other->state == PEER_STREAMS;
	if (streams >= LISTENER_STREAMS_MAX) {
		(void)err_set(&err, ERR_LIMIT,
			      "%d commands watch this server already: end one of them",
			      LISTENER_STREAMS_MAX);
		listener_refuse(peer, &err);
		return false;
	}
	json_put_bool(reply, "ok", true);
	send_line(peer, reply);
	if (peer->state == PEER_GONE)
		return false;
	peer->state = PEER_STREAMS;
	peer->streams = true;
	return true;
}

bool listener_send(struct peer *peer, const json_t *line)
{
	if (peer->state != PEER_STREAMS || peer->out.len > LISTENER_PENDING_MAX)
		return false;
	send_line(peer, line);
	return true;
}

int listener_give_away(struct peer *peer, json_t *reply_own)
{
	int fd = -1;

	json_put_bool(reply_own, "ok", true);
	send_line(peer, reply_own);
	json_decref(reply_own);
	if (peer->state == PEER_GONE)
		return -1;
	loop_io_stop(&peer->io);
	if (peer->out.len == 0)
		fd = fd_steal(&peer->fd);
	drop(peer);
	return fd;
}

/* ---- requests ---- */

/* Returns a new reference. Returns NULL and sets *err for another version, or no request. */
static json_t *parse_request(const char *line, size_t len, struct err *err)
{
	json_t *request = json_parse(line, len, err);

	if (request == NULL)
		return NULL;
	if (json_integer_value(json_object_get(request, "ptycell")) == LISTENER_PROTOCOL)
		return request;
	json_decref(request);
	(void)err_set(err, ERR_UNSUPPORTED,
		      "this server takes requests of version %d only: use the ptycell that it runs",
		      LISTENER_PROTOCOL);
	return NULL;
}

static void take_request(struct peer *peer, size_t len)
{
	struct err err;
	cleanup_json json_t *request = parse_request(peer->in.data, len, &err);

	buf_release(&peer->in);
	loop_timer_stop(&peer->timer);
	loop_io_set_events(&peer->io, 0); /* epoll reports the end of the peer all the same */
	if (request == NULL)
		listener_refuse(peer, &err);
	else
		peer->listener->handlers->request(peer, request, peer->listener->data);
}

static void read_request(struct peer *peer)
{
	char chunk[READ_CHUNK];
	const char *end;
	struct err err;
	ssize_t n = read(peer->fd, chunk, sizeof(chunk));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(peer);
		return;
	}
	if (buf_add(&peer->in, chunk, (size_t)n, &err) < 0) {
		(void)err_set(&err, ERR_LIMIT, "a request has at most %d bytes",
			      LISTENER_REQUEST_MAX);
		listener_refuse(peer, &err);
		return;
	}
	end = memchr(peer->in.data, '\n', peer->in.len);
	if (end != NULL)
		take_request(peer, (size_t)(end - peer->in.data));
}

static void on_peer(struct loop_io *io, uint32_t events)
{
	struct peer *peer = container_of(io, struct peer, io);

	if (peer->state == PEER_ASKS)
		read_request(peer);
	else if ((events & (EPOLLHUP | EPOLLERR)) != 0)
		drop(peer);
	else
		flush(peer);
}

/* ---- the socket ---- */

static void take_peer(struct listener *listener, int fd_own)
{
	struct peer *peer = xcalloc(1, sizeof(*peer));
	struct err err;

	list_init(&peer->node);
	peer->listener = listener;
	peer->fd = fd_own;
	buf_init(&peer->in, LISTENER_REQUEST_MAX);
	buf_init(&peer->out, BUF_UNBOUNDED);
	list_append(&listener->peers, &peer->node);
	if (loop_io_start(listener->loop, &peer->io, peer->fd, EPOLLIN, on_peer, &err) < 0) {
		peer_free(peer);
		return;
	}
	loop_timer_start(listener->loop, &peer->timer,
			 loop_now(listener->loop) + LISTENER_REQUEST_MS, on_timer);
}

static void on_pause(struct loop_timer *timer)
{
	struct listener *listener = container_of(timer, struct listener, pause);

	loop_io_set_events(&listener->io, EPOLLIN);
}

/* Too many files are open: the connection waits, and would be reported in every turn. */
static void pause_listener(struct listener *listener)
{
	loop_io_set_events(&listener->io, 0);
	loop_timer_start(listener->loop, &listener->pause, loop_now(listener->loop) + PAUSE_MS,
			 on_pause);
}

/* Takes one connection a turn. With as many as there may be, further ones wait in the kernel. */
static void on_connection(struct loop_io *io, uint32_t events)
{
	struct listener *listener = container_of(io, struct listener, io);
	cleanup_fd int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	pid_t pid;

	(void)events;
	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		pause_listener(listener);
	if (fd < 0 || !sockets_peer_is_ours(fd, &pid))
		return;
	take_peer(listener, fd_steal(&fd));
	if (listener_peers(listener) >= LISTENER_PEERS_MAX)
		loop_io_set_events(&listener->io, 0);
}

/* Binds the socket. Where a server that ends has removed the folder meanwhile, makes it again. */
static int bind_socket(struct listener *listener, int home_fd, struct err *err)
{
	for (int tries = 0; tries < BIND_TRIES; tries++) {
		fd_close(&listener->folder_fd);
		listener->folder_fd = sockets_open(home_fd, true, err);
		if (listener->folder_fd < 0)
			return -1;
		sockets_clean(listener->folder_fd);
		listener->fd = sockets_bind(listener->folder_fd, &listener->name, err);
		if (listener->fd >= 0)
			return 0;
		if (err->code != ERR_NOT_FOUND)
			return -1;
	}
	return -1;
}

struct listener *listener_new(struct loop *loop, int home_fd,
			      const struct listener_handlers *handlers, void *data, struct err *err)
{
	struct listener *listener = xcalloc(1, sizeof(*listener));

	listener->loop = loop;
	listener->handlers = handlers;
	listener->data = data;
	listener->fd = -1;
	list_init(&listener->peers);
	listener->folder_fd = -1;
	if (bind_socket(listener, home_fd, err) < 0 ||
	    loop_io_start(loop, &listener->io, listener->fd, EPOLLIN, on_connection, err) < 0) {
		listener_free(listener);
		return NULL;
	}
	return listener;
}

void listener_free(struct listener *listener)
{
	if (listener == NULL)
		return;
	if (listener->name != NULL)
		sockets_leave(listener->folder_fd, listener->name);
	list_for_each (struct peer, peer, &listener->peers, node)
		peer_free(peer);
	loop_io_stop(&listener->io);
	loop_timer_stop(&listener->pause);
	fd_close(&listener->fd);
	fd_close(&listener->folder_fd);
	free(listener->name);
	free(listener);
}

bool listener_is_reachable(const struct listener *listener)
{
	struct stat st;

	return fstatat(listener->folder_fd, listener->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

size_t listener_peers(const struct listener *listener)
{
	return list_len(&listener->peers);
}
