/* SPDX-License-Identifier: MIT */
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
	MANY_TASKS = 16384, /* that is no limit worth counting against */
};

static char *read_text(const char *path)
{
	struct err err;
	size_t len;

	return fd_read_file(AT_FDCWD, path, FILE_BYTES_MAX, &len, &err);
}

/* "max", and files that are not there, are no limit. */
static uint64_t read_limit(const char *folder, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", folder, name);
	cleanup_free char *text = read_text(path);

	return text != NULL && isdigit((unsigned char)text[0]) ? strtoull(text, NULL, 10)
							       : UINT64_MAX;
}

/* Of `group` below `top` and of those above it. In a container its own path may lead nowhere. */
static uint64_t least_above(const char *top, const char *group, const char *name)
{
	cleanup_free char *folder = xasprintf("%s%s", top, group);
	size_t top_len = strlen(top);
	uint64_t least = UINT64_MAX;

	for (;;) {
		uint64_t limit = read_limit(folder, name);
		char *slash = strrchr(folder, '/');

		least = limit < least ? limit : least;
		if (slash == NULL || (size_t)(slash - folder) < top_len)
			return least;
		*slash = '\0';
	}
}

/* A line is "NUMBER:CONTROLLERS:PATH", of the second version "0::PATH". */
static uint64_t limit_of_line(char *line, const char *root)
{
	cleanup_free char *first = xasprintf("%s/memory", root);
	char *controllers = strchr(line, ':');
	char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;

	if (path == NULL)
		return UINT64_MAX;
	*path++ = '\0';
	if (str_eq(controllers, ":"))
		return least_above(root, path, "memory.max");
	return str_eq(controllers, ":memory") ? least_above(first, path, "memory.limit_in_bytes")
					      : UINT64_MAX;
}

uint64_t machine_group_memory(const char *membership, const char *root)
{
	cleanup_free char *lines = xstrdup(membership);
	uint64_t least = UINT64_MAX;
	char *rest = NULL;

	for (char *line = strtok_r(lines, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		uint64_t limit = limit_of_line(line, root);

		least = limit < least ? limit : least;
	}
	return least;
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

/* Those of a process, if it is the user's. */
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

uint64_t machine_tasks_left(void)
{
	struct rlimit tasks;
	uint64_t used;

	if (getrlimit(RLIMIT_NPROC, &tasks) < 0 || tasks.rlim_cur >= MANY_TASKS)
		return UINT64_MAX;
	/* Of root's sessions each has a user of its own, to whom the number applies. */
	used = getuid() != 0 ? count_tasks(getuid()) : 0;
	return tasks.rlim_cur > used ? tasks.rlim_cur - used : 0;
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
