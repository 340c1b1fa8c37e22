/* SPDX-License-Identifier: MIT */
/*
 * limit_hints.c - recognises the limit behind an error by the words of interpreters and programs.
 *
 * `rows` maps words to sentences, and the first match wins. A row holds only in the tiers in
 * which ptycell sets that limit; elsewhere the same words have another cause. An error of the cell
 * itself names its limit. A line of a program's output only suggests it, since a file's content may
 * end with the same words. Errors that a server-side stop caused need no words: the cell has them.
 */
#include "answer/limit_hints.h"

#include <signal.h>
#include <string.h>

#include "answer/error_text.h"
#include "answer/limit_texts.h"
#include "answer/missing_file.h"
#include "base/mem.h"
#include "config/room.h"
#include "confinement/confinement.h"
#include "proc/cgroups.h"
#include "runtime/language.h"
#include "session/session.h"
#include "workspace/disk_usage.h"

enum { LINES_SEARCHED = 6, SHELL_SIGNAL = 128, MEM_ROW = 1, THREAD_ROW = 6 };

/* Node sets O_NONBLOCK on a terminal that process.stdin has read, and leaves it set. */
static const char empty_input[] =
	"Nothing was there to read. A cell has no standard input but what is typed, and "
	"once process.stdin was used fs.readFileSync(0) does not wait for it. Ask with "
	"`await rl.question(...)` of readline/promises.\n";
static const char read_only[] =
	"Blocked by the sandbox: code may write in its working folder, in /tmp and in "
	"folders shared with :rw; names such as .git/hooks are never written.\n";
static const char denied[] =
	"Blocked by the sandbox: code may write in its working folder and read the "
	"system's programs, nothing else.\n";

static const char *const too_large[ERROR_TEXT_NEEDLES_MAX] = { "File too large", "EFBIG",
							       "File size limit exceeded" };
static const char *const no_space[ERROR_TEXT_NEEDLES_MAX] = { "No space left on device", "ENOSPC" };

/* NumPy, pyarrow, R, SQLite's shell, git and Java. */
static const char *const printed_for_memory[ERROR_TEXT_NEEDLES_MAX] = {
	"MemoryError: Unable to allocate",
	"init_gesdd failed init",
	"MemoryError: malloc of size",
	"cannot allocate vector of size",
	"out of memory (7)",
	", malloc failed (tried to allocate",
	"insufficient memory for the Java Runtime Environment",
};

/* The words that interpreters print for the kernel's errors. */
static const struct {
	const char *needles[ERROR_TEXT_NEEDLES_MAX];
	/* Anywhere in what a program printed: more follows on the line. NULL: none */
	const char *const *printed;
	/* NULL: `explain` makes it. With a text, the row is only for a cell's own error. */
	const char *text;
	void (*explain)(struct buf *out, const struct session_limits *limits);
	enum policy_tier from; /* the tiers in which the row holds */
	enum policy_tier to;   /* POLICY_UNCONFINED: the row holds in all from `from` on */
} rows[] = {
	{ .needles = { "Cannot allocate memory", "cannot allocate memory" },
	  .explain = limit_texts_map },
	[MEM_ROW] = { .needles = { "MemoryError", "Cannot allocate memory",
				   "cannot allocate memory", "cannot allocate vector",
				   "Array buffer allocation failed", "memory exhausted",
				   "heap out of memory", "Out of memory!", "std::bad_alloc",
				   "cannot map zero-fill pages", "could not allocate memory" },
		      .printed = printed_for_memory,
		      .explain = limit_texts_memory },
	{ .needles = { "failed to map segment from shared object" },
	  .explain = limit_texts_library },
	{ .needles = { "File too large", "EFBIG", "File size limit exceeded" },
	  .explain = limit_texts_file },
	{ .needles = { "No space left on device", "ENOSPC" },
	  .explain = limit_texts_space_bwrap,
	  .from = POLICY_BWRAP,
	  .to = POLICY_BWRAP },
	{ .needles = { "No space left on device", "ENOSPC" },
	  .explain = limit_texts_space,
	  .from = POLICY_NAMESPACES },
	/* Python, GLib and OpenMP. The latter two end the process. */
	[THREAD_ROW] = { .needles = { "can't start new thread",
				      "Error creating thread: Resource temporarily unavailable",
				      "Thread creation failed: Resource temporarily unavailable" },
			 .explain = limit_texts_thread,
			 .from = POLICY_LANDLOCK },
	{ .needles = { "disk I/O error", "database or disk is full" },
	  .explain = limit_texts_database },
	{ .needles = { "error writing to connection" },
	  .explain = limit_texts_connection,
	  .from = POLICY_NAMESPACES },
	{ .needles = { "EAGAIN: resource temporarily unavailable, read" }, .text = empty_input },
	{ .needles = { "Resource temporarily unavailable", "EAGAIN", "code: 'EAGAIN'," },
	  .explain = limit_texts_eagain,
	  .from = POLICY_LANDLOCK },
	{ .needles = { "Too many open files", "EMFILE" }, .explain = limit_texts_open_files },
	{ .needles = { "Read-only file system", "EROFS" },
	  .text = read_only,
	  .from = POLICY_BWRAP },
	{ .needles = { "Permission denied", "EACCES" },
	  .text = denied,
	  .from = POLICY_LANDLOCK,
	  .to = POLICY_LANDLOCK },
};

/* socket(2) of a Unix socket fails with this text alone. */
static bool is_unix_socket(const struct cell *cell, const struct confinement_facts *facts)
{
	return !facts->unix_sockets && cell->error_text != NULL &&
	       str_eq(cell->error_text, "[Errno 13] Permission denied");
}

/* For example a shared file whose permissions do not let the user read it. */
static bool is_shared(const struct cell *cell, const struct confinement_facts *facts)
{
	const struct shares *shares = facts->shares;
	const char *text = error_text_end(cell->error_text);
	const struct policy_share *share;

	if (text == NULL || strstr(text, "Permission denied") == NULL)
		return false;
	for (size_t i = 0; (share = shares_at(shares, i)) != NULL; i++)
		if (strstr(text, share->path) != NULL)
			return true;
	return false;
}

/* V8 prints its reason, then a long stack: the whole text is searched. */
static bool has_v8_met_memory(const char *text)
{
	return error_text_any(text, language_find("javascript")->memory_words);
}

static bool is_shells_v8(const struct cell *cell)
{
	return cell->state == CELL_DONE && str_eq(cell->language, "bash") && cell->has_exit_code &&
	       cell->exit_code == SHELL_SIGNAL + SIGABRT && has_v8_met_memory(buf_str(&cell->text));
}

static const char *const abort_words[ERROR_TEXT_NEEDLES_MAX] = { " bytes failed\n" };

/* Bash, V8 and Rust abort with a message, or crash after an allocation has failed. */
bool limit_hints_died_for_memory(const struct cell *cell)
{
	const char *text = buf_str(&cell->text);

	if (cell->state != CELL_DIED)
		return is_shells_v8(cell);
	if (cell->memory_near && (cell->signal == SIGSEGV || cell->signal == SIGABRT ||
				  cell->signal == SIGTRAP || cell->signal == SIGILL))
		return true;
	if (cell->signal == SIGABRT && error_text_any(text, abort_words))
		return true;
	return (cell->signal != 0 && has_v8_met_memory(text)) ||
	       (cell->has_exit_code && strstr(text, "alloc: cannot allocate ") != NULL);
}

/*
 * A shell and R print the error on the terminal and end with it. Node prints the errors of
 * callbacks there, after which the cell is done.
 */
static bool prints_its_error(const struct cell *cell)
{
	if (str_eq(cell->language, "javascript"))
		return cell->state == CELL_DONE;
	if (str_eq(cell->language, "bash"))
		return cell->state == CELL_DONE && cell->has_exit_code && cell->exit_code != 0;
	return str_eq(cell->language, "r") && cell->state == CELL_RAISED;
}

/* Node's own errors of callbacks end in these words. Others are what the code or a program says. */
static bool is_said_by_node(const char *words)
{
	static const char *const own[ERROR_TEXT_NEEDLES_MAX] = {
		"Array buffer allocation failed", "EAGAIN: resource temporarily unavailable, read",
		"code: 'EAGAIN',"
	};

	return error_text_any(words, own);
}

static bool has_printed(const struct cell *cell, const char *const *needles)
{
	const char *found = error_text_line_end(&cell->text, needles, LINES_SEARCHED);

	return found != NULL && (!str_eq(cell->language, "javascript") || is_said_by_node(found));
}

static bool is_error_of(const struct cell *cell, const char *const *needles)
{
	if (prints_its_error(cell) && has_printed(cell, needles))
		return true;
	return cell->state == CELL_RAISED && !cell->raised_by_code &&
	       (error_text_any(cell->error_name, needles) ||
		error_text_any(cell->error_text, needles) ||
		error_text_any(error_text_last_line(cell->traceback), needles));
}

/* Unconfined code has no limit of processes but that of a control group. */
static bool row_holds(size_t row, const struct confinement_facts *facts)
{
	const struct cgroups *groups = facts->groups;
	bool counts =
		rows[row].explain == limit_texts_thread || rows[row].explain == limit_texts_eagain;

	if (counts && groups != NULL && (cgroups_controllers(groups) & BIT(CGROUP_PIDS)) != 0)
		return true;
	return facts->tier >= rows[row].from &&
	       (rows[row].to == POLICY_UNCONFINED || facts->tier <= rows[row].to);
}

/* Judges by the last call of the traceback, or of one that a program printed. */
static bool was_mapping(const struct cell *cell)
{
	const char *text = cell->traceback != NULL ? cell->traceback : buf_str(&cell->text);

	return error_text_last_call_has(text, "mmap.mmap(");
}

static bool is_of_files(size_t row)
{
	return rows[row].explain == limit_texts_file || rows[row].explain == limit_texts_database;
}

static void put_row(struct buf *out, size_t row, const struct cell *cell,
		    const struct session_limits *limits)
{
	if (rows[row].text != NULL)
		buf_puts(out, rows[row].text);
	else if (is_of_files(row) && limit_texts_is_lowered(cell, limits))
		limit_texts_disk(out, cell, limits);
	else
		rows[row].explain(out, limits);
	if (rows[row].explain == limit_texts_memory)
		limit_texts_others(out, cell, limits);
}

/* Explains by the first row for the cell's error or, if `caused`, for an exception before it. */
static bool explain_row(struct buf *out, const struct cell *cell,
			const struct session_limits *limits, const struct confinement_facts *facts,
			bool caused)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!row_holds(i, facts))
			continue;
		if (caused ? !error_text_before(cell->traceback, rows[i].needles)
			   : !is_error_of(cell, rows[i].needles))
			continue;
		if (rows[i].explain == limit_texts_map && !was_mapping(cell))
			continue;
		put_row(out, i, cell, limits);
		return true;
	}
	return false;
}

/* Returns whether a file that the cell wrote is still there. */
static bool has_left_file(const struct cell *cell)
{
	for (size_t i = 0; i < cell->change_count; i++)
		if (cell->changes[i].kind != CHANGE_DELETED && !cell->changes[i].file.is_link)
			return true;
	return false;
}

/*
 * limit_texts_file is left out where the cell's files are there, unless the folder was nearly full:
 * limit_texts_cut knows from a file whether it met the limit. One in /tmp or a deleted one is not
 * seen.
 */
static bool may_be_met_by_programs(size_t row, const struct cell *cell,
				   const struct session_limits *limits)
{
	return rows[row].text == NULL &&
	       (rows[row].explain != limit_texts_file || !has_left_file(cell) ||
		limit_texts_is_lowered(cell, limits));
}

/*
 * A program that meets a limit prints an error, and the cell continues. A line of a file's content
 * may look the same, so the sentence says "perhaps".
 */
static void explain_program_line(struct buf *out, const struct cell *cell,
				 const struct session_limits *limits,
				 const struct confinement_facts *facts)
{
	const char *found = NULL;

	for (size_t i = 0; found == NULL && i < ARRAY_SIZE(rows); i++) {
		const char *verb = "ends in";

		if (!row_holds(i, facts) || !may_be_met_by_programs(i, cell, limits) ||
		    (rows[i].explain == limit_texts_map && !was_mapping(cell)))
			continue;
		found = error_text_line_end(&cell->text, rows[i].needles, SIZE_MAX);
		if (found == NULL && rows[i].printed != NULL) {
			found = error_text_find(buf_str(&cell->text), rows[i].printed);
			verb = "has";
		}
		if (found == NULL)
			continue;
		buf_putf(out, "A line of the output %s '%s', perhaps because a limit was met. ",
			 verb, found);
		put_row(out, i, cell, limits);
	}
}

/* Returns true if that is all. A cell that wrote no file met no limit, even in a full folder. */
static bool explain_full(struct buf *out, const struct cell *cell,
			 const struct session_limits *limits)
{
	bool printed = error_text_line_end(&cell->text, too_large, SIZE_MAX) != NULL;
	bool full =
		cell->file_max == 0 && (cell->disk_stopped || cell->change_count > 0 || printed ||
					(cell->state != CELL_DONE && !cell_goes_on(cell)));
	bool met = is_error_of(cell, too_large) || error_text_before(cell->traceback, too_large) ||
		   (printed && cell_goes_on(cell));

	if (!full && !(met && limit_texts_is_lowered(cell, limits)))
		return false;
	limit_texts_disk(out, cell, limits);
	return !is_error_of(cell, rows[MEM_ROW].needles);
}

/* A library that cannot have a thread may end the process: the row names memory, too. */
static bool died_for_thread(const struct cell *cell, const struct confinement_facts *facts)
{
	return cell->state == CELL_DIED && row_holds(THREAD_ROW, facts) &&
	       error_text_line_end(&cell->text, rows[THREAD_ROW].needles, LINES_SEARCHED) != NULL;
}

static void explain_signal(struct buf *out, const struct cell *cell,
			   const struct session_limits *limits, enum policy_tier tier)
{
	if (cell->signal == SIGXFSZ)
		limit_texts_file(out, limits);
	if (cell->signal == SIGBUS && tier >= POLICY_BWRAP)
		limit_texts_bus_error(out, limits);
}

static void explain_stops(struct buf *out, const struct cell *cell,
			  const struct session_limits *limits)
{
	if (cell->memory_stopped > 0)
		limit_texts_memory_stop(out, cell, limits);
	if (cell->cpu_stopped_ms > 0)
		limit_texts_cpu_stop(out, cell, limits);
}

/* Returns whether an error was raised, or may be in what was printed. */
static bool has_error(const struct cell *cell)
{
	return cell->state == CELL_RAISED || (cell->state == CELL_DONE && cell->text.len > 0);
}

static void explain_limits(struct buf *out, const struct exec_result *result,
			   const struct confinement_facts *facts)
{
	const struct cell *cell = result->cell;
	const struct session_limits *limits = session_limits(result->session);
	enum policy_tier tier = facts->tier;

	if (died_for_thread(cell, facts))
		put_row(out, THREAD_ROW, cell, limits);
	else if (limit_hints_died_for_memory(cell))
		limit_texts_memory(out, limits);
	if (limit_hints_died_for_memory(cell) && cell->state != CELL_DIED)
		return;
	if (cell->state == CELL_DIED)
		explain_signal(out, cell, limits, tier);
	else
		explain_stops(out, cell, limits);
	limit_texts_cut(out, cell, limits);
	if (explain_full(out, cell, limits))
		return;
	if (cell->state == CELL_RUNNING || cell->state == CELL_TIMED_OUT ||
	    cell->state == CELL_INTERRUPTED)
		explain_program_line(out, cell, limits, facts);
	if (!has_error(cell))
		return;
	if (is_unix_socket(cell, facts)) {
		buf_puts(out, tier == POLICY_LANDLOCK
				      ? "Sockets and /dev/shm, which pools of multiprocessing "
					"need, are off in this tier of confinement: use threads.\n"
				      : "If that was a Unix socket: they are off in this "
					"session.\n");
		return;
	}
	if (is_shared(cell, facts)) {
		buf_puts(out, "It lies in a shared folder, but its permissions do not let code at "
			      "it. The user can change them, or share the folder with :rw.\n");
		return;
	}
	if (is_error_of(cell, no_space) && disk_is_full(session_workspace(result->session))) {
		buf_puts(out, "The disk that holds the session's folder is full, or can have no "
			      "more files. Delete what is not needed, or ask the user to make "
			      "room there.\n");
		return;
	}
	if (explain_row(out, cell, limits, facts, false) ||
	    (cell->state == CELL_RAISED && explain_row(out, cell, limits, facts, true)) ||
	    (tier >= POLICY_BWRAP && missing_file_explain(out, cell)))
		return;
	explain_program_line(out, cell, limits, facts);
}

void limit_hints_explain(struct buf *out, const struct exec_result *result,
			 const struct confinement_facts *facts)
{
	size_t before = out->len;

	explain_limits(out, result, facts);
	if (out->len > before)
		room_explain_ulimits(session_limits(result->session), buf_str(out) + before, out);
}
