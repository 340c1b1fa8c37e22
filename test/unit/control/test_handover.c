/* SPDX-License-Identifier: MIT */
/* Three descriptors go from one end of a socket to the other, or none do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "control/handover.h"

static struct {
	int front;
	int server;
} f;

static int set_up(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	f.front = ends[0];
	f.server = ends[1];
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fd_close(&f.front);
	fd_close(&f.server);
	return 0;
}

/* Sends `count` descriptors of `fds` in one message. */
static void send_some(const int *fds, size_t count)
{
	char byte = 0;
	struct iovec part = { &byte, 1 };
	union {
		char bytes[CMSG_SPACE(8 * sizeof(int))];
		struct cmsghdr header;
	} control = { 0 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (count > 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.header =
			(struct cmsghdr){ CMSG_LEN(count * sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
	}
	assert_int_equal(sendmsg(f.front, &message, 0), 1);
}

static void expect_none(enum err_code code, const char *words)
{
	int fds[HANDOVER_FDS];
	struct err err = { .msg = "" };

	assert_int_equal(handover_receive(f.server, fds, &err), -1);
	assert_int_equal(err.code, code);
	if (strstr(err.msg, words) == NULL)
		fail_msg("%s", err.msg);
}

/* The last end of a pipe tells whether a copy of the other end is open somewhere. */
static bool is_closed(int read_fd)
{
	char byte;

	assert_int_equal(fcntl(read_fd, F_SETFL, O_NONBLOCK), 0);
	return read(read_fd, &byte, 1) == 0;
}

static void test_the_descriptors_arrive_in_order_and_are_not_inherited(void **state)
{
	int pipes[HANDOVER_FDS][2];
	int sent[HANDOVER_FDS];
	int got[HANDOVER_FDS];
	struct stat one;
	struct stat two;
	struct err err;

	(void)state;
	for (int i = 0; i < HANDOVER_FDS; i++) {
		assert_int_equal(pipe2(pipes[i], O_CLOEXEC), 0);
		sent[i] = pipes[i][1];
	}
	assert_int_equal(handover_send(f.front, sent, &err), 0);
	assert_int_equal(handover_receive(f.server, got, &err), 0);
	for (int i = 0; i < HANDOVER_FDS; i++) {
		assert_int_equal(fstat(pipes[i][0], &one), 0);
		assert_int_equal(fstat(got[i], &two), 0);
		assert_true(one.st_ino == two.st_ino);
		assert_int_equal(fcntl(got[i], F_GETFD), FD_CLOEXEC);
		fd_close(&pipes[i][1]);
		assert_false(is_closed(pipes[i][0]));
		fd_close(&got[i]);
		assert_true(is_closed(pipes[i][0]));
		fd_close(&pipes[i][0]);
	}
}

static void test_before_they_come_nothing_is_waited_for(void **state)
{
	(void)state;
	expect_none(ERR_BUSY, "have not come yet");
}

static void test_a_front_that_is_gone_is_noticed(void **state)
{
	(void)state;
	fd_close(&f.front);
	expect_none(ERR_CANCELLED, "is gone");
	handover_send_byte(f.server, HANDOVER_TAKEN);
}

static void test_another_number_of_descriptors_is_refused_and_all_are_closed(void **state)
{
	static const size_t counts[] = { 0, 1, 2, 4, 8 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		int ends[2];
		int copies[8];

		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		for (size_t at = 0; at < ARRAY_SIZE(copies); at++)
			copies[at] = ends[1];
		send_some(copies, counts[i]);
		fd_close(&ends[1]);
		expect_none(ERR_INVALID, "sends three descriptors");
		assert_true(is_closed(ends[0]));
		fd_close(&ends[0]);
	}
}

static void test_sending_to_a_server_that_is_gone_fails(void **state)
{
	const int fds[HANDOVER_FDS] = { 0, 1, 2 };
	struct err err;

	(void)state;
	fd_close(&f.server);
	assert_int_equal(handover_send(f.front, fds, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_non_null(strstr(err.msg, "handing stdin and stdout over"));
}

static void test_a_byte_reaches_the_front(void **state)
{
	unsigned char byte = 0;

	(void)state;
	handover_send_byte(f.server, 3);
	assert_int_equal(read(f.front, &byte, 1), 1);
	assert_int_equal(byte, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_descriptors_arrive_in_order_and_are_not_inherited),
		TEST(test_before_they_come_nothing_is_waited_for),
		TEST(test_a_front_that_is_gone_is_noticed),
		TEST(test_another_number_of_descriptors_is_refused_and_all_are_closed),
		TEST(test_sending_to_a_server_that_is_gone_fails),
		TEST(test_a_byte_reaches_the_front),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
