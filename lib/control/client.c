/* SPDX-License-Identifier: MIT */
/*
 * client.c - the blocking end of a connection. The request is small: the kernel's buffer takes it
 * at once, even if the server is stopped.
 */
#include "control/client.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "control/listener.h"
#include "control/sockets.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"

enum { READ_CHUNK = 64 << 10, WAIT_MAX_MS = 60000 };

int client_open(struct client *client, int folder_fd, const char *name, json_t *request,
		struct err *err)
{
	cleanup_free char *text = NULL;
	cleanup_free char *line = NULL;

	*client = (struct client){ .fd = -1 };
	buf_init(&client->in, CLIENT_LINE_MAX);
	json_put_int(request, "ptycell", LISTENER_PROTOCOL);
	text = json_write_text(request);
	line = xasprintf("%s\n", text);
	client->fd = sockets_connect(folder_fd, name, err);
	if (client->fd < 0)
		return -1;
	if (!sockets_peer_is_ours(client->fd, &client->pid))
		return err_set(err, ERR_DENIED, "the socket is another user's");
	if (send(client->fd, line, strlen(line), MSG_NOSIGNAL) != (ssize_t)strlen(line))
		return err_sys(err, "asking server %d", (int)client->pid);
	return 0;
}

void client_close(struct client *client)
{
	fd_close(&client->fd);
	buf_release(&client->in);
}

/* Waits for bytes. Returns -1 and sets *err. */
static int await(const struct client *client, uint64_t deadline_ms, struct err *err)
{
	struct pollfd ready = { .fd = client->fd, .events = POLLIN };
	uint64_t now;

	while ((now = clock_ms()) < deadline_ms) {
		uint64_t left = deadline_ms - now;
		int n = poll(&ready, 1, left < WAIT_MAX_MS ? (int)left : WAIT_MAX_MS);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return err_sys(err, "waiting for server %d", (int)client->pid);
	}
	return err_set(err, ERR_TIMEOUT, "server %d does not answer", (int)client->pid);
}

static int read_more(struct client *client, uint64_t deadline_ms, struct err *err)
{
	char *room;
	ssize_t n;

	if (await(client, deadline_ms, err) < 0)
		return -1;
	room = buf_reserve(&client->in, READ_CHUNK, err);
	if (room == NULL)
		return -1;
	n = read(client->fd, room, READ_CHUNK);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return err_sys(err, "reading from server %d", (int)client->pid);
	if (n == 0)
		return err_set(err, ERR_CANCELLED, "server %d has ended", (int)client->pid);
	buf_commit(&client->in, (size_t)n);
	return 0;
}

/* Sets *err to the error that a server sent. */
static void take_error(const json_t *line, struct err *err)
{
	const char *code = json_string_value(json_object_get(line, "code"));
	const char *text = json_string_value(json_object_get(line, "error"));
	enum err_code known = ERR_INVALID;

	for (int i = ERR_NONE; i <= ERR_INTERNAL; i++)
		if (code != NULL && str_eq(code, err_code_name((enum err_code)i)))
			known = (enum err_code)i;
	(void)err_set(err, known, "%s", text != NULL ? text : "the server refuses");
}

bool client_has_line(const struct client *client)
{
	return client->in.len > 0 && memchr(client->in.data, '\n', client->in.len) != NULL;
}

json_t *client_read(struct client *client, uint64_t deadline_ms, struct err *err)
{
	json_t *line;
	size_t len;

	while (!client_has_line(client))
		if (read_more(client, deadline_ms, err) < 0)
			return NULL;
	len = strcspn(client->in.data, "\n");
	line = json_parse(client->in.data, len, err);
	buf_consume(&client->in, len + 1);
	if (line == NULL || !json_is_false(json_object_get(line, "ok")))
		return line;
	take_error(line, err);
	json_decref(line);
	return NULL;
}
