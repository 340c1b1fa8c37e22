/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "sandbox/wire/wire.h"

static int pair[2];

static int set_up(void **state)
{
	struct err err;

	(void)state;
	return wire_pair(pair, &err);
}

static int tear_down(void **state)
{
	(void)state;
	fd_close(&pair[0]);
	fd_close(&pair[1]);
	return 0;
}

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		n++;
	(void)closedir(dir);
	return n;
}

static void a_message_arrives_with_its_descriptors(void **state)
{
	struct wire_message message;
	struct err err;
	int before = count_descriptors();

	(void)state;
	assert_int_equal(wire_send(pair[0], WIRE_START, &(int32_t){ 1 }, (int[]){ 0, 2 }, 2, &err),
			 0);
	assert_int_equal(wire_receive(pair[1], &message, &err), 1);
	assert_int_equal(message.type, WIRE_START);
	assert_int_equal(message.fd_count, 2);
	assert_int_equal(fcntl(message.fds[0], F_GETFD), FD_CLOEXEC);
	assert_int_equal(count_descriptors(), before + 2);
	wire_message_release(&message);
	assert_int_equal(count_descriptors(), before);
}

static void the_last_word_of_who_did_not_read_arrives(void **state)
{
	struct wire_message message;
	int32_t number = 5;
	struct err err;

	(void)state;
	wire_notify(pair[0], WIRE_SIGNAL, &number);
	wire_notify(pair[1], WIRE_EXITED, &number);
	fd_close(&pair[1]);
	assert_int_equal(wire_receive(pair[0], &message, &err), 1);
	assert_int_equal(message.type, WIRE_EXITED);
	assert_int_equal(wire_receive(pair[0], &message, &err), 0);
}

static void a_number_arrives(void **state)
{
	cleanup_wire struct wire_message message = { 0 };
	int32_t number = -77;
	struct err err;

	(void)state;
	wire_notify(pair[0], WIRE_EXITED, &number);
	assert_int_equal(wire_receive(pair[1], &message, &err), 1);
	assert_int_equal(wire_get_number(&message), -77);
}

static void an_error_arrives_fit_to_print(void **state)
{
	cleanup_wire struct wire_message message = { 0 };
	struct err sent;
	struct err err;

	(void)state;
	memset(&sent, 'x', sizeof(sent)); /* an unknown code, and a text without an end */
	wire_notify(pair[0], WIRE_FAILED, &sent);
	assert_int_equal(wire_receive(pair[1], &message, &err), 1);
	wire_get_err(&message, &err);
	assert_int_equal(err.code, ERR_INTERNAL);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
}

static void nothing_to_read_is_busy_and_the_end_is_zero(void **state)
{
	cleanup_wire struct wire_message message = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(wire_receive(pair[1], &message, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	fd_close(&pair[0]);
	assert_int_equal(wire_receive(pair[1], &message, &err), 0);
}

static void a_side_that_does_not_read_never_blocks_the_other(void **state)
{
	struct err err = { 0 };
	int sent = 0;

	(void)state;
	while (wire_send(pair[0], WIRE_GONE, NULL, NULL, 0, &err) == 0)
		sent++;
	assert_int_equal(err.code, ERR_BUSY);
	assert_true(sent > 100);
}

static void writing_to_a_closed_channel_is_an_error_and_no_signal(void **state)
{
	struct err err;

	(void)state;
	fd_close(&pair[1]);
	assert_int_equal(wire_send(pair[0], WIRE_GONE, NULL, NULL, 0, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
}

/* Sends raw bytes with `fd_count` copies of descriptor 0; they must be refused without a leak. */
static void refuse(const void *bytes, size_t len, size_t fd_count)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * 64)];
		struct cmsghdr header;
	} control = { 0 };
	struct iovec part = { (void *)(uintptr_t)bytes, len };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
	cleanup_wire struct wire_message message = { 0 };
	int before = count_descriptors();
	struct err err;

	if (fd_count > 0) {
		packet.msg_control = control.bytes;
		packet.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
		control.header = (struct cmsghdr){ CMSG_LEN(sizeof(int) * fd_count), SOL_SOCKET,
						   SCM_RIGHTS };
	}
	assert_int_equal(sendmsg(pair[0], &packet, 0), (ssize_t)len);
	assert_int_equal(wire_receive(pair[1], &message, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_int_equal(count_descriptors(), before);
}

/* Returns the bytes of a valid message. */
static size_t capture(enum wire_type type, const void *payload, unsigned char *ret, size_t size)
{
	struct err err;
	ssize_t n;

	assert_int_equal(wire_send(pair[0], type, payload, NULL, 0, &err), 0);
	n = recv(pair[1], ret, size, 0);
	assert_true(n > 0);
	return (size_t)n;
}

static void malformed_messages_are_refused_without_a_leak(void **state)
{
	unsigned char bytes[1024] = { 0 };
	int32_t number = 5;
	size_t len = capture(WIRE_SIGNAL, &number, bytes, sizeof(bytes));

	(void)state;
	for (size_t cut = 1; cut < len; cut++)
		refuse(bytes, cut, 0);
	refuse(bytes, len + 1, 0);
	refuse(bytes, sizeof(bytes), 0);
	refuse(bytes, len, 1);
	for (size_t bit = 0; bit < (len - sizeof(number)) * 8; bit++) {
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		/* Some other types have the same shape. */
		if (bit / 8 != sizeof(uint32_t))
			refuse(bytes, len, 0);
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
}

static void too_many_descriptors_are_refused_without_a_leak(void **state)
{
	unsigned char bytes[64];
	size_t len = capture(WIRE_GONE, NULL, bytes, sizeof(bytes));

	(void)state;
	bytes[6] = WIRE_STARTED; /* the type that may carry most */
	refuse(bytes, len, 0);
	refuse(bytes, len, WIRE_FDS_MAX + 1);
	refuse(bytes, len, 64);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_message_arrives_with_its_descriptors),
		TEST(the_last_word_of_who_did_not_read_arrives),
		TEST(a_number_arrives),
		TEST(an_error_arrives_fit_to_print),
		TEST(nothing_to_read_is_busy_and_the_end_is_zero),
		TEST(a_side_that_does_not_read_never_blocks_the_other),
		TEST(writing_to_a_closed_channel_is_an_error_and_no_signal),
		TEST(malformed_messages_are_refused_without_a_leak),
		TEST(too_many_descriptors_are_refused_without_a_leak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
