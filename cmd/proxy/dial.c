/* SPDX-License-Identifier: MIT */
/*
 * dial.c - tries the allowed addresses in turn. The addresses of one lookup are filtered first and
 * then tried in order, so a name that changes between check and connection (DNS rebinding) gains
 * nothing. The timer serves both the lookup and each connection.
 */
#include "dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>

#include "base/fd.h"
#include "net/address.h"

static void finish_dial(struct dial *dial, enum verdict verdict, const char *detail)
{
	loop_timer_stop(&dial->timer);
	loop_io_stop(&dial->io);
	dial->question = 0;
	if (verdict != VERDICT_ALLOWED)
		fd_close(&dial->fd);
	dial->done(dial, verdict, detail);
}

static void on_timer(struct loop_timer *timer);
static void try_next(struct dial *dial);

static void on_connected(struct loop_io *io, uint32_t events)
{
	struct dial *dial = container_of(io, struct dial, io);
	socklen_t len = sizeof(int);
	int problem = 0;

	(void)events;
	if (getsockopt(dial->fd, SOL_SOCKET, SO_ERROR, &problem, &len) < 0 || problem != 0)
		try_next(dial);
	else
		finish_dial(dial, VERDICT_ALLOWED, NULL);
}

/* Returns true when a connection to `address` has been started. */
static bool try_one(struct dial *dial, const struct sockaddr_storage *address)
{
	int on = 1;
	struct err err;

	dial->fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (dial->fd < 0)
		return false;
	(void)setsockopt(dial->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(dial->fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
	    errno != EINPROGRESS)
		return false;
	return loop_io_start(dial->loop, &dial->io, dial->fd, EPOLLOUT, on_connected, &err) == 0;
}

static void try_next(struct dial *dial)
{
	for (;;) {
		loop_io_stop(&dial->io);
		fd_close(&dial->fd);
		if (dial->next >= dial->answer.count || dial->next >= DIAL_TRIES_MAX) {
			finish_dial(dial, VERDICT_UNREACHABLE, NULL);
			return;
		}
		if (try_one(dial, &dial->answer.addresses[dial->next++]))
			break;
	}
	loop_timer_start(dial->loop, &dial->timer,
			 loop_now(dial->loop) + (uint64_t)DIAL_SECONDS * 1000, on_timer);
}

static void on_timer(struct loop_timer *timer)
{
	struct dial *dial = container_of(timer, struct dial, timer);

	if (dial->question != 0)
		finish_dial(dial, VERDICT_UNRESOLVED, NULL);
	else
		try_next(dial);
}

static bool is_allowed(const struct dial *dial, const struct sockaddr_storage *address)
{
	return dial->trust == DIAL_ANY ||
	       address_allowed((const struct sockaddr *)address, dial->trust == DIAL_PRIVATE);
}

/*
 * Keeps the allowed addresses. Returns the verdict on the last forbidden one, and sets *ret_what.
 */
static enum verdict drop_forbidden(struct dial *dial, const char **ret_what)
{
	enum address_class class = ADDRESS_GLOBAL;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < dial->answer.count; i++) {
		const struct sockaddr_storage *address = &dial->answer.addresses[i];

		if (is_allowed(dial, address))
			dial->answer.addresses[kept++] = *address;
		else
			class = address_classify((const struct sockaddr *)address, ret_what);
	}
	dial->answer.count = kept;
	return class == ADDRESS_PRIVATE ? VERDICT_PRIVATE : VERDICT_RESERVED;
}

void dial_answer(struct dial *dial, const struct resolver_answer *answer)
{
	const char *what = NULL;
	enum verdict verdict;

	dial->question = 0;
	dial->answer = *answer;
	if (answer->count == 0) {
		finish_dial(dial, VERDICT_UNRESOLVED, NULL);
		return;
	}
	verdict = drop_forbidden(dial, &what);
	if (dial->answer.count == 0) {
		finish_dial(dial, verdict, what);
		return;
	}
	dial->next = 0;
	try_next(dial);
}

void dial_start(struct dial *dial, int channel, uint32_t question, const char *host, uint16_t port)
{
	uint64_t wait_ms = (uint64_t)RESOLVER_SECONDS * 1000;
	struct err err;

	dial->question = question;
	/*
	 * A failed question is treated as one without an answer. The timer reports it, from the
	 * loop.
	 */
	if (resolver_ask(channel, question, host, port, &err) < 0)
		wait_ms = 0;
	loop_timer_start(dial->loop, &dial->timer, loop_now(dial->loop) + wait_ms, on_timer);
}

void dial_release(struct dial *dial)
{
	loop_timer_stop(&dial->timer);
	loop_io_stop(&dial->io);
	fd_close(&dial->fd);
}
