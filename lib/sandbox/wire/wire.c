/* SPDX-License-Identifier: MIT */
/*
 * wire.c - sends and receives the messages of all channels, by a table of their shapes.
 *
 * The table holds each type's payload size and number of descriptors; a message that differs is
 * malformed. Every header carries the version of the programs (parts/parts.h), so that a launcher
 * of another build is noticed at its first message. When a peer exits with unread messages, Linux
 * reports ECONNRESET once before the rest of its own messages.
 */
#include "sandbox/wire/wire.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "parts/parts.h"
#include "sandbox/namespaces/namespaces.h"
#include "sandbox/namespaces/zygote_namespaces.h"
#include "sandbox/process/ttywait.h"
#include "sandbox/process/usage.h"

struct wire_header {
	uint32_t parts; /* parts_number() of the sender */
	uint32_t type;
	uint32_t len; /* of the payload */
};

struct wire_shape {
	size_t len;
	size_t min_fds;
	size_t max_fds;
};

static const struct wire_shape shapes[] = {
	[WIRE_SANDBOX] = { 0, WIRE_SANDBOX_FDS_MIN, WIRE_SANDBOX_FDS_MAX },
	[WIRE_OPENED] = { 0, 1, 1 },
	[WIRE_LISTENER] = { 0, 1, 1 },
	[WIRE_ZYGOTE_NAMESPACES] = { 0, ZYGOTE_NAMESPACES_NAMESPACES,
				     ZYGOTE_NAMESPACES_NAMESPACES },
	[WIRE_START] = { sizeof(int32_t), 2, 3 },
	[WIRE_FORK] = { sizeof(int32_t), WIRE_FORK_FDS, WIRE_FORK_FDS },
	[WIRE_FAILED] = { sizeof(struct err), 0, 0 },
	[WIRE_STARTED] = { sizeof(int32_t), 1, 1 + PLAN_DESCRIPTORS_MAX },
	[WIRE_EXITED] = { sizeof(int32_t), 0, 0 },
	[WIRE_GONE] = { 0, 0, 0 },
	[WIRE_SIGNAL] = { sizeof(int32_t), 0, 0 },
	[WIRE_SIGNAL_ONE] = { sizeof(int32_t), 0, 0 },
	[WIRE_KILL] = { 0, 0, 0 },
	[WIRE_COUNT] = { 0, 0, 0 },
	[WIRE_COUNTED] = { sizeof(int32_t), 0, 0 },
	[WIRE_INPUT] = { 0, 0, 0 },
	[WIRE_INPUT_STATE] = { sizeof(struct ttywait_result), 0, 0 },
	[WIRE_PROBE] = { 0, 1, 1 },
	[WIRE_REPORT] = { sizeof(struct sandbox_report), 0, 0 },
	[WIRE_MEASURE] = { sizeof(int32_t), 0, 0 },
	[WIRE_MEASURED] = { sizeof(struct usage), 0, 0 },
	[WIRE_KILL_VICTIMS] = { sizeof(struct usage_kill_request), 0, 0 },
	[WIRE_VICTIMS_KILLED] = { sizeof(struct usage_killed), 0, 0 },
	[WIRE_FILE_MAX] = { sizeof(uint64_t), 0, 0 },
	[WIRE_SEAL] = { sizeof(int32_t), 0, 0 },
	[WIRE_SEALED] = { 0, 0, 0 },
	[WIRE_SCRATCH] = { 0, 0, 0 },
	[WIRE_SCRATCH_OPENED] = { 0, 0, WIRE_SCRATCH_FDS },
};
_Static_assert(ARRAY_SIZE(shapes) == WIRE_TYPES, "every type has a shape");
_Static_assert(sizeof(struct err) <= WIRE_PAYLOAD_MAX, "an error fits");
_Static_assert(WIRE_FORK_FDS == WIRE_FORK_NAMESPACES + NAMESPACES_ALL, "all namespaces fit");
_Static_assert(sizeof(struct sandbox_report) <= WIRE_PAYLOAD_MAX, "a report fits");

void wire_message_release(struct wire_message *message)
{
	for (size_t i = 0; i < message->fd_count; i++)
		fd_close(&message->fds[i]);
	message->fd_count = 0;
}

int wire_pair(int ret_pair[2], struct err *err)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_pair) < 0)
		return err_sys(err, "creating a channel");
	return 0;
}

union wire_control {
	char bytes[CMSG_SPACE(sizeof(int) * WIRE_FDS_MAX)];
	struct cmsghdr header;
};

int wire_send(int channel, enum wire_type type, const void *payload, const int *fds,
	      size_t fd_count, struct err *err)
{
	struct wire_header header = { parts_number(), type, (uint32_t)shapes[type].len };
	struct iovec parts[] = { { &header, sizeof(header) },
				 { (void *)(uintptr_t)payload, shapes[type].len } };
	union wire_control control = { 0 };
	struct msghdr packet = { .msg_iov = parts, .msg_iovlen = ARRAY_SIZE(parts) };

	assert(fd_count >= shapes[type].min_fds && fd_count <= shapes[type].max_fds);
	if (fd_count > 0) {
		packet.msg_control = control.bytes;
		packet.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
		control.header = (struct cmsghdr){ CMSG_LEN(sizeof(int) * fd_count), SOL_SOCKET,
						   SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), fds, sizeof(int) * fd_count);
	}
	if (sendmsg(channel, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return 0;
	if (errno == ETOOMANYREFS) /* the processes of a user may have RLIMIT_NOFILE descriptors in
				      flight together */
		return err_set(err, ERR_BUSY,
			       "too many descriptors of this user are on their way between "
			       "processes (ulimit -n)");
	if (errno == EAGAIN || errno == ENOBUFS)
		return err_set(err, ERR_BUSY, "the other side of a channel does not read");
	return err_sys(err, "writing to a channel");
}

void wire_notify(int channel, enum wire_type type, const void *payload)
{
	struct err err;

	if (wire_send(channel, type, payload, NULL, 0, &err) < 0)
		return;
}

static void take_fds(struct wire_message *message, struct msghdr *packet)
{
	struct cmsghdr *part;

	message->fd_count = 0;
	for (part = CMSG_FIRSTHDR(packet); part != NULL; part = CMSG_NXTHDR(packet, part)) {
		size_t n = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		assert(message->fd_count + n <=
		       WIRE_FDS_MAX); /* the control buffer holds no more */
		memcpy(message->fds + message->fd_count, CMSG_DATA(part), n * sizeof(int));
		message->fd_count += n;
	}
}

static bool is_legal(const struct wire_message *message, const struct wire_header *header,
		     size_t payload_len)
{
	const struct wire_shape *shape;

	if (header->parts != parts_number() || header->type < WIRE_SANDBOX ||
	    header->type >= WIRE_TYPES)
		return false;
	shape = &shapes[header->type];
	return header->len == shape->len && payload_len == shape->len &&
	       message->fd_count >= shape->min_fds && message->fd_count <= shape->max_fds;
}

int wire_receive(int channel, struct wire_message *ret_message, struct err *err)
{
	struct wire_header header = { 0 };
	union wire_control control;
	struct iovec parts[] = { { &header, sizeof(header) },
				 { ret_message->payload, sizeof(ret_message->payload) } };
	struct msghdr packet = { .msg_iov = parts,
				 .msg_iovlen = ARRAY_SIZE(parts),
				 .msg_control = control.bytes,
				 /* the padded size would have room for one more */
				 .msg_controllen = CMSG_LEN(sizeof(int) * WIRE_FDS_MAX) };
	ssize_t n = recvmsg(channel, &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	/*
	 * ECONNRESET comes once, when the peer left a message unread, before the peer's last
	 * messages.
	 */
	if (n < 0 && errno == ECONNRESET)
		n = recvmsg(channel, &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	ret_message->fd_count = 0;
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return 0;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return err_set(err, ERR_BUSY, "a channel with nothing to read");
	if (n < 0)
		return err_sys(err, "reading a channel");
	take_fds(ret_message, &packet);
	if ((packet.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) != 0 || (size_t)n < sizeof(header) ||
	    !is_legal(ret_message, &header, (size_t)n - sizeof(header))) {
		wire_message_release(ret_message);
		return err_set(err, ERR_INVALID, "a malformed message on a channel");
	}
	ret_message->type = (enum wire_type)header.type;
	ret_message->len = header.len;
	return 1;
}

void wire_get_err(const struct wire_message *message, struct err *ret_err)
{
	struct err err;

	memcpy(&err, message->payload, sizeof(err));
	if ((unsigned int)err.code > ERR_INTERNAL || err.code == ERR_NONE)
		err.code = ERR_INTERNAL;
	err.msg[sizeof(err.msg) - 1] = '\0';
	*ret_err = err;
}

int wire_get_report(const struct wire_message *message, struct sandbox_report *ret_report,
		    struct err *err)
{
	struct sandbox_report report;

	memcpy(&report, message->payload, sizeof(report));
	if (report_check(&report, err) < 0)
		return -1;
	*ret_report = report;
	return 0;
}

int32_t wire_get_number(const struct wire_message *message)
{
	int32_t number;

	memcpy(&number, message->payload, sizeof(number));
	return number;
}
