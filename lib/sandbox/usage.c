/* SPDX-License-Identifier: MIT */
#include "sandbox/usage.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/deleted.h"
#include "sandbox/proctree.h"

enum {
	STATUS_MAX = 4096,
	ROLLUP_MAX = 4096,
	SMALL_BYTES = 8 << 20, /* of such a process it does not matter who owns its pages */
};

/* The number behind `name` in lines "Name:  123 kB", in bytes; 0 when there is none. */
static uint64_t kilobytes_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at != NULL ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

static bool read_of(pid_t pid, const char *file, char *ret_text, size_t size)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return proctree_read(path, ret_text, size);
}

static uint64_t memory_of(pid_t pid, bool exact)
{
	char text[STATUS_MAX];
	uint64_t bytes;

	if (!read_of(pid, "status", text, sizeof(text)))
		return 0;
	bytes = kilobytes_of(text, "RssAnon:") + kilobytes_of(text, "RssShmem:");
	if (!exact || bytes < SMALL_BYTES || !read_of(pid, "smaps_rollup", text, ROLLUP_MAX))
		return bytes;
	/* Absent before Linux 5.14: then the sum with pages of files. */
	if (strstr(text, "Pss_Anon:") == NULL)
		return kilobytes_of(text, "\nPss:");
	return kilobytes_of(text, "Pss_Anon:") + kilobytes_of(text, "Pss_Shmem:");
}

struct process {
	uint64_t ticks; /* its own and those of children that it waited for */
	pid_t parent;
	char name[USAGE_NAME_MAX];
	bool is_zombie;
};

static bool look_at(pid_t pid, struct process *ret_process)
{
	char text[1024];
	const char *open;
	const char *close;
	unsigned long long own[2];
	long long waited[2];
	char state;
	size_t len;

	if (!read_of(pid, "stat", text, sizeof(text)))
		return false;
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (open == NULL || close == NULL ||
	    sscanf(close + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld",
		   &state, &ret_process->parent, &own[0], &own[1], &waited[0], &waited[1]) != 6)
		return false;
	ret_process->ticks = own[0] + own[1] + (uint64_t)waited[0] + (uint64_t)waited[1];
	ret_process->is_zombie = state == 'Z' || state == 'X';
	len = (size_t)(close - open - 1);
	len = size_min(len, sizeof(ret_process->name) - 1);
	memcpy(ret_process->name, open + 1, len);
	ret_process->name[len] = '\0';
	return true;
}

static uint64_t waited_for_ms(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage) < 0)
		return 0;
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

/* Parents come before their children in `list`; `generations` is filled up to `index`. */
static int32_t generation_of(const struct pidlist *list, const int32_t *generations, size_t index,
			     pid_t parent)
{
	for (size_t i = 0; i < index; i++)
		if (list->pids[i] == parent)
			return generations[i] + 1;
	return 1;
}

static void count(const struct process *process, uint64_t memory, struct usage *usage,
		  struct usage_largest *largest, const struct usage_largest *candidate)
{
	usage->memory_bytes += memory;
	usage->processes++;
	if (memory < largest->memory_bytes || candidate->pid == 0)
		return;
	*largest = *candidate;
	largest->memory_bytes = memory;
	memcpy(largest->name, process->name, sizeof(largest->name));
}

static uint64_t deleted_below(const struct pidlist *list, const char *folder)
{
	struct stat st;

	return folder != NULL && stat(folder, &st) == 0 ? deleted_bytes(list, st.st_dev) : 0;
}

void usage_measure(int first, bool exact, const char *folder, struct usage *ret_usage,
		   struct usage_largest *ret_largest)
{
	cleanup_pidlist struct pidlist list = { 0 };
	uint64_t ticks_a_second = (uint64_t)sysconf(_SC_CLK_TCK);
	int32_t *generations;

	*ret_usage = (struct usage){ .cpu_ms = waited_for_ms(), .exact = exact };
	*ret_largest = (struct usage_largest){ .pid = 0 };
	proctree_descendants(&list);
	generations = calloc(list.len + 1, sizeof(*generations));
	for (size_t i = 0; generations != NULL && i < list.len; i++) {
		struct process process = { 0 };
		struct usage_largest candidate = { .pid = list.pids[i] };

		if (!look_at(list.pids[i], &process))
			continue;
		generations[i] = generation_of(&list, generations, i, process.parent);
		candidate.generations = generations[i];
		ret_usage->cpu_ms += process.ticks * 1000 / ticks_a_second;
		if (generations[i] >= first && !process.is_zombie)
			count(&process, memory_of(list.pids[i], exact), ret_usage, ret_largest,
			      &candidate);
	}
	free(generations);
	ret_usage->deleted_bytes = deleted_below(&list, folder);
}

void usage_kill(const struct usage_largest *largest)
{
	pid_t pid = largest->pid > 0 ? proctree_number(largest->pid) : 0;
	cleanup_fd int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	cleanup_pidlist struct pidlist list = { 0 };

	/* Looked for again, so that it is no other process that has got its number. */
	proctree_descendants(&list);
	if (pidfd >= 0 && pidlist_has(&list, largest->pid))
		(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}
