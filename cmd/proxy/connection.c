/* SPDX-License-Identifier: MIT */
/*
 * connection.c - the states of a connection. A table maps each state to a step, and a step runs
 * until it can do nothing more without new bytes. A tunnel is not opened blindly: the client's
 * first bytes must be a TLS hello that names the host of CONNECT, or a plain HTTP request to it.
 * Bytes of both directions count against the session's limit as they pass.
 */
#include "connection.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "dial.h"
#include "endpoint.h"
#include "error_page.h"
#include "net/client_hello.h"
#include "net/http_body.h"
#include "net/http_head.h"
#include "text/base64.h"

enum {
	HEAD_SECONDS = 30,  /* for a request's head, a ClientHello, a proxy's response */
	IDLE_SECONDS = 300, /* without a byte in either direction */
	LINGER_SECONDS = 2, /* for a client to read the response and close */
	TLS_HANDSHAKE = 22,
	HTTPS_PORT = 443,
	HELLO_BYTES = 32 << 10, /* buffered while a ClientHello is incomplete */
};

enum state {
	STATE_HEAD,     /* waits for the request's head */
	STATE_DIAL,     /* waits for a connection to the host or to the user's proxy */
	STATE_UPSTREAM, /* waits for the response of the user's proxy to CONNECT */
	STATE_HELLO,    /* waits for the client's ClientHello */
	STATE_INNER,    /* no TLS: waits for the head of a plain request in the tunnel */
	STATE_TUNNEL,
	STATE_PLAIN,  /* passes the request's body; waits for the response's head */
	STATE_ANSWER, /* passes the response's body */
	STATE_LINGER, /* writes the last bytes for the client */
	STATES
};

struct connection {
	struct listener *listener;
	struct list node;
	enum state state;
	struct endpoint client;
	struct endpoint server; /* the host, or the user's proxy */
	struct dial dial;
	struct loop_timer timer;
	struct host_port to;
	struct stats_row *row;
	const struct upstream *upstream; /* NULL for a direct connection */
	bool tunnel;
	struct buf request; /* the rewritten head, until there is a connection */
	struct http_body body;
};

/* ---- states ---- */

static void on_timer(struct loop_timer *timer)
{
	connection_free(container_of(timer, struct connection, timer));
}

static void set_timer(struct connection *c)
{
	static const int seconds[] = {
		[STATE_HEAD] = HEAD_SECONDS,     [STATE_DIAL] = 0,
		[STATE_UPSTREAM] = HEAD_SECONDS, [STATE_HELLO] = HEAD_SECONDS,
		[STATE_INNER] = HEAD_SECONDS,    [STATE_TUNNEL] = IDLE_SECONDS,
		[STATE_PLAIN] = IDLE_SECONDS,    [STATE_ANSWER] = IDLE_SECONDS,
		[STATE_LINGER] = IDLE_SECONDS,
	};
	_Static_assert(ARRAY_SIZE(seconds) == STATES, "a time for each");
	uint64_t wait_s =
		(uint64_t)(c->state == STATE_LINGER && c->client.shut ? LINGER_SECONDS
								      : seconds[c->state]);

	if (wait_s > 0)
		loop_timer_start(c->listener->loop, &c->timer,
				 loop_now(c->listener->loop) + wait_s * 1000, on_timer);
	else
		loop_timer_stop(&c->timer);
}

static void set_state(struct connection *c, enum state state)
{
	c->state = state;
	set_timer(c);
}

static void linger(struct connection *c)
{
	endpoint_release(&c->server);
	c->client.closing = true;
	set_state(c, STATE_LINGER);
}

static void refuse(struct connection *c, enum verdict verdict, const char *detail)
{
	if (c->row == NULL)
		c->row = stats_find(c->listener->stats, NULL);
	stats_count(c->listener->stats, c->row, verdict);
	error_page_write(&c->client.out, verdict, c->to.host[0] != '\0' ? &c->to : NULL, detail);
	linger(c);
}

/* ---- the request ---- */

/*
 * Returns "Basic ..." for the user's proxy, or NULL when it has no user. The caller frees the
 * result.
 */
static char *authorization(const struct upstream *upstream)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (upstream == NULL || upstream->user[0] == '\0')
		return NULL;
	buf_puts(&out, "Basic ");
	base64_encode(&out, upstream->user, strlen(upstream->user));
	return buf_steal(&out);
}

static void write_request(struct connection *c, const struct http_head_request *request)
{
	cleanup_free char *secret = authorization(c->upstream);

	if (!request->connect) {
		http_head_write_request(request, c->upstream != NULL, secret, &c->request);
	} else if (c->upstream != NULL) {
		buf_putf(&c->request, "CONNECT %s:%u HTTP/1.1\r\nHost: %s:%u\r\n", c->to.host,
			 c->to.port, c->to.host, c->to.port);
		if (secret != NULL)
			buf_putf(&c->request, "Proxy-Authorization: %s\r\n", secret);
		buf_puts(&c->request, "\r\n");
	}
}

static enum verdict judge_host(const struct connection *c)
{
	static const enum verdict verdicts[] = {
		[HOST_LIST_ALLOWED] = VERDICT_ALLOWED,
		[HOST_LIST_NOT_LISTED] = VERDICT_NOT_LISTED,
		[HOST_LIST_OTHER_PORT] = VERDICT_PORT,
		[HOST_LIST_FORBIDDEN] = VERDICT_FORBIDDEN,
	};
	enum verdict verdict = verdicts[host_list_check(c->listener->request->hosts, &c->to)];

	if (verdict == VERDICT_ALLOWED &&
	    stats_bytes(c->listener->stats) >= c->listener->request->bytes_max)
		return VERDICT_BYTES;
	return verdict;
}

static void start_dial(struct connection *c)
{
	const struct request *rules = c->listener->request;
	const char *host = c->upstream != NULL ? c->upstream->host : c->to.host;
	uint16_t port = c->upstream != NULL ? c->upstream->port : c->to.port;

	c->dial.trust = c->upstream != NULL    ? DIAL_ANY
			: rules->allow_private ? DIAL_PRIVATE
					       : DIAL_GLOBAL;
	set_state(c, STATE_DIAL);
	dial_start(&c->dial, c->listener->resolver, listener_question(c->listener), host, port);
}

static void take_request(struct connection *c, size_t len)
{
	struct http_head_request request;
	enum verdict verdict;
	struct err err;

	if (http_head_parse_request(c->client.in.data, len, &request, &err) < 0) {
		refuse(c, VERDICT_MALFORMED, err.msg);
		return;
	}
	c->to = request.to;
	c->tunnel = request.connect;
	c->row = stats_find(c->listener->stats, &c->to);
	verdict = judge_host(c);
	if (verdict != VERDICT_ALLOWED) {
		refuse(c, verdict, NULL);
		return;
	}
	if (request_find_upstream(c->listener->request, c->to.host, c->tunnel, &c->upstream, &err) <
	    0) {
		refuse(c, VERDICT_UNREACHABLE, err.msg);
		return;
	}
	write_request(c, &request);
	http_body_init(&c->body, request.body, request.body_len);
	buf_consume(&c->client.in, len);
	start_dial(c);
}

static bool step_head(struct connection *c)
{
	size_t len = http_head_len(c->client.in.data, c->client.in.len);

	if (len == 0 ? c->client.in.len >= HTTP_HEAD_MAX : len > HTTP_HEAD_MAX)
		refuse(c, VERDICT_MALFORMED, "the request's head is too long");
	else if (len > 0)
		take_request(c, len);
	else if (c->client.ended)
		linger(c);
	else
		return false;
	return true;
}

/* ---- the way there ---- */

static void run_connection(struct connection *c);

static void on_dialled(struct dial *dial, enum verdict verdict, const char *detail)
{
	struct connection *c = container_of(dial, struct connection, dial);

	if (verdict != VERDICT_ALLOWED) {
		refuse(c, verdict,
		       c->upstream != NULL ? "the proxy of this machine is not reached" : detail);
		run_connection(c);
		return;
	}
	endpoint_open(&c->server, fd_steal(&dial->fd));
	buf_put(&c->server.out, c->request.data, c->request.len);
	stats_add(c->listener->stats, c->row, c->request.len, 0);
	buf_release(&c->request);
	if (c->tunnel && c->upstream == NULL) {
		buf_puts(&c->client.out, "HTTP/1.1 200 Connection established\r\n\r\n");
		set_state(c, STATE_HELLO);
	} else if (c->tunnel) {
		set_state(c, STATE_UPSTREAM);
	} else {
		stats_count(c->listener->stats, c->row, VERDICT_ALLOWED);
		set_state(c, STATE_PLAIN);
	}
	run_connection(c);
}

/*
 * Takes the head at the start of the server's bytes. Returns 1 with a head, 0 when it is
 * incomplete, -1 after a refusal.
 */
static int take_response(struct connection *c, struct http_head_response *ret_response,
			 size_t *ret_len)
{
	struct buf *in = &c->server.in;
	struct err err;

	*ret_len = http_head_len(in->data, in->len);
	if (*ret_len == 0 && in->len < HTTP_HEAD_MAX && !c->server.ended)
		return 0;
	if (*ret_len > 0 && http_head_parse_response(in->data, *ret_len, ret_response, &err) == 0)
		return 1;
	refuse(c, VERDICT_UNREACHABLE, "what it answered is no HTTP");
	return -1;
}

static bool step_upstream(struct connection *c)
{
	struct http_head_response response;
	size_t len;
	int got = take_response(c, &response, &len);

	if (got <= 0)
		return got < 0;
	if (response.status < 200 || response.status > 299) {
		refuse(c, VERDICT_UNREACHABLE, "the proxy of this machine refuses it");
		return true;
	}
	buf_consume(&c->server.in, len);
	buf_puts(&c->client.out, "HTTP/1.1 200 Connection established\r\n\r\n");
	set_state(c, STATE_HELLO);
	return true;
}

/* ---- tunnels ---- */

/*
 * Refuses by a TLS alert, as a client in a tunnel expects TLS, unless the client does not speak
 * TLS.
 */
static void refuse_tunnel(struct connection *c, const char *detail)
{
	const struct buf *in = &c->client.in;

	stats_count(c->listener->stats, c->row, VERDICT_TLS);
	if (in->len > 0 && in->data[0] == TLS_HANDSHAKE)
		error_page_write_alert(&c->client.out);
	else
		error_page_write(&c->client.out, VERDICT_TLS, &c->to, detail);
	linger(c);
}

static bool step_hello(struct connection *c)
{
	const struct buf *in = &c->client.in;
	char host[HOST_MAX + 1];
	struct err err;
	int got = client_hello_read_name(in->data, in->len, host, &err);

	if (got < 0 && in->data[0] != TLS_HANDSHAKE && c->to.port != HTTPS_PORT) {
		set_state(c, STATE_INNER);
	} else if (got < 0) {
		refuse_tunnel(c, err.msg);
	} else if (got > 0 && !str_eq(host, c->to.host)) {
		refuse_tunnel(c, "the server name (SNI) in TLS is another one");
	} else if (got > 0) {
		stats_count(c->listener->stats, c->row, VERDICT_ALLOWED);
		set_state(c, STATE_TUNNEL);
	} else if (in->len >= HELLO_BYTES) {
		refuse_tunnel(c, "the ClientHello is too long");
	} else if (c->client.ended || c->server.broken) {
		linger(c);
	} else {
		return false;
	}
	return true;
}

/*
 * Returns true when the first line is complete and not HTTP: waiting for more would be pointless.
 */
static bool is_other_protocol(const struct buf *in)
{
	const char *end = memchr(in->data, '\n', in->len);

	return end != NULL && memmem(in->data, (size_t)(end - in->data), " HTTP/1.", 8) == NULL;
}

/*
 * Judges a plain request in a tunnel like one without: Node sends requests to http:// through
 * tunnels.
 */
static bool step_inner(struct connection *c)
{
	const struct buf *in = &c->client.in;
	size_t len = http_head_len(in->data, in->len);
	struct http_head_request request;
	struct err err;

	if (len == 0 && in->len < HTTP_HEAD_MAX && !is_other_protocol(in)) {
		if (!c->client.ended && !c->server.broken)
			return false;
		linger(c);
		return true;
	}
	if (len == 0 || http_head_parse_tunnelled(in->data, len, &c->to, &request, &err) < 0) {
		refuse_tunnel(c, len > 0 ? err.msg : "this is neither TLS nor HTTP");
		return true;
	}
	http_head_write_request(&request, false, NULL, &c->server.out);
	http_body_init(&c->body, request.body, request.body_len);
	buf_consume(&c->client.in, len);
	stats_add(c->listener->stats, c->row, len, 0);
	stats_count(c->listener->stats, c->row, VERDICT_ALLOWED);
	set_state(c, STATE_PLAIN);
	return true;
}

/* Passes up to `len` bytes. Returns false when nothing can be passed now. */
static bool pass(struct connection *c, struct endpoint *from, struct endpoint *to, size_t len)
{
	bool up = from == &c->client;

	if (len > from->in.len)
		len = from->in.len;
	if (len == 0 || (to->out.len >= ENDPOINT_BUFFER && !to->broken))
		return false;
	if (!to->broken)
		buf_put(&to->out, from->in.data, len);
	buf_consume(&from->in, len);
	stats_add(c->listener->stats, c->row, up ? len : 0, up ? 0 : len);
	set_timer(c);
	return true;
}

static bool over_the_cap(struct connection *c)
{
	if (stats_bytes(c->listener->stats) < c->listener->request->bytes_max)
		return false;
	stats_count(c->listener->stats, c->row, VERDICT_BYTES);
	linger(c);
	return true;
}

static bool step_tunnel(struct connection *c)
{
	bool up = pass(c, &c->client, &c->server, ENDPOINT_BUFFER);
	bool down = pass(c, &c->server, &c->client, ENDPOINT_BUFFER);

	if (over_the_cap(c))
		return true;
	if (c->client.ended && c->client.in.len == 0)
		c->server.closing = true;
	if (c->server.ended && c->server.in.len == 0)
		c->client.closing = true;
	if (c->client.closing && (c->server.closing || c->server.broken)) {
		if (!endpoint_flushed(&c->server))
			return up || down;
		linger(c);
		return true;
	}
	return up || down;
}

/* ---- plain requests ---- */

/* Passes the request's body and not one byte more. */
static bool pass_body(struct connection *c)
{
	struct http_body before = c->body;
	const struct buf *in = &c->client.in;
	struct err err;
	ptrdiff_t len;

	if (http_body_done(&c->body) || in->len == 0 || c->server.out.len >= ENDPOINT_BUFFER)
		return false;
	len = http_body_take(&c->body, in->data, in->len, &err);
	if (len < 0) {
		c->body = before;
		refuse(c, VERDICT_MALFORMED, err.msg);
		return true;
	}
	return pass(c, &c->client, &c->server, (size_t)len);
}

static bool step_plain(struct connection *c)
{
	bool up = pass_body(c);
	struct http_head_response response;
	size_t len;
	int got;

	if (c->state != STATE_PLAIN || over_the_cap(c))
		return true;
	/* interim responses that the client does not read */
	if (c->client.out.len >= ENDPOINT_BUFFER)
		return up;
	got = take_response(c, &response, &len);
	if (got <= 0)
		return up || got < 0;
	if (response.status == 101) { /* the request had no Upgrade */
		refuse(c, VERDICT_UNREACHABLE, "what it answered is no HTTP");
		return true;
	}
	http_head_write_response(&response, &c->client.out);
	buf_consume(&c->server.in, len);
	stats_add(c->listener->stats, c->row, 0, len);
	if (response.status >= 200)
		set_state(c, STATE_ANSWER);
	return true;
}

static bool step_answer(struct connection *c)
{
	bool up = pass_body(c);
	bool down;

	if (c->state != STATE_ANSWER)
		return true;
	down = pass(c, &c->server, &c->client, ENDPOINT_BUFFER);
	if (over_the_cap(c))
		return true;
	if (c->server.ended && c->server.in.len == 0) {
		linger(c);
		return true;
	}
	return up || down;
}

/* ---- running ---- */

static bool step_dial(struct connection *c)
{
	(void)c; /* on_dialled() continues */
	return false;
}

static bool step_linger(struct connection *c)
{
	buf_clear(&c->client.in);
	return false;
}

/* Returns true when more bytes of the client are needed. */
static bool listens(const struct connection *c)
{
	switch (c->state) {
	case STATE_DIAL:
	case STATE_UPSTREAM:
		return false;
	case STATE_PLAIN:
	case STATE_ANSWER:
		return !http_body_done(&c->body);
	default:
		return true;
	}
}

static bool has_ended(const struct connection *c)
{
	if (c->state == STATE_DIAL)
		return false; /* its open lookup counts against a bound */
	return c->client.broken ||
	       (c->state == STATE_LINGER && c->client.ended && endpoint_flushed(&c->client));
}

/* Runs the steps of the current state. May free `c`. */
static void run_connection(struct connection *c)
{
	static bool (*const steps[])(struct connection *) = {
		[STATE_HEAD] = step_head,         [STATE_DIAL] = step_dial,
		[STATE_UPSTREAM] = step_upstream, [STATE_HELLO] = step_hello,
		[STATE_INNER] = step_inner,       [STATE_TUNNEL] = step_tunnel,
		[STATE_PLAIN] = step_plain,       [STATE_ANSWER] = step_answer,
		[STATE_LINGER] = step_linger,
	};
	_Static_assert(ARRAY_SIZE(steps) == STATES, "a step for each");

	bool was_shut = c->client.shut;

	/* Writing makes room, for which no further event may come: hence the second round. */
	do {
		while (steps[c->state](c))
			;
		c->client.reading = listens(c);
		c->server.reading = c->state != STATE_HELLO && c->state != STATE_INNER;
		endpoint_update(&c->client);
		endpoint_update(&c->server);
	} while (steps[c->state](c));
	if (c->client.shut && !was_shut && c->state == STATE_LINGER)
		set_timer(c);
	if (has_ended(c))
		connection_free(c);
}

static void on_client(struct endpoint *endpoint)
{
	run_connection(container_of(endpoint, struct connection, client));
}

static void on_server(struct endpoint *endpoint)
{
	run_connection(container_of(endpoint, struct connection, server));
}

/* ---- the object ---- */

void connection_start(struct listener *listener, int fd_own)
{
	struct connection *c = xcalloc(1, sizeof(*c));

	c->listener = listener;
	list_init(&c->node);
	list_append(&listener->connections, &c->node);
	endpoint_init(&c->client, listener->loop, on_client);
	endpoint_init(&c->server, listener->loop, on_server);
	buf_init(&c->request, BUF_UNBOUNDED);
	c->dial.loop = listener->loop;
	c->dial.fd = -1;
	c->dial.done = on_dialled;
	endpoint_open(&c->client, fd_own);
	set_state(c, STATE_HEAD);
	run_connection(c);
}

struct connection *connection_of(struct list *node)
{
	return list_entry(node, struct connection, node);
}

void connection_free(struct connection *c)
{
	struct listener *listener = c->listener;

	list_remove(&c->node);
	loop_timer_stop(&c->timer);
	dial_release(&c->dial);
	endpoint_release(&c->client);
	endpoint_release(&c->server);
	buf_release(&c->request);
	free(c);
	listener_forget(listener);
}

bool connection_answer(struct connection *c, const struct resolver_answer *answer)
{
	if (c->state != STATE_DIAL || c->dial.question == 0 || c->dial.question != answer->id)
		return false;
	dial_answer(&c->dial, answer);
	return true;
}
