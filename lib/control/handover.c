/* SPDX-License-Identifier: MIT */
/* handover.c - descriptors travel as SCM_RIGHTS beside a byte that says nothing. */
#include "control/handover.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"

enum { FDS_SIZE = HANDOVER_FDS * sizeof(int) };

/* Room for the descriptors and for one more, so that a message with too many is noticed. */
union control {
	char bytes[CMSG_SPACE(FDS_SIZE + sizeof(int))];
	struct cmsghdr header;
};

int handover_send(int socket_fd, const int fds[HANDOVER_FDS], struct err *err)
{
	char byte = 0;
	struct iovec part = { &byte, 1 };
	union control control = { 0 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = CMSG_SPACE(FDS_SIZE) };

	control.header = (struct cmsghdr){ CMSG_LEN(FDS_SIZE), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.header), fds, FDS_SIZE);
	if (sendmsg(socket_fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
		return err_sys(err, "handing stdin and stdout over");
	return 0;
}

/* Moves the descriptors of a message to `ret_fds`. Returns how many there are. */
static size_t take_fds(struct msghdr *message, int ret_fds[HANDOVER_FDS + 1])
{
	const struct cmsghdr *part = CMSG_FIRSTHDR(message);
	size_t count;

	if (part == NULL || part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
		return 0;
	count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(ret_fds, CMSG_DATA(part), count * sizeof(int));
	return count;
}

int handover_receive(int socket_fd, int ret_fds[HANDOVER_FDS], struct err *err)
{
	char byte;
	struct iovec part = { &byte, 1 };
	union control control = { 0 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = CMSG_LEN(FDS_SIZE + sizeof(int)) };
	int fds[HANDOVER_FDS + 1];
	ssize_t n = recvmsg(socket_fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	size_t count;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return err_set(err, ERR_BUSY, "the descriptors have not come yet");
	if (n <= 0)
		return err_set(err, ERR_CANCELLED, "the front is gone");
	count = take_fds(&message, fds);
	if (count == HANDOVER_FDS && (message.msg_flags & MSG_CTRUNC) == 0) {
		memcpy(ret_fds, fds, FDS_SIZE);
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		fd_close(&fds[i]);
	return err_set(err, ERR_INVALID, "a front sends three descriptors, not %zu", count);
}

void handover_send_byte(int socket_fd, unsigned char byte)
{
	(void)send(socket_fd, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}
