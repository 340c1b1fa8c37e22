/* SPDX-License-Identifier: MIT */
/* Connections to a server: one request each, and peers that are slow, silent, many or hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "control/client.h"
#include "control/listener.h"
#include "control/sockets.h"
#include "json/make.h"
#include "patience.h"
#include "scratch.h"

enum { LONG_TEXT = 1 << 20, SHORT_MS = 50, LINE_LEN = 53 /* of a line with 40 characters */ };

static struct {
	struct scratch scratch;
	struct loop *loop;
	struct listener *listener;
	int folder;
	char *name;
	uint64_t now;
	int requests;
	int gone;
	struct peer *stream;
	char *reply; /* the text of the next reply */
	bool streams;
	bool refused;
	bool gives; /* the connection goes to `given` */
	int given;
} f;

static uint64_t fake_clock(void)
{
	return f.now;
}

static void on_request(struct peer *peer, const json_t *request, void *data)
{
	json_t *reply = json_object();

	assert_ptr_equal(data, &f);
	assert_true(json_is_object(request));
	f.requests++;
	json_put_str(reply, "text", f.reply != NULL ? f.reply : "here");
	if (f.gives)
		f.given = listener_give_away(peer, reply);
	else if (!f.streams)
		listener_answer(peer, reply);
	else if (listener_stream(peer, reply))
		f.stream = peer;
	else
		f.refused = true;
}

static void on_gone(struct peer *peer, void *data)
{
	assert_ptr_equal(data, &f);
	if (f.stream == peer)
		f.stream = NULL;
	f.gone++;
}

static const struct listener_handlers handlers = { .request = on_request, .gone = on_gone };

static int set_up(void **state)
{
	struct err err;
	size_t count;
	char **names;

	(void)state;
	memset(&f, 0, sizeof(f));
	f.now = 1000;
	scratch_init(&f.scratch);
	f.loop = loop_new(fake_clock, &err);
	f.listener = listener_new(f.loop, f.scratch.fd, &handlers, &f, &err);
	assert_non_null(f.listener);
	f.folder = sockets_open(f.scratch.fd, false, &err);
	names = sockets_list(f.folder, &count);
	assert_int_equal(count, 1);
	f.name = names[0];
	free(names);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	listener_free(f.listener);
	loop_free(f.loop);
	free(f.name);
	free(f.reply);
	fd_close(&f.folder);
	scratch_release(&f.scratch);
	return 0;
}

static void turn_until_rest(void)
{
	for (int i = 0; i < 50; i++)
		loop_turn(f.loop, 0);
}

static int connect_one(void)
{
	struct err err = { .msg = "" };
	int fd = sockets_connect(f.folder, f.name, &err);

	if (fd < 0)
		fail_msg("%s", err.msg);
	return fd;
}

static void ask(struct client *client)
{
	cleanup_json json_t *request = json_object();
	struct err err = { .msg = "" };

	json_put_str(request, "command", "look");
	if (client_open(client, f.folder, f.name, request, &err) < 0)
		fail_msg("%s", err.msg);
}

static void expect_text(struct client *client, const char *text)
{
	struct err err = { .msg = "" };
	cleanup_json json_t *line = client_read(client, clock_ms() + PATIENCE_MS, &err);

	if (line == NULL)
		fail_msg("%s", err.msg);
	assert_string_equal(json_string_value(json_object_get(line, "text")), text);
}

static void expect_error(struct client *client, enum err_code code, const char *words)
{
	struct err err = { .code = ERR_NONE };
	cleanup_json json_t *line = client_read(client, clock_ms() + PATIENCE_MS, &err);

	assert_null(line);
	assert_int_equal(err.code, code);
	if (strstr(err.msg, words) == NULL)
		fail_msg("%s", err.msg);
}

/* A connection that has sent these bytes as they are. */
static void send_raw(struct client *client, const char *text, size_t len)
{
	*client = (struct client){ .fd = connect_one() };
	buf_init(&client->in, CLIENT_LINE_MAX);
	while (len > 0) {
		ssize_t n = send(client->fd, text, len, MSG_NOSIGNAL);

		loop_turn(f.loop, 0);
		if (n < 0 && errno != EAGAIN)
			break;
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	turn_until_rest();
}

static void test_a_request_is_answered_and_the_connection_ends(void **state)
{
	cleanup_client struct client client;

	(void)state;
	ask(&client);
	turn_until_rest();
	assert_int_equal(client.pid, getpid());
	expect_text(&client, "here");
	expect_error(&client, ERR_CANCELLED, "has ended");
	assert_int_equal(f.requests, 1);
	assert_int_equal(listener_peers(f.listener), 0);
	assert_int_equal(f.gone, 0);
}

static void test_a_request_may_come_in_pieces(void **state)
{
	static const char text[] = "{\"ptycell\": 1, \"command\": \"look\"}\n";
	cleanup_client struct client client = { .fd = connect_one() };

	(void)state;
	buf_init(&client.in, CLIENT_LINE_MAX);
	for (size_t i = 0; i < strlen(text); i++) {
		assert_int_equal(f.requests, 0);
		assert_int_equal(send(client.fd, text + i, 1, MSG_NOSIGNAL), 1);
		turn_until_rest();
	}
	expect_text(&client, "here");
}

static void test_what_is_no_request_is_refused(void **state)
{
	static const struct {
		const char *text;
		enum err_code code;
		const char *words;
	} rows[] = {
		{ "{\"ptycell\": 1,\n", ERR_INVALID, "" },
		{ "\n", ERR_INVALID, "" },
		{ "[]\n", ERR_UNSUPPORTED, "version 1 only" },
		{ "{\"command\": \"ps\"}\n", ERR_UNSUPPORTED, "version 1 only" },
		{ "{\"ptycell\": 2, \"command\": \"ps\"}\n", ERR_UNSUPPORTED, "version 1 only" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_client struct client client;

		send_raw(&client, rows[i].text, strlen(rows[i].text));
		expect_error(&client, rows[i].code, rows[i].words);
	}
	assert_int_equal(f.requests, 0);
	assert_int_equal(listener_peers(f.listener), 0);
}

static void test_a_request_has_a_greatest_length(void **state)
{
	cleanup_free char *text = xcalloc(1, LISTENER_REQUEST_MAX + 2);
	static const char begin[] = "{\"ptycell\": 1, \"command\": \"look\"}";
	cleanup_client struct client longest;
	cleanup_client struct client longer;

	(void)state;
	memset(text, ' ', LISTENER_REQUEST_MAX + 1);
	memcpy(text, begin, strlen(begin));
	text[LISTENER_REQUEST_MAX - 1] = '\n';
	send_raw(&longest, text, LISTENER_REQUEST_MAX);
	expect_text(&longest, "here");
	text[LISTENER_REQUEST_MAX - 1] = ' ';
	text[LISTENER_REQUEST_MAX] = '\n';
	send_raw(&longer, text, LISTENER_REQUEST_MAX + 1);
	expect_error(&longer, ERR_LIMIT, "at most 65536 bytes");
	assert_int_equal(f.requests, 1);
}

static void test_a_peer_that_asks_nothing_is_dropped_in_time(void **state)
{
	cleanup_fd int fd = connect_one();

	(void)state;
	assert_true(fd >= 0);
	turn_until_rest();
	assert_int_equal(listener_peers(f.listener), 1);
	f.now += LISTENER_REQUEST_MS - 1;
	turn_until_rest();
	assert_int_equal(listener_peers(f.listener), 1);
	f.now += 1;
	turn_until_rest();
	assert_int_equal(listener_peers(f.listener), 0);
}

static void test_a_peer_that_leaves_is_forgotten(void **state)
{
	int fd = connect_one();

	(void)state;
	turn_until_rest();
	assert_int_equal(listener_peers(f.listener), 1);
	fd_close(&fd);
	turn_until_rest();
	assert_int_equal(listener_peers(f.listener), 0);
}

static void test_further_connections_wait_until_one_has_ended(void **state)
{
	int idle[LISTENER_PEERS_MAX];
	cleanup_client struct client client;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(idle); i++) {
		idle[i] = connect_one();
		turn_until_rest();
	}
	ask(&client);
	turn_until_rest();
	assert_int_equal(listener_peers(f.listener), LISTENER_PEERS_MAX);
	assert_int_equal(f.requests, 0);
	fd_close(&idle[0]);
	turn_until_rest();
	expect_text(&client, "here");
	for (size_t i = 1; i < ARRAY_SIZE(idle); i++)
		fd_close(&idle[i]);
	turn_until_rest();
	assert_int_equal(listener_peers(f.listener), 0);
}

static void fill_reply(void)
{
	f.reply = xcalloc(1, LONG_TEXT + 1);
	memset(f.reply, 'x', LONG_TEXT);
}

static void test_a_connection_can_be_given_away(void **state)
{
	cleanup_client struct client client;
	char byte = '?';

	(void)state;
	f.gives = true;
	ask(&client);
	turn_until_rest();
	expect_text(&client, "here");
	assert_true(f.given >= 0);
	assert_int_equal(listener_peers(f.listener), 0);
	assert_int_equal(send(client.fd, "x", 1, MSG_NOSIGNAL), 1);
	turn_until_rest();
	assert_int_equal(read(f.given, &byte, 1), 1);
	assert_int_equal(byte, 'x');
	fd_close(&f.given);
	assert_int_equal(f.gone, 0);
}

static void test_a_connection_whose_peer_does_not_read_is_not_given(void **state)
{
	cleanup_client struct client client;

	(void)state;
	f.gives = true;
	fill_reply();
	ask(&client);
	turn_until_rest();
	assert_int_equal(f.given, -1);
	assert_int_equal(listener_peers(f.listener), 0);
}

static void test_a_connection_whose_peer_is_gone_is_not_given(void **state)
{
	static const char request[] = "{\"ptycell\": 1, \"command\": \"look\"}\n";
	int fd = connect_one();

	(void)state;
	f.gives = true;
	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	fd_close(&fd);
	turn_until_rest();
	assert_int_equal(f.requests, 1);
	assert_int_equal(f.given, -1);
	assert_int_equal(listener_peers(f.listener), 0);
}

static void test_a_long_reply_goes_to_a_slow_reader(void **state)
{
	cleanup_client struct client client;
	cleanup_json json_t *line = NULL;
	struct err err;

	(void)state;
	fill_reply();
	ask(&client);
	turn_until_rest();
	assert_int_equal(listener_peers(f.listener), 1);
	patience_do_until(loop_turn(f.loop, 0),
			  (line = client_read(&client, clock_ms() + 1, &err)) != NULL ||
				  err.code != ERR_TIMEOUT);
	assert_int_equal(json_string_length(json_object_get(line, "text")), LONG_TEXT);
	turn_until_rest();
	assert_int_equal(listener_peers(f.listener), 0);
}

static void test_a_reader_that_stops_is_dropped_in_time(void **state)
{
	cleanup_client struct client client;

	(void)state;
	fill_reply();
	ask(&client);
	turn_until_rest();
	f.now += LISTENER_REPLY_MS - 1;
	turn_until_rest();
	assert_int_equal(listener_peers(f.listener), 1);
	f.now += 1;
	turn_until_rest();
	assert_int_equal(listener_peers(f.listener), 0);
}

static void test_what_a_peer_writes_behind_its_request_is_not_read(void **state)
{
	cleanup_client struct client client;
	char more[1000];

	(void)state;
	f.streams = true;
	ask(&client);
	turn_until_rest();
	memset(more, '\n', sizeof(more));
	while (send(client.fd, more, sizeof(more), MSG_NOSIGNAL) > 0)
		turn_until_rest();
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(f.requests, 1);
	assert_int_equal(listener_peers(f.listener), 1);
}

static bool send_text(const char *text)
{
	cleanup_json json_t *line = json_object();

	json_put_str(line, "text", text);
	return listener_send(f.stream, line);
}

static void test_a_stream_gets_lines_until_it_is_ended(void **state)
{
	cleanup_client struct client client;

	(void)state;
	f.streams = true;
	ask(&client);
	turn_until_rest();
	expect_text(&client, "here");
	assert_true(send_text("more"));
	expect_text(&client, "more");
	listener_end(f.stream);
	turn_until_rest();
	expect_error(&client, ERR_CANCELLED, "has ended");
	assert_int_equal(listener_peers(f.listener), 0);
	assert_int_equal(f.gone, 0);
}

static void test_a_stream_whose_peer_leaves_is_reported(void **state)
{
	struct client client;

	(void)state;
	f.streams = true;
	ask(&client);
	turn_until_rest();
	assert_non_null(f.stream);
	client_close(&client);
	turn_until_rest();
	assert_int_equal(f.gone, 1);
	assert_null(f.stream);
	assert_int_equal(listener_peers(f.listener), 0);
}

static void test_lines_that_a_stream_does_not_read_are_dropped(void **state)
{
	cleanup_client struct client client;
	size_t sent = 0;

	(void)state;
	f.streams = true;
	ask(&client);
	turn_until_rest();
	while (send_text("0123456789012345678901234567890123456789"))
		sent++;
	assert_true(sent * LINE_LEN > LISTENER_PENDING_MAX);
	assert_true(sent * LINE_LEN < 16 * (size_t)LISTENER_PENDING_MAX);
	expect_text(&client, "here");
	for (size_t i = 0; i < sent; i++) {
		turn_until_rest();
		expect_text(&client, "0123456789012345678901234567890123456789");
	}
	assert_true(send_text("again"));
	listener_end(f.stream);
	turn_until_rest();
	expect_text(&client, "again");
	expect_error(&client, ERR_CANCELLED, "has ended");
	assert_int_equal(f.gone, 0);
}

static void test_streams_leave_connections_for_other_commands(void **state)
{
	struct client clients[LISTENER_STREAMS_MAX];
	cleanup_client struct client last;

	(void)state;
	f.streams = true;
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
		ask(&clients[i]);
		turn_until_rest();
	}
	assert_false(f.refused);
	ask(&last);
	turn_until_rest();
	assert_true(f.refused);
	expect_error(&last, ERR_LIMIT, "8 commands watch this server already");
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		client_close(&clients[i]);
}

static void test_the_end_removes_the_socket_and_ends_connections(void **state)
{
	cleanup_client struct client client;
	struct err err;

	(void)state;
	f.streams = true;
	ask(&client);
	turn_until_rest();
	listener_free(f.listener);
	f.listener = NULL;
	assert_false(scratch_exists(f.scratch.fd, SOCKETS_FOLDER));
	assert_int_equal(f.gone, 0);
	expect_text(&client, "here");
	expect_error(&client, ERR_CANCELLED, "has ended");
	assert_int_equal(sockets_connect(f.folder, f.name, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void test_a_server_that_is_stopped_costs_a_command_its_deadline(void **state)
{
	cleanup_client struct client client;
	struct err err;

	(void)state;
	ask(&client);
	assert_null(client_read(&client, clock_ms() + SHORT_MS, &err));
	assert_int_equal(err.code, ERR_TIMEOUT);
	assert_null(client_read(&client, 0, &err));
	assert_int_equal(err.code, ERR_TIMEOUT);
}

static void test_a_home_without_room_for_a_socket_is_reported(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(fchmod(f.folder, 0750), 0);
	assert_null(listener_new(f.loop, f.scratch.fd, &handlers, &f, &err));
	assert_int_equal(err.code, ERR_DENIED);
	assert_int_equal(fchmod(f.folder, 0700), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_request_is_answered_and_the_connection_ends),
		TEST(test_a_request_may_come_in_pieces),
		TEST(test_what_is_no_request_is_refused),
		TEST(test_a_request_has_a_greatest_length),
		TEST(test_a_peer_that_asks_nothing_is_dropped_in_time),
		TEST(test_a_peer_that_leaves_is_forgotten),
		TEST(test_further_connections_wait_until_one_has_ended),
		TEST(test_a_long_reply_goes_to_a_slow_reader),
		TEST(test_a_connection_can_be_given_away),
		TEST(test_a_connection_whose_peer_does_not_read_is_not_given),
		TEST(test_a_connection_whose_peer_is_gone_is_not_given),
		TEST(test_a_reader_that_stops_is_dropped_in_time),
		TEST(test_what_a_peer_writes_behind_its_request_is_not_read),
		TEST(test_a_stream_gets_lines_until_it_is_ended),
		TEST(test_a_stream_whose_peer_leaves_is_reported),
		TEST(test_lines_that_a_stream_does_not_read_are_dropped),
		TEST(test_streams_leave_connections_for_other_commands),
		TEST(test_the_end_removes_the_socket_and_ends_connections),
		TEST(test_a_server_that_is_stopped_costs_a_command_its_deadline),
		TEST(test_a_home_without_room_for_a_socket_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
