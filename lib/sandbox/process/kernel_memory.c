/* SPDX-License-Identifier: MIT */
#include "sandbox/process/kernel_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/util.h"
#include "sandbox/process/proctree.h"

enum {
	SOCKETS_MAX = 4096,                         /* whose flight is looked at: 20 ms */
	PLACES = 2 * KERNEL_MEMORY_DESCRIPTORS_MAX, /* a power of two */
	OBJECT_BYTES = 1024,                        /* of a socket or pipe that is empty */
	WATCH_BYTES = 192,                          /* of one descriptor in one epoll */
	WATCHES_TEXT_MAX = 32 << 20,                /* of fdinfo: 200 ms */
	FDINFO_BYTES = 4096,
};

/* The numbers of sockets and pipes, in open addressing; 0 is free. */
struct kernel_memory {
	ino_t seen[PLACES];
	uint32_t looked_at;
	size_t text_left;
	uint64_t epolls; /* read, and their lines */
	uint64_t lines;
};

static int open_info(pid_t pid, const char *name)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.16s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* ---- on their way ---- */

struct flight {
	struct kernel_memory_count count;
	uint32_t sockets;
	ino_t seen[SOCKETS_MAX]; /* that somebody's descriptors wait in */
	size_t seen_len;
};

static bool was_seen(struct flight *flight, ino_t number)
{
	for (size_t i = 0; i < flight->seen_len; i++)
		if (flight->seen[i] == number)
			return true;
	flight->seen[flight->seen_len++] = number;
	return false;
}

static uint32_t waiting_in(pid_t pid, const char *name)
{
	static const char key[] = "scm_fds:";
	cleanup_fd int fd = open_info(pid, name);
	char text[FDINFO_BYTES];
	ssize_t len = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	const char *at;

	if (len <= 0)
		return 0;
	text[len] = '\0';
	at = strstr(text, key);
	return at != NULL ? (uint32_t)strtoul(at + strlen(key), NULL, 10) : 0;
}

static void count_one(void *data, pid_t pid, int dir_fd, const char *name)
{
	struct flight *flight = data;
	struct stat st;
	uint32_t waiting;

	flight->count.descriptors++;
	if (flight->count.descriptors > KERNEL_MEMORY_DESCRIPTORS_MAX ||
	    flight->sockets == SOCKETS_MAX || fstatat(dir_fd, name, &st, 0) < 0 ||
	    !S_ISSOCK(st.st_mode))
		return;
	flight->sockets++;
	waiting = waiting_in(pid, name);
	if (waiting > 0 && !was_seen(flight, st.st_ino))
		flight->count.in_flight += waiting;
}

void kernel_memory_count(const struct pidlist *list, struct kernel_memory_count *ret_count)
{
	struct flight *flight = calloc(1, sizeof(*flight));

	*ret_count = (struct kernel_memory_count){ 0 };
	if (flight == NULL)
		return;
	for (size_t i = 0; i < list->len; i++)
		proctree_each_descriptor(list->pids[i], count_one, flight);
	*ret_count = flight->count;
	free(flight);
}

/* ---- behind descriptors ---- */

struct kernel_memory *kernel_memory_new(void)
{
	struct kernel_memory *held = calloc(1, sizeof(*held));

	if (held != NULL)
		held->text_left = WATCHES_TEXT_MAX;
	return held;
}

void kernel_memory_free(struct kernel_memory *held)
{
	free(held);
}

/* There is always a free place: no more are looked at than half of them. */
static bool is_new(struct kernel_memory *held, ino_t number)
{
	size_t at = (size_t)(number * 0x9e3779b97f4a7c15U) & (PLACES - 1);

	while (held->seen[at] != 0 && held->seen[at] != number)
		at = (at + 1) & (PLACES - 1);
	if (held->seen[at] == number)
		return false;
	held->seen[at] = number;
	return true;
}

static uint64_t socket_bytes(int fd)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len) < 0)
		return 0;
	/* Of TCP both say what is to be sent. */
	return (uint64_t)info[SK_MEMINFO_RMEM_ALLOC] + info[SK_MEMINFO_BACKLOG] +
	       (info[SK_MEMINFO_WMEM_ALLOC] > info[SK_MEMINFO_WMEM_QUEUED]
			? info[SK_MEMINFO_WMEM_ALLOC]
			: info[SK_MEMINFO_WMEM_QUEUED]);
}

/* A page a write, however short: what is in it says little. */
static uint64_t pipe_bytes(int fd)
{
	int waiting = 0;
	int size = fcntl(fd, F_GETPIPE_SZ);

	return ioctl(fd, FIONREAD, &waiting) == 0 && waiting > 0 && size > 0 ? (uint64_t)size : 0;
}

static uint64_t object_bytes(pid_t pid, const char *name, bool is_socket)
{
	pid_t number = proctree_number(pid);
	cleanup_fd int process = number > 0 ? (int)syscall(SYS_pidfd_open, number, 0) : -1;
	cleanup_fd int copy = -1;

	if (process >= 0)
		copy = (int)syscall(SYS_pidfd_getfd, process, (int)strtol(name, NULL, 10), 0);
	if (copy < 0)
		return OBJECT_BYTES;
	return OBJECT_BYTES + (is_socket ? socket_bytes(copy) : pipe_bytes(copy));
}

/* A line each in fdinfo. Those that there is no time to read are like those that were. */
static uint64_t watches_bytes(struct kernel_memory *held, pid_t pid, const char *name)
{
	cleanup_fd int fd = held->text_left > 0 ? open_info(pid, name) : -1;
	char text[FDINFO_BYTES];
	uint64_t lines = 0;
	ssize_t len;

	while (fd >= 0 && held->text_left > 0 && (len = read(fd, text, sizeof(text))) > 0) {
		held->text_left -= size_min(held->text_left, (size_t)len);
		for (ssize_t i = 0; i < len; i++)
			lines += text[i] == '\n';
	}
	if (fd < 0)
		return held->epolls > 0 ? held->lines / held->epolls * WATCH_BYTES : 0;
	held->epolls++;
	held->lines += lines;
	return lines * WATCH_BYTES;
}

struct process {
	struct kernel_memory *held;
	uint64_t bytes;
};

static void add_one(void *data, pid_t pid, int dir_fd, const char *name)
{
	static const char epoll[] = "anon_inode:[eventpoll]";
	struct process *process = data;
	char target[sizeof(epoll)];
	struct stat st;

	if (process->held->looked_at == KERNEL_MEMORY_DESCRIPTORS_MAX ||
	    fstatat(dir_fd, name, &st, 0) < 0)
		return;
	process->held->looked_at++;
	if (S_ISSOCK(st.st_mode) || S_ISFIFO(st.st_mode)) {
		if (is_new(process->held, st.st_ino))
			process->bytes += object_bytes(pid, name, S_ISSOCK(st.st_mode));
	} else if (readlinkat(dir_fd, name, target, sizeof(target)) == (ssize_t)strlen(epoll) &&
		   memcmp(target, epoll, strlen(epoll)) == 0) {
		process->bytes += watches_bytes(process->held, pid, name);
	}
}

uint64_t kernel_memory_bytes(struct kernel_memory *held, pid_t pid)
{
	struct process process = { .held = held };

	proctree_each_descriptor(pid, add_one, &process);
	return process.bytes;
}
