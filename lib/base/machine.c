/* SPDX-License-Identifier: MIT */
/*
 * machine.c - reads limits from /proc and /sys/fs/cgroup, of both versions of control groups. A
 * limit of any group above ours holds too, so each path is followed up to the root. In a container
 * the path in /proc/self/cgroup may lead nowhere; then only the root is read.
 */
#include "base/machine.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

enum {
	FILE_BYTES_MAX = 1 << 20,
	MANY_TASKS = 16384, /* a limit this high is not worth counting against */
};

static char *read_text(const char *path)
{
	struct err err;
	size_t len;

	return fd_read_file(AT_FDCWD, path, FILE_BYTES_MAX, &len, &err);
}

/* Returns the limit in the file. "max" and a missing file mean no limit. */
static uint64_t read_limit(const char *folder, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", folder, name);
	cleanup_free char *text = read_text(path);

	return text != NULL && isdigit((unsigned char)text[0]) ? strtoull(text, NULL, 10)
							       : UINT64_MAX;
}

/* One limited resource: its controller and its files, in both versions of control groups. */
struct resource {
	const char *controller; /* as a folder of version 1, "/memory" */
	const char *max;
	const char *max_first;
	const char *used; /* the file of what is in use, which is subtracted; or NULL */
};

static const struct resource memory = { "/memory", "memory.max", "memory.limit_in_bytes", NULL };
static const struct resource processes = { "/pids", "pids.max", "pids.max", "pids.current" };

static uint64_t read_room(const char *folder, const char *max, const char *used)
{
	uint64_t limit = read_limit(folder, max);
	uint64_t taken = used != NULL && limit != UINT64_MAX ? read_limit(folder, used) : 0;

	return taken < limit ? limit - taken : 0;
}

/*
 * Returns the least that `group` below `top` and the groups above it leave. In a container the path
 * of the group may lead nowhere.
 */
static uint64_t least_above(const char *top, const char *group, const char *max, const char *used)
{
	cleanup_free char *folder = xasprintf("%s%s", top, group);
	size_t top_len = strlen(top);
	uint64_t least = UINT64_MAX;

	for (;;) {
		uint64_t room = read_room(folder, max, used);
		char *slash = strrchr(folder, '/');

		least = room < least ? room : least;
		if (slash == NULL || (size_t)(slash - folder) < top_len)
			return least;
		*slash = '\0';
	}
}

/* Reads one line "NUMBER:CONTROLLERS:PATH"; version 2 has "0::PATH". */
static uint64_t room_of_line(char *line, const char *root, const struct resource *resource)
{
	cleanup_free char *first = xasprintf("%s%s", root, resource->controller);
	char *controllers = strchr(line, ':');
	char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;

	if (path == NULL)
		return UINT64_MAX;
	*path++ = '\0';
	if (str_eq(controllers, ":"))
		return least_above(root, path, resource->max, resource->used);
	return str_eq(controllers + 1, resource->controller + 1)
		       ? least_above(first, path, resource->max_first, resource->used)
		       : UINT64_MAX;
}

static uint64_t group_room(const char *membership, const char *root,
			   const struct resource *resource)
{
	cleanup_free char *lines = xstrdup(membership);
	uint64_t least = UINT64_MAX;
	char *rest = NULL;

	for (char *line = strtok_r(lines, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		uint64_t room = room_of_line(line, root, resource);

		least = room < least ? room : least;
	}
	return least;
}

uint64_t machine_group_memory(const char *membership, const char *root)
{
	return group_room(membership, root, &memory);
}

uint64_t machine_group_tasks_left(const char *membership, const char *root)
{
	return group_room(membership, root, &processes);
}

uint64_t machine_memory(void)
{
	cleanup_free char *membership = read_text("/proc/self/cgroup");
	long pages = sysconf(_SC_PHYS_PAGES);
	long page_size = sysconf(_SC_PAGESIZE);
	uint64_t bytes = UINT64_MAX;
	uint64_t group = UINT64_MAX;

	if (pages > 0 && page_size > 0)
		bytes = (uint64_t)pages * (uint64_t)page_size;
	if (membership != NULL)
		group = machine_group_memory(membership, "/sys/fs/cgroup");
	return group < bytes ? group : bytes;
}

/* Returns the number of threads of the process, 0 if it is another user's. */
static uint64_t count_threads(const char *pid, uid_t uid)
{
	cleanup_free char *path = xasprintf("/proc/%s/status", pid);
	cleanup_free char *text = read_text(path);
	const char *owner = text != NULL ? strstr(text, "\nUid:") : NULL;
	const char *threads = text != NULL ? strstr(text, "\nThreads:") : NULL;

	if (owner == NULL || threads == NULL || strtoul(strchr(owner, ':') + 1, NULL, 10) != uid)
		return 0;
	return strtoull(strchr(threads, ':') + 1, NULL, 10);
}

static uint64_t count_tasks(uid_t uid)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	uint64_t tasks = 0;

	while (proc != NULL && (entry = readdir(proc)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]))
			tasks += count_threads(entry->d_name, uid);
	if (proc != NULL)
		(void)closedir(proc);
	return tasks;
}

static uint64_t user_tasks_left(void)
{
	struct rlimit tasks;
	uint64_t used;

	if (getrlimit(RLIMIT_NPROC, &tasks) < 0 || tasks.rlim_cur >= MANY_TASKS)
		return UINT64_MAX;
	/* Each session of root runs as a user of its own, to whom the limit applies. */
	used = getuid() != 0 ? count_tasks(getuid()) : 0;
	return tasks.rlim_cur > used ? tasks.rlim_cur - used : 0;
}

uint64_t machine_tasks_left(void)
{
	cleanup_free char *membership = read_text("/proc/self/cgroup");
	uint64_t user = user_tasks_left();
	uint64_t group = UINT64_MAX;

	if (membership != NULL)
		group = machine_group_tasks_left(membership, "/sys/fs/cgroup");
	return group < user ? group : user;
}

size_t machine_open_files(void)
{
	DIR *own = opendir("/proc/self/fd");
	size_t count = 0;

	while (own != NULL && readdir(own) != NULL)
		count++;
	if (own != NULL)
		(void)closedir(own);
	return count;
}
