/* SPDX-License-Identifier: MIT */
/*
 * usage.c - measures a session's processes by /proc, and kills those that use too much.
 *
 * A quick measure sums RssAnon and RssShmem, which counts pages once for each process that shares
 * them after a fork. An exact one reads smaps_rollup, which walks page tables and is slow. Two
 * quick measures are remembered, because the fastest growing process is usually the one to blame.
 * Victims are held by pidfd and looked up again before the signal, so that a reused pid is never
 * killed.
 */
#include "sandbox/process/usage.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/process/kernel_memory.h"
#include "sandbox/process/proctree.h"
#include "sandbox/process/unlinked.h"
#include "sandbox/process/victims.h"

enum {
	STATUS_MAX = 4096,
	ROLLUP_MAX = 4096,
	SMALL_BYTES = 1 << 20,    /* of a smaller process it does not matter who shares its pages */
	GROWTH_BYTES = 1 << 20,   /* less counts as no growth */
	WRITTEN_BYTES = 64 << 10, /* less counts as nothing written */
	WRITERS_PART = 4,         /* part of what the process wrote that wrote most: less is none */
	FLAG_SIGNALED = 0x400,    /* a kernel flag: the process is being ended by a signal */
};

/* The last two quick measures. A process that has grown or written since the older one is killed
 * first. */
static struct {
	struct seen {
		pid_t pid;
		uint64_t started;
		uint64_t bytes;
		struct written written;
	} * rows;
	size_t len;
} history[2];

/* Returns the bytes in a line "Name:  123 kB" of `text`; 0 when there is none. */
static uint64_t kilobytes_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at != NULL ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

static bool read_proc_file(pid_t pid, const char *file, char *ret_text, size_t size)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return proctree_read(path, ret_text, size);
}

static uint64_t memory_of(pid_t pid, bool exact, uint64_t *ret_shared)
{
	char text[STATUS_MAX];
	uint64_t bytes;
	uint64_t tables;

	*ret_shared = 0;
	if (!read_proc_file(pid, "status", text, sizeof(text)))
		return 0;
	*ret_shared = kilobytes_of(text, "RssShmem:");
	bytes = kilobytes_of(text, "RssAnon:") + *ret_shared;
	/* Pages that are only read count for no process, but their page tables do. */
	tables = kilobytes_of(text, "VmPTE:");
	if (!exact || bytes < SMALL_BYTES || !read_proc_file(pid, "smaps_rollup", text, ROLLUP_MAX))
		return bytes + tables;
	/* Linux before 5.14 has only the sum with pages of files. */
	if (strstr(text, "Pss_Anon:") == NULL)
		return kilobytes_of(text, "\nPss:") + tables;
	*ret_shared = kilobytes_of(text, "Pss_Shmem:");
	return kilobytes_of(text, "Pss_Anon:") + *ret_shared + tables;
}

struct process {
	uint64_t ticks; /* of the process and of children that it waited for */
	uint64_t started;
	pid_t parent;
	char name[USAGE_NAME_MAX];
	uint32_t threads;
	bool is_ending; /* a zombie, or being killed: its memory is freed anyway */
};

static bool read_process(pid_t pid, struct process *ret_process)
{
	char text[1024];
	const char *open;
	const char *close;
	unsigned long long own[2];
	unsigned long long started;
	unsigned int threads;
	unsigned int flags;
	unsigned long long pending;
	long long waited[2];
	char state;
	size_t len;

	if (!read_proc_file(pid, "stat", text, sizeof(text)))
		return false;
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (open == NULL || close == NULL ||
	    sscanf(close + 1,
		   " %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %llu %llu %lld %lld "
		   "%*d %*d %u %*d %llu %*u %*d %*u %*u %*u %*u %*u %*u %llu",
		   &state, &ret_process->parent, &flags, &own[0], &own[1], &waited[0], &waited[1],
		   &threads, &started, &pending) != 10)
		return false;
	ret_process->started = started;
	ret_process->threads = threads;
	ret_process->ticks = own[0] + own[1] + (uint64_t)waited[0] + (uint64_t)waited[1];
	ret_process->is_ending = state == 'Z' || state == 'X' || (flags & FLAG_SIGNALED) != 0 ||
				 (pending & BIT(SIGKILL - 1)) != 0;
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

/*
 * Reads a process. Returns false if it is gone. One that /proc hides counts as the youngest, with
 * one thread and no memory.
 */
static bool find_process(pid_t pid, pid_t parent, struct process *ret_process)
{
	*ret_process = (struct process){ .parent = parent, .threads = 1, .started = UINT64_MAX };
	return read_process(pid, ret_process) || proctree_hides(pid);
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

static bool is_older(const struct usage_process *a, const struct usage_process *b)
{
	return a->started < b->started || (a->started == b->started && a->pid < b->pid);
}

/*
 * A supervisor starts one interpreter and later inherits its orphans. So only its oldest child is
 * of the first generation; the others count as programs.
 */
static void mark_orphans(int first, struct usage_process *rows, size_t len)
{
	for (size_t i = 0; i < len; i++)
		for (size_t j = 0; first > 1 && j < len && rows[i].generations == first; j++)
			if (rows[j].parent == rows[i].parent && is_older(&rows[j], &rows[i]))
				rows[i].generations++;
}

struct totals {
	uint64_t ticks;
	uint32_t tasks;   /* of processes that count, zombies included */
	uint32_t threads; /* of those that are not ending */
};

/*
 * Sets *list, an empty list, to all processes. Returns those that count; NULL when memory is short.
 * The caller frees the result.
 */
static struct usage_process *list_processes(int first, bool exact, struct pidlist *list,
					    struct totals *ret_totals, size_t *ret_len)
{
	cleanup_pidlist struct pidlist parents = { 0 };
	struct usage_process *rows;
	int32_t *generations;
	size_t len = 0;

	proctree_list(list, &parents);
	rows = calloc(list->len + 1, sizeof(*rows));
	generations = calloc(list->len + 1, sizeof(*generations));
	*ret_totals = (struct totals){ 0 };
	for (size_t i = 0; rows != NULL && generations != NULL && i < list->len; i++) {
		struct process process;

		generations[i] = generation_of(list, generations, i, parents.pids[i]);
		if (!find_process(list->pids[i], parents.pids[i], &process))
			continue;
		ret_totals->ticks += process.ticks;
		if (generations[i] < first)
			continue;
		ret_totals->tasks += process.threads;
		if (process.is_ending)
			continue;
		ret_totals->threads += process.threads;
		rows[len].pid = list->pids[i];
		rows[len].generations = generations[i];
		rows[len].parent = process.parent;
		rows[len].started = process.started;
		rows[len].memory_bytes = memory_of(list->pids[i], exact, &rows[len].shared_bytes);
		memcpy(rows[len++].name, process.name, sizeof(process.name));
	}
	free(generations);
	mark_orphans(first, rows, len);
	*ret_len = len;
	return rows;
}

/* Adds kernel memory, to the first process that has it. */
static void add_kernel_memory(const struct pidlist *list, struct usage_process *rows, size_t len,
			      uint32_t *ret_in_flight)
{
	struct kernel_memory_count count;
	struct kernel_memory *memory;

	kernel_memory_count(list, &count);
	*ret_in_flight = count.in_flight;
	if (count.descriptors <= KERNEL_MEMORY_DESCRIPTORS_FEW)
		return;
	memory = kernel_memory_new();
	for (size_t i = 0; memory != NULL && i < len; i++)
		rows[i].memory_bytes += kernel_memory_bytes(memory, rows[i].pid);
	kernel_memory_free(memory);
}

static uint64_t unlinked_below(const struct pidlist *list, const struct usage_paths *paths)
{
	const char *folder = paths != NULL ? paths->folder : NULL;
	struct stat st;

	return folder != NULL && stat(folder, &st) == 0 ? unlinked_bytes(list, st.st_dev) : 0;
}

/*
 * Pages of files in memory outlive the processes that map them. They are subtracted from each
 * process in proportion to its shared pages. Returns the bytes of the files.
 */
static uint64_t take_files_out(const struct usage_paths *paths, struct usage_process *rows,
			       size_t len)
{
	uint64_t shared = 0;
	struct statvfs vfs;
	uint64_t files;

	if (paths == NULL || paths->shared == NULL || statvfs(paths->shared, &vfs) < 0)
		return 0;
	files = (uint64_t)(vfs.f_blocks - vfs.f_bfree) * vfs.f_frsize;
	for (size_t i = 0; i < len; i++)
		shared += rows[i].shared_bytes;
	for (size_t i = 0; shared > 0 && i < len; i++) {
		double part = files < shared ? (double)files / (double)shared : 1;

		rows[i].memory_bytes -= (uint64_t)((double)rows[i].shared_bytes * part);
	}
	return files;
}

/* Returns what all have written, also those above that do not count. */
static uint64_t fill_written(const struct pidlist *list, struct usage_process *rows, size_t len)
{
	uint64_t sum = written_by(getpid()).disk;
	size_t next = 0;

	for (size_t i = 0; i < list->len; i++) {
		struct written written = written_by(list->pids[i]);

		sum += written.disk;
		if (next < len && rows[next].pid == list->pids[i]) /* in the same order */
			rows[next++].written = written;
	}
	return sum;
}

static void remember_rows(const struct usage_process *rows, size_t len)
{
	struct seen *seen = calloc(len + 1, sizeof(*seen));

	free(history[1].rows);
	history[1] = history[0];
	history[0].rows = seen;
	history[0].len = seen != NULL ? len : 0;
	for (size_t i = 0; i < history[0].len; i++)
		seen[i] = (struct seen){ rows[i].pid, rows[i].started, rows[i].memory_bytes,
					 rows[i].written };
}

/* Returns what the older measure saw of the process; NULL when it is new. */
static const struct seen *find_seen(const struct usage_process *row)
{
	for (size_t i = 0; i < history[1].len; i++) {
		const struct seen *seen = &history[1].rows[i];

		if (seen->pid == row->pid && seen->started == row->started)
			return seen;
	}
	return NULL;
}

static uint64_t rise(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

static uint64_t growth_of(const struct usage_process *row)
{
	const struct seen *seen = find_seen(row);
	uint64_t shared;

	return rise(seen != NULL ? seen->bytes : 0, memory_of(row->pid, false, &shared));
}

static bool has_grown(const struct usage_process *row)
{
	return growth_of(row) > GROWTH_BYTES;
}

static void fill_growths(int first, const struct usage_process *rows, size_t len,
			 struct usage *usage)
{
	size_t count = 0;

	for (size_t i = 0; i < len && count < USAGE_BUSY_MAX; i++)
		if (rows[i].generations == first)
			usage->growths[count++] = (struct usage_growth){
				.bytes = growth_of(&rows[i]),
				.parent = proctree_number(rows[i].parent),
			};
}

void usage_measure(int first, bool exact, const struct usage_paths *paths, struct usage *ret_usage,
		   struct usage_process *ret_largest)
{
	cleanup_pidlist struct pidlist list = { 0 };
	struct usage_process *rows;
	struct totals totals;
	size_t len = 0;

	*ret_usage = (struct usage){ .cpu_ms = waited_for_ms(), .exact = exact };
	*ret_largest = (struct usage_process){ .pid = 0 };
	rows = list_processes(first, exact, &list, &totals, &len);
	if (!exact && rows != NULL) {
		ret_usage->written_bytes = fill_written(&list, rows, len);
		remember_rows(rows, len);
	}
	if (rows != NULL) {
		ret_usage->shared_bytes = take_files_out(paths, rows, len);
		add_kernel_memory(&list, rows, len, &ret_usage->in_flight);
	}
	ret_usage->memory_bytes = ret_usage->shared_bytes;
	for (size_t i = 0; rows != NULL && i < len; i++) {
		ret_usage->memory_bytes += rows[i].memory_bytes;
		if (rows[i].generations > first)
			ret_usage->programs_bytes += rows[i].memory_bytes;
		if (rows[i].memory_bytes >= ret_largest->memory_bytes)
			*ret_largest = rows[i];
	}
	if (exact && rows != NULL)
		fill_growths(first, rows, len, ret_usage);
	free(rows);
	ret_usage->processes = (uint32_t)len;
	ret_usage->tasks = totals.tasks;
	ret_usage->threads = totals.threads;
	ret_usage->cpu_ms += totals.ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
	ret_usage->unlinked_bytes = unlinked_below(&list, paths);
}

uint32_t usage_count_tasks(int first)
{
	cleanup_pidlist struct pidlist list = { 0 };
	struct totals totals;
	size_t len = 0;

	free(list_processes(first, false, &list, &totals, &len));
	return totals.tasks;
}

void usage_list_interpreters(int first, const struct pidlist *parents, struct pidlist *ret_pids)
{
	cleanup_pidlist struct pidlist list = { 0 };
	struct usage_process *rows;
	struct totals totals;
	size_t len = 0;

	rows = list_processes(first, false, &list, &totals, &len);
	for (size_t i = 0; rows != NULL && i < len; i++)
		for (size_t j = 0; rows[i].generations == first && j < parents->len; j++)
			if (proctree_number(rows[i].parent) == parents->pids[j])
				pidlist_add(ret_pids, rows[i].pid);
	free(rows);
}

/* ---- killing ---- */

static bool is_busy(const struct usage_process *row, const struct usage_kill_request *request)
{
	pid_t parent = proctree_number(row->parent);

	for (size_t i = 0; i < request->busy_count && i < USAGE_BUSY_MAX; i++)
		if (request->busy[i] == parent)
			return true;
	return false;
}

/* Returns what the process has written since the older measure. */
static struct written written_since(const struct usage_process *row)
{
	const struct seen *seen = find_seen(row);
	struct written before = seen != NULL ? seen->written : (struct written){ 0, 0 };

	return (struct written){ .disk = rise(before.disk, row->written.disk),
				 .calls = rise(before.calls, row->written.calls) };
}

/* Marks those that write about as much as any; by calls where no disk counts. */
static void mark_writers(const struct usage_process *rows, struct victim *candidates, size_t len)
{
	struct written most = { 0, 0 };

	for (size_t i = 0; i < len; i++) {
		struct written since = written_since(&rows[i]);

		most.disk = since.disk > most.disk ? since.disk : most.disk;
		most.calls = since.calls > most.calls ? since.calls : most.calls;
	}
	for (size_t i = 0; i < len; i++) {
		struct written since = written_since(&rows[i]);
		bool by_disk = most.disk >= WRITTEN_BYTES;
		uint64_t bytes = by_disk ? since.disk : since.calls;

		candidates[i].is_growing =
			bytes >= WRITTEN_BYTES &&
			bytes >= (by_disk ? most.disk : most.calls) / WRITERS_PART;
	}
}

/* Returns the processes as candidates, NULL when memory is short. The caller frees the result. */
static struct victim *list_candidates(const struct usage_process *rows, size_t len, int first,
				      const struct usage_kill_request *request)
{
	struct victim *candidates = calloc(len + 1, sizeof(*candidates));

	for (size_t i = 0; candidates != NULL && i < len; i++)
		candidates[i] = (struct victim){
			.bytes = rows[i].memory_bytes,
			.started = rows[i].started,
			.is_interpreter = rows[i].generations == first,
			.is_running = rows[i].generations == first && is_busy(&rows[i], request),
			.is_growing = request->cause == USAGE_MEMORY && has_grown(&rows[i]),
			.index = i,
		};
	return candidates;
}

static uint64_t size_of(const struct usage_process *row, const struct usage_killed *killed)
{
	return killed->cause == USAGE_MEMORY ? row->memory_bytes : row->written.disk;
}

/* Reads the arguments of the process, with blanks in between. */
static void read_command(const struct usage_process *row, char ret_command[USAGE_COMMAND_MAX])
{
	memset(ret_command, 0, USAGE_COMMAND_MAX);
	if (!read_proc_file(row->pid, "cmdline", ret_command, USAGE_COMMAND_MAX))
		return;
	for (size_t i = 0; i + 1 < USAGE_COMMAND_MAX; i++)
		if (ret_command[i] == '\0' && ret_command[i + 1] != '\0')
			ret_command[i] = ' ';
}

static bool is_foremost(const struct usage_process *victim, int first,
			const struct usage_killed *killed)
{
	return victim->generations != first &&
	       (killed->programs == 0 ||
		size_of(victim, killed) > size_of(&killed->program, killed));
}

/* Kills a process that is held, so that its number is still its own. */
static void kill_held(int pidfd, const struct usage_process *victim, int first,
		      struct usage_killed *killed)
{
	char command[USAGE_COMMAND_MAX];

	read_command(victim, command);
	if (syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) < 0)
		return;
	if (is_foremost(victim, first, killed)) {
		killed->program = *victim;
		memcpy(killed->command, command, sizeof(command));
	}
	killed->programs += victim->generations != first;
	killed->firsts += victim->generations == first;
}

/* Holds each victim before looking it up again, so that its pid cannot be reused. */
static void kill_chosen(const struct usage_process *rows, const struct victim *candidates,
			size_t len, int first, struct usage_killed *killed)
{
	cleanup_pidlist struct pidlist list = { 0 };
	const struct usage_process *victims[USAGE_KILLS_MAX];
	int pidfds[USAGE_KILLS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < len && count < USAGE_KILLS_MAX; i++) {
		const struct usage_process *row = &rows[candidates[i].index];

		if (!candidates[i].is_chosen)
			continue;
		victims[count] = row;
		pidfds[count++] = proctree_hold(proctree_number(row->pid), row->pid);
	}
	proctree_descendants(&list);
	for (size_t i = 0; i < count; i++) {
		if (pidfds[i] >= 0 && pidlist_has(&list, victims[i]->pid))
			kill_held(pidfds[i], victims[i], first, killed);
		fd_close(&pidfds[i]);
	}
}

static void choose_for_memory(const struct usage_kill_request *request, uint64_t held,
			      struct victim *candidates, size_t len)
{
	const struct victims_need need = { .held = held,
					   .max = request->memory_max,
					   .still_max = request->still_max,
					   .programs_only = request->programs_only != 0,
					   .count_max = USAGE_KILLS_MAX };

	victims_for_memory(candidates, len, &need);
}

void usage_kill(int first, const struct usage_kill_request *request,
		const struct usage_paths *paths, struct usage_killed *ret_killed)
{
	cleanup_pidlist struct pidlist list = { 0 };
	bool exact = request->cause == USAGE_MEMORY;
	struct victim *candidates;
	struct usage_process *rows;
	struct totals totals;
	uint32_t in_flight;
	uint64_t held;
	size_t len = 0;

	*ret_killed = (struct usage_killed){ .cause = request->cause };
	rows = list_processes(first, exact, &list, &totals, &len);
	if (rows == NULL)
		return;
	held = take_files_out(paths, rows, len);
	add_kernel_memory(&list, rows, len, &in_flight);
	(void)fill_written(&list, rows, len);
	candidates = list_candidates(rows, len, first, request);
	if (candidates != NULL && exact) {
		choose_for_memory(request, held, candidates, len);
	} else if (candidates != NULL) {
		mark_writers(rows, candidates, len);
		victims_for_disk(candidates, len);
	}
	if (candidates != NULL)
		kill_chosen(rows, candidates, len, first, ret_killed);
	free(candidates);
	free(rows);
}
