// SPDX-License-Identifier: MIT
/*
 * floor: the least that an MCP code interpreter of this design can cost, as a measure for ours.
 *
 * One epoll loop; each session is an interpreter whose terminal is a pty and which takes code over
 * a socketpair (u32 length, code) and answers in frames (u32 length, u8 kind, body). No safety, no
 * limits, no errors handled that do not happen in a benchmark: not a product.
 *
 * floor PROGRAM ARGUMENT... (of the interpreter with its driver)
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "json.h"

extern char **environ;

enum { MAX_SESSIONS = 4096, OUTPUT_CAP = 100 * 1024, READ_SIZE = 65536 };

struct request {
	struct request *next;
	char id[64];
	char *code;
	size_t len;
};

struct session {
	char name[96];
	pid_t pid;
	int ctl, pty;
	struct request *head, **tail; /* head is the one that runs, when busy */
	bool busy;
	struct buf out; /* what the terminal gave during this call, up to OUTPUT_CAP */
	size_t dropped;
	struct buf frames; /* frames of ctl, the last one perhaps in part */
	struct buf images; /* finished JSON content blocks */
};

struct floor {
	char **command;
	int epoll;
	struct session *sessions[MAX_SESSIONS];
	size_t count;
	struct buf reply;
};

static void write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			exit(1);
		data += n;
		len -= (size_t)n;
	}
}

/* ---- sessions ---- */

static void answer(struct floor *f, const char *id, const char *result)
{
	f->reply.len = 0;
	buf_puts(&f->reply, "{\"jsonrpc\":\"2.0\",\"id\":");
	buf_puts(&f->reply, id);
	buf_puts(&f->reply, ",\"result\":");
	buf_puts(&f->reply, result);
	buf_puts(&f->reply, "}\n");
	write_all(1, f->reply.data, f->reply.len);
}

static void watch(struct floor *f, int fd, uint64_t tag)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = tag };

	epoll_ctl(f->epoll, EPOLL_CTL_ADD, fd, &event);
}

static int open_pty(char *slave, size_t size)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct termios t;

	grantpt(master);
	unlockpt(master);
	ptsname_r(master, slave, size);
	tcgetattr(master, &t);
	cfmakeraw(&t);
	tcsetattr(master, TCSANOW, &t);
	return master;
}

/* Our signals are ignored ones; the interpreter starts with none ignored. */
static pid_t spawn_driver(const struct floor *f, const char *slave, int ctl)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t all;
	pid_t pid;

	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, slave, O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, 0, 1);
	posix_spawn_file_actions_adddup2(&actions, 0, 2);
	posix_spawn_file_actions_adddup2(&actions, ctl, 3);
	if (posix_spawnp(&pid, f->command[0], &actions, &attr, f->command, environ)) {
		perror(f->command[0]);
		exit(1);
	}
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return pid;
}

static struct session *session_new(struct floor *f, const char *name)
{
	struct session *s = calloc(1, sizeof(*s));
	char slave[64];
	int pair[2];

	if (!s || f->count == MAX_SESSIONS)
		abort();
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->tail = &s->head;
	s->pty = open_pty(slave, sizeof(slave));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	s->ctl = pair[0];
	s->pid = spawn_driver(f, slave, pair[1]);
	close(pair[1]);
	fcntl(s->pty, F_SETFL, O_NONBLOCK);
	f->sessions[f->count] = s;
	watch(f, s->ctl, (uint64_t)f->count << 2 | 1);
	watch(f, s->pty, (uint64_t)f->count << 2 | 2);
	f->count++;
	return s;
}

static struct session *session_find(struct floor *f, const char *name)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->sessions[i]->name, name))
			return f->sessions[i];
	return session_new(f, name);
}

static void session_start_next(struct session *s)
{
	struct request *r = s->head;
	uint32_t len;
	char small[8192];

	if (s->busy || !r)
		return;
	s->busy = true;
	s->out.len = s->images.len = s->dropped = 0;
	len = (uint32_t)r->len;
	if (r->len + sizeof(len) <= sizeof(small)) {
		memcpy(small, &len, sizeof(len));
		memcpy(small + sizeof(len), r->code, r->len);
		write_all(s->ctl, small, r->len + sizeof(len));
	} else {
		write_all(s->ctl, (const char *)&len, sizeof(len));
		write_all(s->ctl, r->code, r->len);
	}
}

static void session_pop(struct session *s)
{
	struct request *r = s->head;

	s->head = r->next;
	if (!s->head)
		s->tail = &s->head;
	free(r->code);
	free(r);
	s->busy = false;
}

static void session_finish(struct floor *f, struct session *s, const char *value, size_t len)
{
	struct buf *reply = &f->reply;

	reply->len = 0;
	buf_puts(reply, "{\"jsonrpc\":\"2.0\",\"id\":");
	buf_puts(reply, s->head->id);
	buf_puts(reply, ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"");
	buf_put_json(reply, s->out.data, s->out.len);
	if (s->dropped) {
		char note[64];

		snprintf(note, sizeof(note), "\\n[%zu bytes dropped]\\n", s->dropped);
		buf_puts(reply, note);
	}
	buf_put_json(reply, value, len);
	buf_puts(reply, "\"}");
	buf_add(reply, s->images.data, s->images.len);
	buf_puts(reply, "]}}\n");
	write_all(1, reply->data, reply->len);
	session_pop(s);
	session_start_next(s);
}

static void on_pty(const struct floor *f, struct session *s)
{
	static char chunk[READ_SIZE];

	for (;;) {
		ssize_t n = read(s->pty, chunk, sizeof(chunk));
		size_t room = OUTPUT_CAP - s->out.len;
		size_t take = (size_t)n < room ? (size_t)n : room;

		if (n < 0 && errno == EIO)
			epoll_ctl(f->epoll, EPOLL_CTL_DEL, s->pty, NULL);
		if (n <= 0)
			return;
		buf_add(&s->out, chunk, take);
		s->dropped += (size_t)n - take;
	}
}

/*
 * On a Linux pty a read that would say EAGAIN first flushes what was written, so reading to EAGAIN
 * after the reply misses nothing of the cell's output.
 */
static void on_frame(struct floor *f, struct session *s, char kind, const char *body, size_t len)
{
	if (kind == 'I') {
		buf_puts(&s->images, ",{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"");
		buf_put_base64(&s->images, (const unsigned char *)body, len);
		buf_puts(&s->images, "\"}");
		return;
	}
	on_pty(f, s);
	session_finish(f, s, body, len);
}

static void session_end(struct floor *f, struct session *s)
{
	epoll_ctl(f->epoll, EPOLL_CTL_DEL, s->ctl, NULL);
	s->name[0] = 0;
	while (s->head) {
		answer(f, s->head->id,
		       "{\"content\":[{\"type\":\"text\",\"text\":\"session ended\"}],\"isError\":true}");
		session_pop(s);
	}
}

static void on_ctl(struct floor *f, struct session *s)
{
	size_t used = 0;
	uint32_t len;
	ssize_t n;

	buf_reserve(&s->frames, READ_SIZE);
	n = read(s->ctl, s->frames.data + s->frames.len, s->frames.cap - s->frames.len);
	if (n <= 0) {
		session_end(f, s);
		return;
	}
	s->frames.len += (size_t)n;
	while (s->frames.len - used >= 5) {
		const char *frame = s->frames.data + used;

		memcpy(&len, frame, sizeof(len));
		if (s->frames.len - used < 5 + (size_t)len)
			break;
		on_frame(f, s, frame[4], frame + 5, len);
		used += 5 + (size_t)len;
	}
	buf_drop_front(&s->frames, used);
}

/* ---- requests ---- */

static void interrupt(const struct floor *f, const char *id, const char *end)
{
	size_t len = (size_t)(end - id);

	for (size_t i = 0; i < f->count; i++) {
		struct session *s = f->sessions[i];
		pid_t group;

		if (!s->busy || strlen(s->head->id) != len || memcmp(s->head->id, id, len))
			continue;
		group = tcgetpgrp(s->pty);
		if (group > 0)
			kill(-group, SIGINT);
	}
}

static void call_exec_code(struct floor *f, const char *id, const char *arguments)
{
	const char *value, *end;
	char name[96] = "default";
	struct request *r = calloc(1, sizeof(*r));
	struct session *s;

	if (!r)
		abort();
	value = member(arguments, "session_id", &end);
	if (value)
		snprintf(name, sizeof(name), "%.*s", (int)(end - value - 2), value + 1);
	value = member(arguments, "code", &end);
	snprintf(r->id, sizeof(r->id), "%s", id);
	r->code = value ? unescape(value, end, &r->len) : NULL;
	s = session_find(f, name);
	*s->tail = r;
	s->tail = &r->next;
	session_start_next(s);
}

static void on_request(struct floor *f, const char *id, const char *line)
{
	const char *end, *method, *params, *arguments;

	method = member(line, "method", &end);
	if (is_string(method, end, "initialize")) {
		answer(f, id,
		       "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
		       "\"serverInfo\":{\"name\":\"floor\",\"version\":\"0\"}}");
		return;
	}
	if (is_string(method, end, "tools/list")) {
		answer(f, id,
		       "{\"tools\":[{\"name\":\"exec_code\",\"description\":\"run code\","
		       "\"inputSchema\":{\"type\":\"object\",\"properties\":{"
		       "\"session_id\":{\"type\":\"string\"},\"language\":{\"type\":\"string\"},"
		       "\"code\":{\"type\":\"string\"}},\"required\":[\"code\"]}}]}");
		return;
	}
	params = is_string(method, end, "tools/call") ? member(line, "params", &end) : NULL;
	arguments = params ? member(params, "arguments", &end) : NULL;
	if (arguments)
		call_exec_code(f, id, arguments);
	else
		answer(f, id, "{}");
}

static void on_line(struct floor *f, const char *line)
{
	const char *end, *value = member(line, "id", &end);
	char id[64];

	if (value) {
		snprintf(id, sizeof(id), "%.*s", (int)(end - value), value);
		on_request(f, id, line);
		return;
	}
	value = member(line, "params",
		       &end); /* of the notifications only cancelled has a requestId */
	value = value ? member(value, "requestId", &end) : NULL;
	if (value)
		interrupt(f, value, end);
}

/* False at the end of input. */
static bool on_stdin(struct floor *f, struct buf *in, size_t *scanned)
{
	char *line, *newline;
	ssize_t n;

	buf_reserve(in, READ_SIZE + 1);
	n = read(0, in->data + in->len, in->cap - in->len - 1);
	if (n <= 0)
		return false;
	in->len += (size_t)n;
	line = in->data;
	while ((newline = memchr(in->data + *scanned, '\n', in->len - *scanned))) {
		*newline = 0;
		on_line(f, line);
		line = newline + 1;
		*scanned = (size_t)(line - in->data);
	}
	buf_drop_front(in, (size_t)(line - in->data));
	*scanned = in->len;
	return true;
}

static void run(struct floor *f)
{
	struct epoll_event events[64];
	struct buf in = { 0 };
	size_t scanned = 0;

	for (;;) {
		int n = epoll_wait(f->epoll, events, 64, -1);

		for (int i = 0; i < n; i++) {
			uint64_t tag = events[i].data.u64;

			if ((tag & 3) == 1)
				on_ctl(f, f->sessions[tag >> 2]);
			else if ((tag & 3) == 2)
				on_pty(f, f->sessions[tag >> 2]);
			else if (!on_stdin(f, &in, &scanned))
				return;
		}
	}
}

int main(int argc, char **argv)
{
	static struct floor f;
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	if (argc < 2) {
		fprintf(stderr, "usage: floor PROGRAM ARGUMENT...\n");
		return 2;
	}
	f.command = argv + 1;
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGCHLD, &ignore, NULL);
	f.epoll = epoll_create1(EPOLL_CLOEXEC);
	watch(&f, 0, 0);
	run(&f);
	for (size_t i = 0; i < f.count; i++)
		kill(-f.sessions[i]->pid, SIGKILL);
	return 0;
}
