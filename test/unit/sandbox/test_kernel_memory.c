/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "sandbox/process/kernel_memory.h"

enum { OBJECTS = 8 };

static int stop = -1; /* its end ends the child */

/* Forks a child that inherits what has been opened so far. */
static pid_t start(void)
{
	int pair[2];
	int ready[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		(void)close_range(
			0, 2, 0); /* other processes may not have read what the test wrote there */
		(void)close(pair[1]);
		(void)!write(ready[1], &byte, 1);
		_exit((int)read(pair[0], &byte, 1));
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	(void)close(pair[0]);
	stop = pair[1];
	return pid;
}

static void end(pid_t pid)
{
	(void)close(stop);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static uint64_t bytes_of(pid_t pid)
{
	struct kernel_memory *held = kernel_memory_new();
	uint64_t bytes = kernel_memory_bytes(held, pid);

	/* These were counted already. */
	assert_in_range(kernel_memory_bytes(held, pid), 0, bytes);
	kernel_memory_free(held);
	return bytes;
}

static uint32_t in_flight(pid_t pid)
{
	pid_t twice[] = { pid, pid };
	const struct pidlist list = { .pids = twice, .len = ARRAY_SIZE(twice) };
	struct kernel_memory_count count;

	kernel_memory_count(&list, &count);
	return count.in_flight;
}

static void fill(int fd, size_t size)
{
	char text[4096];

	memset(text, 'x', sizeof(text));
	for (size_t done = 0; done < size; done += sizeof(text))
		assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
}

static void what_waits_in_sockets_and_pipes_counts_once(void **state)
{
	pid_t pid = start();
	uint64_t before = bytes_of(pid);
	int pairs[2 * OBJECTS][2];

	(void)state;
	end(pid);
	for (size_t i = 0; i < OBJECTS; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]), 0);
		fill(pairs[i][0], 65536);
		/* A short write takes a page as well. */
		assert_int_equal(pipe2(pairs[OBJECTS + i], O_DIRECT), 0);
		assert_int_equal(write(pairs[OBJECTS + i][1], "x", 1), 1);
	}
	pid = start();
	assert_in_range(bytes_of(pid) - before, OBJECTS * (65536U + 8192U), OBJECTS * 400000U);
	end(pid);
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		(void)close(pairs[i][0]);
		(void)close(pairs[i][1]);
	}
}

static void what_an_epoll_watches_counts(void **state)
{
	int watcher = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN };
	pid_t pid = start();
	uint64_t before = bytes_of(pid);
	int pair[2];
	int copies[100];

	(void)state;
	end(pid);
	assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
	for (size_t i = 0; i < ARRAY_SIZE(copies); i++) {
		copies[i] = fcntl(pair[0], F_DUPFD_CLOEXEC, 0);
		assert_int_equal(epoll_ctl(watcher, EPOLL_CTL_ADD, copies[i], &event), 0);
	}
	pid = start();
	assert_in_range(bytes_of(pid) - before, ARRAY_SIZE(copies) * 100U,
			ARRAY_SIZE(copies) * 400U);
	end(pid);
	for (size_t i = 0; i < ARRAY_SIZE(copies); i++)
		(void)close(copies[i]);
	(void)close(pair[0]);
	(void)close(pair[1]);
	(void)close(watcher);
}

static void send_three(int channel)
{
	union {
		char bytes[CMSG_SPACE(3 * sizeof(int))];
		struct cmsghdr header;
	} control = { .bytes = { 0 } };
	const int fds[] = { 0, 1, 2 };
	struct iovec part = { .iov_base = control.bytes, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *first = CMSG_FIRSTHDR(&message);

	first->cmsg_level = SOL_SOCKET;
	first->cmsg_type = SCM_RIGHTS;
	first->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(first), fds, sizeof(fds));
	assert_int_equal(sendmsg(channel, &message, 0), 1);
}

/* A socket that two processes have open counts once. */
static void descriptors_on_their_way_count(void **state)
{
	int pair[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	send_three(pair[0]);
	send_three(pair[0]);
	pid = start();
	assert_int_equal(in_flight(pid), 6);
	(void)close(pair[0]);
	(void)close(pair[1]);
	assert_int_equal(in_flight(getpid()), 0);
	end(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_waits_in_sockets_and_pipes_counts_once),
		cmocka_unit_test(what_an_epoll_watches_counts),
		cmocka_unit_test(descriptors_on_their_way_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
