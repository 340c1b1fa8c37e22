/* SPDX-License-Identifier: MIT */
/*
 * kernel_memory.c - estimates the kernel memory behind the descriptors of a session.
 *
 * The kernel does not charge socket and pipe buffers to a process, so a session could fill the
 * machine's memory with them. The sizes come from a duplicate of each descriptor (pidfd_getfd), and
 * for epolls from fdinfo. Every step has a maximum of descriptors or bytes, because session code
 * decides how many there are.
 */
#include "sandbox/process/kernel_memory.h"

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
	SOCKETS_MAX = 4096,                         /* sockets whose fdinfo is read: 20 ms */
	PLACES = 2 * KERNEL_MEMORY_DESCRIPTORS_MAX, /* a power of two */
	OBJECT_BYTES = 1024,                        /* of an empty socket or pipe */
	WATCH_BYTES = 192,                          /* of one descriptor in one epoll */
	WATCHES_TEXT_MAX = 32 << 20,                /* bytes of fdinfo: 200 ms */
	FDINFO_BYTES = 4096,
};

/* The inode numbers of sockets and pipes, in open addressing; 0 is free. */
struct kernel_memory {
	ino_t seen[PLACES];
	uint32_t examined;
	size_t text_left;
	uint64_t epolls; /* epolls that were read, and their lines */
	uint64_t lines;
};

static int open_info(pid_t pid, const char *name)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.16s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* ---- descriptors in flight ---- */

struct flight {
	struct kernel_memory_count count;
	uint32_t sockets;
	ino_t seen[SOCKETS_MAX]; /* sockets in which descriptors wait */
	size_t seen_len;
};

static bool note_seen(struct flight *flight, ino_t number)
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

static void count_descriptor(void *data, pid_t pid, int dir_fd, const char *name)
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
	if (waiting > 0 && !note_seen(flight, st.st_ino))
		flight->count.in_flight += waiting;
}

void kernel_memory_count(const struct pidlist *list, struct kernel_memory_count *ret_count)
{
	struct flight *flight = calloc(1, sizeof(*flight));

	*ret_count = (struct kernel_memory_count){ 0 };
	if (flight == NULL)
		return;
	for (size_t i = 0; i < list->len; i++)
		proctree_each_descriptor(list->pids[i], count_descriptor, flight);
	*ret_count = flight->count;
	free(flight);
}

/* ---- memory behind descriptors ---- */

struct kernel_memory *kernel_memory_new(void)
{
	struct kernel_memory *memory = calloc(1, sizeof(*memory));

	if (memory != NULL)
		memory->text_left = WATCHES_TEXT_MAX;
	return memory;
}

void kernel_memory_free(struct kernel_memory *memory)
{
	free(memory);
}

/* There is always a free place, because at most half of them are used. */
static bool is_new(struct kernel_memory *memory, ino_t number)
{
	size_t at = (size_t)(number * 0x9e3779b97f4a7c15U) & (PLACES - 1);

	while (memory->seen[at] != 0 && memory->seen[at] != number)
		at = (at + 1) & (PLACES - 1);
	if (memory->seen[at] == number)
		return false;
	memory->seen[at] = number;
	return true;
}

static uint64_t socket_bytes(int fd)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len) < 0)
		return 0;
	/* For TCP both values include the unsent bytes. */
	return (uint64_t)info[SK_MEMINFO_RMEM_ALLOC] + info[SK_MEMINFO_BACKLOG] +
	       (info[SK_MEMINFO_WMEM_ALLOC] > info[SK_MEMINFO_WMEM_QUEUED]
			? info[SK_MEMINFO_WMEM_ALLOC]
			: info[SK_MEMINFO_WMEM_QUEUED]);
}

/* A pipe holds a page for each write, however short, so its fill level says little. */
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

/*
 * An epoll has one line in fdinfo for each descriptor. When there is no time left to read more, the
 * mean of those that were read is used.
 */
static uint64_t watches_bytes(struct kernel_memory *memory, pid_t pid, const char *name)
{
	cleanup_fd int fd = memory->text_left > 0 ? open_info(pid, name) : -1;
	char text[FDINFO_BYTES];
	uint64_t lines = 0;
	ssize_t len;

	while (fd >= 0 && memory->text_left > 0 && (len = read(fd, text, sizeof(text))) > 0) {
		memory->text_left -= size_min(memory->text_left, (size_t)len);
		for (ssize_t i = 0; i < len; i++)
			lines += text[i] == '\n';
	}
	if (fd < 0)
		return memory->epolls > 0 ? memory->lines / memory->epolls * WATCH_BYTES : 0;
	memory->epolls++;
	memory->lines += lines;
	return lines * WATCH_BYTES;
}

struct process {
	struct kernel_memory *memory;
	uint64_t bytes;
};

static void add_descriptor_memory(void *data, pid_t pid, int dir_fd, const char *name)
{
	static const char epoll[] = "anon_inode:[eventpoll]";
	struct process *process = data;
	char target[sizeof(epoll)];
	struct stat st;

	if (process->memory->examined == KERNEL_MEMORY_DESCRIPTORS_MAX ||
	    fstatat(dir_fd, name, &st, 0) < 0)
		return;
	process->memory->examined++;
	if (S_ISSOCK(st.st_mode) || S_ISFIFO(st.st_mode)) {
		if (is_new(process->memory, st.st_ino))
			process->bytes += object_bytes(pid, name, S_ISSOCK(st.st_mode));
	} else if (readlinkat(dir_fd, name, target, sizeof(target)) == (ssize_t)strlen(epoll) &&
		   memcmp(target, epoll, strlen(epoll)) == 0) {
		process->bytes += watches_bytes(process->memory, pid, name);
	}
}

uint64_t kernel_memory_bytes(struct kernel_memory *memory, pid_t pid)
{
	struct process process = { .memory = memory };

	proctree_each_descriptor(pid, add_descriptor_memory, &process);
	return process.bytes;
}
