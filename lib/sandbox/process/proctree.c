/* SPDX-License-Identifier: MIT */
/*
 * proctree.c - finds the processes below the caller in /proc.
 *
 * The numbers in /proc and those that kill() takes differ where a sandbox shares the host's /proc
 * but has its own pid namespace (some containers). NSpid in /proc/PID/status translates them. The
 * children files need CONFIG_PROC_CHILDREN; without them every stat file is read. Where /proc hides
 * processes (hidepid), it hides supervisors, because they cannot be traced: their children are
 * found by the parent in the children's stat files.
 */
#include "sandbox/process/proctree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

bool proctree_read(const char *path, char *ret_text, size_t size)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, ret_text, size - 1) : -1;

	if (n < 0)
		return false;
	ret_text[n] = '\0';
	return true;
}

bool proctree_stat(const char *path, struct proctree_stat *ret_stat)
{
	char text[512];
	const char *after;

	if (!proctree_read(path, text, sizeof(text)))
		return false;
	/* The name in parentheses may contain parentheses: the last one ends it. */
	after = strrchr(text, ')');
	return after != NULL &&
	       sscanf(after + 1, " %c %d %d %*d %d %d", &ret_stat->state, &ret_stat->parent,
		      &ret_stat->group, &ret_stat->tty, &ret_stat->foreground) == 5;
}

/* ---- numbers ---- */

/* Returns the caller's number in /proc, which may belong to another pid namespace. */
static pid_t listed_self(void)
{
	char text[32];
	ssize_t n = readlink("/proc/self", text, sizeof(text) - 1);

	if (n <= 0)
		return getpid();
	text[n] = '\0';
	return (pid_t)strtol(text, NULL, 10);
}

/* Returns the last number of NSpid; 0 when the process is gone. */
static pid_t read_number(pid_t listed)
{
	char path[64];
	char text[4096];
	char *line;
	char *end;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", listed);
	if (!proctree_read(path, text, sizeof(text)))
		return 0;
	line = strstr(text, "\nNSpid:");
	if (line == NULL)
		return 0;
	line++;
	line[strcspn(line, "\n")] = '\0';
	end = strrchr(line, '\t');
	return end != NULL ? (pid_t)strtol(end, NULL, 10) : 0;
}

pid_t proctree_number(pid_t listed)
{
	return listed_self() == getpid() ? listed : read_number(listed);
}

static void make_numbers(struct pidlist *list)
{
	size_t kept = 0;

	if (listed_self() == getpid())
		return;
	for (size_t i = 0; i < list->len; i++) {
		pid_t pid = read_number(list->pids[i]);

		if (pid > 0)
			list->pids[kept++] = pid;
	}
	list->len = kept;
}

/* ---- children ---- */

/* Returns the next entry of a folder of /proc that is a number; 0 at the end. */
static pid_t next_pid(DIR *dir)
{
	const struct dirent *entry;

	while ((entry = readdir(dir)) != NULL) {
		long pid = strtol(entry->d_name, NULL, 10);

		if (pid > 0)
			return (pid_t)pid;
	}
	return 0;
}

/* Adds the children that a thread's children file lists. */
static void add_thread_children(struct pidlist *list, const char *path)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	char chunk[4096];
	ssize_t n;
	pid_t child = 0;

	if (fd < 0)
		return;
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (chunk[i] >= '0' && chunk[i] <= '9') {
				child = child * 10 + (chunk[i] - '0');
			} else if (child > 0) {
				pidlist_add(list, child);
				child = 0;
			}
		}
}

/* The parent of each process that /proc shows, read when it is first asked for. */
struct shown {
	struct pidlist pids;
	struct pidlist parents;
	bool is_read;
};

static void release_shown(struct shown *shown)
{
	pidlist_release(&shown->pids);
	pidlist_release(&shown->parents);
}

static void read_shown(struct shown *shown)
{
	DIR *proc = opendir("/proc");
	pid_t pid;

	shown->is_read = true;
	if (proc == NULL)
		return;
	while ((pid = next_pid(proc)) != 0) {
		struct proctree_stat stat;
		char path[64];

		(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		if (!proctree_stat(path, &stat))
			continue;
		pidlist_add(&shown->pids, pid);
		pidlist_add(&shown->parents, stat.parent);
	}
	(void)closedir(proc);
}

static void add_shown_children(struct pidlist *list, pid_t parent, struct shown *shown)
{
	if (!shown->is_read)
		read_shown(shown);
	for (size_t i = 0; i < shown->pids.len; i++)
		if (shown->parents.pids[i] == parent)
			pidlist_add(list, shown->pids.pids[i]);
}

bool proctree_hides(pid_t listed)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", listed);
	return access(path, F_OK) < 0 && listed_self() == getpid() && kill(listed, 0) == 0;
}

static void add_children(struct pidlist *list, pid_t pid, struct shown *shown)
{
	char path[64];
	DIR *tasks;
	pid_t tid;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (tasks == NULL && (proctree_hides(pid) || listed_self() != getpid()))
		add_shown_children(list, pid, shown);
	if (tasks == NULL)
		return;
	while ((tid = next_pid(tasks)) != 0) {
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
		add_thread_children(list, path);
	}
	(void)closedir(tasks);
}

static bool has_children_files(void)
{
	return access("/proc/thread-self/children", F_OK) == 0;
}

static void list_children(struct pidlist *ret_list, struct shown *shown)
{
	ret_list->len = 0;
	if (has_children_files())
		add_thread_children(ret_list, "/proc/thread-self/children");
	else
		add_shown_children(ret_list, listed_self(), shown);
}

void proctree_children(struct pidlist *ret_list)
{
	struct shown shown = { 0 };

	list_children(ret_list, &shown);
	make_numbers(ret_list);
	release_shown(&shown);
}

void proctree_list(struct pidlist *ret_list, struct pidlist *ret_parents)
{
	const bool by_file = has_children_files();
	const pid_t self = listed_self();
	struct shown shown = { 0 };

	ret_parents->len = 0;
	list_children(ret_list, &shown);
	while (ret_parents->len < ret_list->len)
		pidlist_add(ret_parents, self);
	for (size_t i = 0; i < ret_list->len; i++) {
		const pid_t parent = ret_list->pids[i];

		if (by_file)
			add_children(ret_list, parent, &shown);
		else
			add_shown_children(ret_list, parent, &shown);
		while (ret_parents->len < ret_list->len)
			pidlist_add(ret_parents, parent);
	}
	release_shown(&shown);
}

void proctree_descendants(struct pidlist *ret_list)
{
	cleanup_pidlist struct pidlist parents = { 0 };

	proctree_list(ret_list, &parents);
}

void proctree_signal(int signo)
{
	cleanup_pidlist struct pidlist list = { 0 };

	proctree_descendants(&list);
	make_numbers(&list);
	for (size_t i = 0; i < list.len; i++)
		(void)kill(list.pids[i], signo);
}

size_t proctree_count_live(void)
{
	cleanup_pidlist struct pidlist list = { 0 };
	size_t live = 0;

	proctree_descendants(&list);
	for (size_t i = 0; i < list.len; i++) {
		struct proctree_stat stat;
		char path[64];

		(void)snprintf(path, sizeof(path), "/proc/%d/stat", list.pids[i]);
		if (proctree_stat(path, &stat))
			live += stat.state != 'Z' && stat.state != 'X';
		else
			live += proctree_hides(list.pids[i]);
	}
	return live;
}

int proctree_hold(pid_t number, pid_t listed)
{
	int fd = number > 0 ? (int)syscall(SYS_pidfd_open, number, 0) : -1;
	char path[32];

	if (fd >= 0 || number <= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
	(void)snprintf(path, sizeof(path), "/proc/%d", listed);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void proctree_each_descriptor(pid_t pid,
			      void (*fn)(void *data, pid_t pid, int dir_fd, const char *name),
			      void *data)
{
	char path[32];
	const struct dirent *entry;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			fn(data, pid, dirfd(dir), entry->d_name);
	(void)closedir(dir);
}
