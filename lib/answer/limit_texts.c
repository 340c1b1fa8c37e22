/* SPDX-License-Identifier: MIT */
/* limit_texts.c - the sentences that name a limit, its value and its setting, and say what to do.
 */
#include "answer/limit_texts.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "session/session.h"
#include "text/sanitize.h"
#include "text/status_line.h"
#include "workspace/disk_usage.h"

enum { CUT_NAMES_MAX = 3, OTHERS_PART = 16 };

bool limit_texts_is_lowered(const struct cell *cell, const struct session_limits *limits)
{
	return cell->file_max < limits->file_max;
}

static void put_limit(struct buf *out, const char *what, uint64_t bytes, const char *key)
{
	buf_putf(out, "%s ", what);
	status_size(out, bytes);
	buf_putf(out, " (%s).", key);
}

void limit_texts_memory(struct buf *out, const struct session_limits *limits)
{
	put_limit(out, "The memory of one process here is limited to", limits->memory_max,
		  "memory_max");
	buf_puts(out, " Work on less at a time: read in chunks, use smaller types.\n");
}

/* Names what all processes use: an interpreter gets no more than the others leave. */
void limit_texts_others(struct buf *out, const struct cell *cell,
			const struct session_limits *limits)
{
	if (cell->memory_used <= limits->memory_max / OTHERS_PART)
		return;
	buf_puts(out, "That is also the limit of all the session's processes, with /dev/shm: at "
		      "the last look they used ");
	status_size(out, cell->memory_used);
	buf_puts(out, ".\n");
}

/* Explains that processes exceeded the limit together. Each used less than one process may. */
void limit_texts_memory_stop(struct buf *out, const struct cell *cell,
			     const struct session_limits *limits)
{
	buf_puts(out, "It was interrupted because the session's processes, with /dev/shm, used ");
	status_excess(out, cell->memory_stopped, limits->memory_max);
	buf_puts(out, " (memory_max). Free what is not needed, in any language: a process that "
		      "grows further is killed.\n");
}

void limit_texts_cpu_stop(struct buf *out, const struct cell *cell,
			  const struct session_limits *limits)
{
	buf_putf(
		out,
		"It was interrupted because the session has used %" PRIu64
		" s of processor time, more than the limit of %" PRIu64
		" s (cpu_max). Save what is needed, in short cells: what goes on is soon killed. A "
		"new session starts at 0.\n",
		(cell->cpu_stopped_ms + 999) / 1000, limits->cpu_max);
}

/* Explains a map that failed: the kernel counts each page of a private writable map at once. */
void limit_texts_map(struct buf *out, const struct session_limits *limits)
{
	put_limit(out,
		  "A map that can be written without changing its file (mode='c', ACCESS_COPY) "
		  "counts as memory with its whole size; one process here has at most",
		  limits->memory_max, "memory_max");
	buf_puts(out, " One that is only read does not: mode='r', ACCESS_READ.\n");
}

/* Explains that the disk limit had lowered the maximum of one file. */
void limit_texts_disk(struct buf *out, const struct cell *cell, const struct session_limits *limits)
{
	if (cell->disk_bytes == DISK_UNKNOWN) {
		buf_puts(out, "The session's folder cannot be counted");
	} else {
		buf_puts(out, "The session's folder holds ");
		status_size(out, cell->disk_bytes);
	}
	put_limit(out, ", and is limited to", limits->disk_max, "disk_max");
	if (cell->disk_stopped)
		buf_puts(out, " It grew on although no file was to, so the cell was interrupted. "
			      "Each file and folder counts 4 KB at least.");
	else if (cell->file_max == 0)
		buf_puts(out, " From then on no file could grow in this cell, nor could those of "
			      "/tmp and shared memory; what was being written then may be cut "
			      "off.");
	else
		buf_puts(out, " So no file, also in /tmp and shared memory, could become larger "
			      "than what is left.");
	buf_puts(out, " Delete what is not needed; a deleted file counts until it is closed.\n");
}

/* Returns the next file, from *at on, that is exactly as large as allowed, or NULL. */
static const char *next_cut(const struct cell *cell, uint64_t max, size_t *at)
{
	while (*at < cell->change_count) {
		const struct change *change = &cell->changes[(*at)++];

		if (change->kind != CHANGE_DELETED && change->file.size == max &&
		    !change->file.is_link)
			return change->file.path;
	}
	return NULL;
}

/* Names files that met the limit: not every program reports that a write was cut off. */
void limit_texts_cut(struct buf *out, const struct cell *cell, const struct session_limits *limits)
{
	/* Every empty file is as large as allowed where no file could grow. */
	bool is_low = cell->file_max > 0 && limit_texts_is_lowered(cell, limits);
	uint64_t max = is_low ? cell->file_max : limits->file_max;
	size_t at = 0;
	size_t count = 0;
	const char *path;

	for (; (path = next_cut(cell, max, &at)) != NULL; count++) {
		cleanup_free char *name = sanitize_quote(path);

		if (count < CUT_NAMES_MAX)
			buf_putf(out, "%s'%s'", count > 0 ? ", " : "", name);
	}
	if (count == 0)
		return;
	if (count > CUT_NAMES_MAX)
		buf_putf(out, " and %zu more", count - CUT_NAMES_MAX);
	put_limit(out,
		  count == 1 ? " is as large as a file may be, and probably cut off:"
			     : " are as large as a file may be, and probably cut off:",
		  max, is_low ? "disk_max" : "file_max");
	buf_puts(out, "\n");
}

void limit_texts_file(struct buf *out, const struct session_limits *limits)
{
	put_limit(out, "One file here is limited to", limits->file_max, "file_max");
	buf_puts(out, " Split it, or write a compressed format.\n");
}

void limit_texts_space(struct buf *out, const struct session_limits *limits)
{
	put_limit(out, "/tmp lies in memory and holds up to", limits->tmp_max, "tmp_max");
	put_limit(out, " /dev/shm holds what processes leave of", limits->memory_max, "memory_max");
	buf_puts(out, " Write large files to the working folder.\n");
}

/* Names one size for both folders: bubblewrap gives them the same. */
void limit_texts_space_bwrap(struct buf *out, const struct session_limits *limits)
{
	put_limit(out, "/tmp and /dev/shm lie in memory and hold up to", limits->tmp_max,
		  "tmp_max");
	buf_puts(out, " Write large files to the working folder.\n");
}

static void put_processes(struct buf *out, const char *what, const struct session_limits *limits)
{
	buf_putf(out,
		 "%s limited to %" PRIu64
		 " (processes_max). Use fewer workers, and end those that are not needed.\n",
		 what, limits->processes_max);
}

/*
 * Names both limits that a thread can meet, because their error is the same: the stack of a thread
 * counts as memory at once.
 */
void limit_texts_thread(struct buf *out, const struct session_limits *limits)
{
	buf_putf(
		out,
		"Processes and threads here are limited to %" PRIu64
		" (processes_max), and the stack of each thread, of 1 to 8 MB as a rule, counts as memory,",
		limits->processes_max);
	put_limit(out, " of which one process has at most", limits->memory_max, "memory_max");
	buf_puts(out, " Free memory, or use fewer workers, or smaller stacks: "
		      "threading.stack_size(1 << 20), or OMP_STACKSIZE=1M for OpenMP.\n");
}

/* Explains a failed load, of which the loader says the same on a noexec file system. */
void limit_texts_library(struct buf *out, const struct session_limits *limits)
{
	put_limit(out, "If memory had no room for the library's code: one process here has at most",
		  limits->memory_max, "memory_max");
	buf_puts(out, "\n");
}

/* Names limits of files: SQLite's error does not name the cause of a failed write. */
void limit_texts_database(struct buf *out, const struct session_limits *limits)
{
	put_limit(out, "If its file has become too large: one file here is limited to",
		  limits->file_max, "file_max");
	put_limit(out, " The session's folder is limited to", limits->disk_max, "disk_max");
	buf_puts(out, "\n");
}

/* Names limits of files: R's error names neither the cause of a failed write nor the file. */
void limit_texts_connection(struct buf *out, const struct session_limits *limits)
{
	put_limit(out, "If there was no room for it: one file here is limited to", limits->file_max,
		  "file_max");
	put_limit(out, " /tmp lies in memory and holds up to", limits->tmp_max, "tmp_max");
	put_limit(out, " /dev/shm holds what processes leave of", limits->memory_max, "memory_max");
	put_limit(out, " The session's folder is limited to", limits->disk_max, "disk_max");
	buf_puts(out, "\n");
}

/* Explains SIGBUS: a write to a page for which there is no room can fail in no other way. */
void limit_texts_bus_error(struct buf *out, const struct session_limits *limits)
{
	put_limit(
		out,
		"If it used memory that is mapped from a file: the file became shorter, or there "
		"was no room for what was written. /dev/shm, where shared memory lies, holds what "
		"processes leave of",
		limits->memory_max, "memory_max");
	buf_puts(out, "\n");
}

/* Names processes_max with an "if": EAGAIN also means a lock that is held, or a read without data.
 */
void limit_texts_eagain(struct buf *out, const struct session_limits *limits)
{
	put_processes(out, "If that was a new process or thread: here they are", limits);
}

void limit_texts_open_files(struct buf *out, const struct session_limits *limits)
{
	buf_putf(out,
		 "Open files of one process are limited to %" PRIu64
		 " (open_files_max). Close what is not needed.\n",
		 limits->open_files_max);
}
