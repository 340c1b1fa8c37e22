/* SPDX-License-Identifier: MIT */
/*
 * A packet as launcher, init, supervisor and server read it from each other. The first byte says
 * how many descriptors come with the rest.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FDS_SENT_MAX = 64 };

static void send_raw(int channel, const uint8_t *data, size_t size, size_t fd_count)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * FDS_SENT_MAX)];
		struct cmsghdr header;
	} control = { 0 };
	struct iovec part = { (void *)(uintptr_t)data, size };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
	int fds[FDS_SENT_MAX];

	for (size_t i = 0; i < fd_count; i++)
		fds[i] = channel;
	if (fd_count > 0) {
		packet.msg_control = control.bytes;
		packet.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
		control.header = (struct cmsghdr){ CMSG_LEN(sizeof(int) * fd_count), SOL_SOCKET,
						   SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), fds, sizeof(int) * fd_count);
	}
	if (sendmsg(channel, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		abort();
}

/* Does with an accepted message what each reader does. */
static void use(const struct wire_message *message)
{
	struct sandbox_report report;
	struct err err = { 0 };

	if (message->type < WIRE_SANDBOX || message->type >= WIRE_TYPES ||
	    message->len > WIRE_PAYLOAD_MAX || message->fd_count > WIRE_FDS_MAX)
		abort();
	if (message->type == WIRE_SANDBOX && message->fd_count < WIRE_SANDBOX_FDS_MIN)
		abort();
	if (message->type == WIRE_FAILED) {
		wire_get_err(message, &err);
		if (err.code == ERR_NONE || strnlen(err.msg, sizeof(err.msg)) == sizeof(err.msg))
			abort();
	}
	if (message->type == WIRE_REPORT && wire_get_report(message, &report, &err) == 0 &&
	    (report.tier < 0 || report.tier >= POLICY_TIERS ||
	     strnlen(report.reason[0], REPORT_REASON_MAX) == REPORT_REASON_MAX))
		abort();
}

static int lowest_free(void)
{
	int fd = dup(STDIN_FILENO);
	int number = fd;

	fd_close(&fd);
	return number;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int free_before = lowest_free();
	struct wire_message message;
	struct err err;
	int pair[2];
	int got;

	if (size < 2 || wire_pair(pair, &err) < 0)
		return 0;
	send_raw(pair[0], data + 1, size - 1, data[0] % FDS_SENT_MAX);
	got = wire_receive(pair[1], &message, &err);
	if (got == 1) {
		use(&message);
		wire_message_release(&message);
	} else if (got == 0 || err.code != ERR_INVALID) {
		abort();
	}
	fd_close(&pair[0]);
	fd_close(&pair[1]);
	if (lowest_free() != free_before)
		abort();
	return 0;
}
