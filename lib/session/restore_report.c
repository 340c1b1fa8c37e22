/* SPDX-License-Identifier: MIT */
/* restore_report.c - sentences for a model that must know what it can rely on. */
#include "session/restore_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/sanitize.h"
#include "workspace/aside.h"

enum { ENTRY_MAX = 400, PATH_CHARS_MAX = 4096, LISTS = 18 };

/* Sets the array to all lists of the report. */
static void get_lists(struct restore_report *report, struct restore_list *ret_lists[LISTS])
{
	struct restore_list *const lists[LISTS] = {
		&report->skipped,  &report->failed,  &report->lost,    &report->gone,
		&report->inputs,   &report->differs, &report->folders, &report->shares,
		&report->refused,  &report->hosts,   &report->active,  &report->open,
		&report->stays,    &report->cut,     &report->unknown, &report->closed,
		&report->unclosed, &report->scratch,
	};

	memcpy(ret_lists, lists, sizeof(lists));
}

void restore_report_init(struct restore_report *report, const char *session_id)
{
	struct restore_list *lists[LISTS];

	report->session_id = session_id;
	get_lists(report, lists);
	for (size_t i = 0; i < LISTS; i++)
		buf_init(&lists[i]->text, BUF_UNBOUNDED);
}

void restore_report_release(struct restore_report *report)
{
	struct restore_list *lists[LISTS];

	get_lists(report, lists);
	for (size_t i = 0; i < LISTS; i++)
		buf_release(&lists[i]->text);
	mem_cleanup(&report->stopped);
	mem_cleanup(&report->problem);
}

void restore_report_add(struct restore_list *list, const char *format, ...)
{
	char entry[ENTRY_MAX];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(entry, sizeof(entry), format, args);
	va_end(args);
	if (list->count++ >= RESTORE_LIST_MAX)
		return;
	buf_putf(&list->text, "%s%s", list->text.len > 0 ? ", " : "", entry);
	list->named++;
}

/* Adds a file that the list has in any case, with all of its name. `how` may be NULL. */
static void add_always(struct restore_list *list, const char *path, size_t len, const char *how)
{
	buf_puts(&list->text, list->text.len > 0 ? ", '" : "'");
	sanitize_line(&list->text, path, len, PATH_CHARS_MAX);
	buf_puts(&list->text, "'");
	if (how != NULL) {
		buf_puts(&list->text, " (");
		sanitize_line(&list->text, how, strlen(how), PATH_CHARS_MAX);
		buf_puts(&list->text, ")");
	}
	list->count++;
	list->named++;
}

void restore_report_add_closed(struct restore_report *report, const char *lines, size_t len)
{
	const char *end;

	if (len == 0)
		return;
	end = lines + len;
	while (lines < end) {
		const char *feed = memchr(lines, '\n', (size_t)(end - lines));
		const char *next = feed != NULL ? feed : end;

		if (next > lines && report->closed.count < RESTORE_CLOSED_MAX)
			add_always(&report->closed, lines, (size_t)(next - lines), NULL);
		else if (next > lines)
			report->closed.count++;
		lines = next + 1;
	}
}

void restore_report_add_files(struct restore_report *report, struct restore_list *list,
			      const struct aside_result *result)
{
	struct restore_list *const lists[ASIDE_LISTS] = { [ASIDE_CHANGED] = list,
							  [ASIDE_OPEN] = &report->open,
							  [ASIDE_UNKNOWN] = &report->unknown,
							  [ASIDE_STAYS] = &report->stays };
	size_t named[ASIDE_LISTS] = { 0 };

	for (size_t i = 0; i < result->found_count; i++) {
		const struct aside_found *file = &result->found[i];
		cleanup_free char *quoted = sanitize_quote(file->path);
		cleanup_free char *how = sanitize_quote(file->how);

		if (file->list == ASIDE_OPEN || file->list == ASIDE_STAYS)
			add_always(lists[file->list], file->path, strlen(file->path),
				   file->list == ASIDE_OPEN ? file->how : NULL);
		else
			restore_report_add(lists[file->list], "'%s' (%s)", quoted, how);
		named[file->list]++;
	}
	for (size_t i = 0; i < ASIDE_LISTS; i++)
		if (result->totals[i] > named[i])
			lists[i]->count += result->totals[i] - named[i];
}

/* Appends a line with the list, if there is one. */
static void put_list(struct buf *out, const char *before, const struct restore_list *list,
		     const char *after)
{
	if (list->count == 0)
		return;
	buf_putf(out, "\n%s%s", before, buf_str(&list->text));
	if (list->count > list->named)
		buf_putf(out, " and %zu more", list->count - list->named);
	buf_puts(out, after);
}

static const char *cells_were(size_t count)
{
	return count == 1 ? "cell was" : "cells were";
}

static void put_head(struct buf *out, const struct restore_report *report)
{
	double seconds = (double)report->ms / 1000;

	if (report->stopped == NULL && report->run == 0) {
		buf_putf(out, "No cell of session '%s' was run again.", report->session_id);
		return;
	}
	if (report->stopped == NULL) {
		buf_putf(out, "%zu %s run again in session '%s' (%.1f s)", report->run,
			 cells_were(report->run), report->session_id, seconds);
		if (report->problem == NULL)
			buf_putf(out, ": %s variables are back",
				 report->run == 1 ? "its" : "their");
		buf_puts(out, report->problem == NULL && report->gone.count > 0
				      ? ", but not all of those below."
				      : ".");
		return;
	}
	buf_putf(out,
		 "Running the cells of session '%s' again stopped at %s. %zu %s run again (%.1f s)",
		 report->session_id, report->stopped, report->run, cells_were(report->run),
		 seconds);
	if (report->left > 0)
		buf_putf(out, ", %zu after it %s not", report->left,
			 report->left == 1 ? "was" : "were");
	buf_puts(out, report->problem != NULL ? "."
		      : report->run > 0       ? ": only the variables of those that ran are back."
					      : ": no variable is back.");
}

static void put_files(struct buf *out, const struct restore_report *report)
{
	if (report->problem == NULL)
		buf_putf(out, " The files are as they were before%s%s%s.",
			 report->scratch_anew ? ", but for those in /tmp and /dev/shm" : "",
			 report->stays.count == 0 ? ""
			 : report->scratch_anew   ? " and new ones that stay"
						  : ", but for new ones that stay",
			 report->run > 0
				 ? "; values that came from chance, the clock or an earlier "
				   "version of a package may be others now"
				 : "");
	else
		buf_putf(out,
			 " But the files could not be put back under the new interpreters (%s). "
			 "These were ended, so no variable is back; the files are as they were "
			 "before%s.",
			 report->problem,
			 report->scratch_anew ? ", but for those in /tmp and /dev/shm" : "");
}

/* Appends what became of folders that are not put back. */
static void put_scratch(struct buf *out, const struct restore_report *report)
{
	if (!report->scratch_anew)
		return;
	buf_puts(out, report->problem == NULL
			      ? "\n/tmp and /dev/shm began empty, and have what the "
				"cells wrote again."
			      : "\n/tmp and /dev/shm are empty.");
	if (report->scratch.count == 0)
		return;
	buf_putf(out, " Gone are: %s", buf_str(&report->scratch.text));
	if (report->scratch.count > report->scratch.named)
		buf_putf(out, " and %zu more", report->scratch.count - report->scratch.named);
	buf_puts(out, ".");
}

/* Appends what became of files that cells left open, and of others that came out differently. */
static void put_open_files(struct buf *out, const struct restore_report *report)
{
	put_list(out,
		 "Handles and connections that cells left open do not reach these files. What is "
		 "written to one is lost, mostly without an error; open what is needed again: ",
		 &report->open, ".");
	put_list(out,
		 "It is not known whether cells left these files open. A handle or connection to "
		 "one would not reach it, so that what is written through it would be lost: ",
		 &report->unknown, ".");
	put_list(out,
		 "Databases and devices that cells left open were closed, because they write files "
		 "by name. Their files are those from before again, and new ones are removed: ",
		 &report->closed, ".");
	put_list(out,
		 "Interpreters that may still write over files from before, because they did not "
		 "close all databases of dbm.dumb or graphics devices: ",
		 &report->unclosed, ".");
	put_list(out,
		 "New files that stay beside those from before, because code has them open for "
		 "writing: ",
		 &report->stays, ".");
	put_list(
		out,
		"Files that came out differently when cells ran again (those from before count): ",
		&report->differs,
		". Where cells left one of them open to append text, that goes on in the file from "
		"before.");
}

/* Appends which hosts and shared folders the cells could reach. */
static void put_outside(struct buf *out, const struct restore_report *report)
{
	put_list(out, "Hosts that the cells reached once more: ", &report->hosts, ".");
	put_list(out, "Cells that tried to reach a host, which no cell can while it runs again: ",
		 &report->refused, ".");
	put_list(out,
		 report->outside ? "Shared folders, where cells could write once more if writable: "
		 : report->sockets
			 ? "Shared folders, where cells could read the files of today, lock them, "
			   "and not write (but to named pipes and sockets): "
			 : "Shared folders, where cells could read the files of today, lock them, "
			   "and not write (but to named pipes): ",
		 &report->folders, ".");
	put_list(out, "Cells whose code has the path of one (others may have used a variable): ",
		 &report->shares, ".");
	if (report->unconfined)
		buf_puts(out, "\nNothing confines code here: the cells have changed once more what "
			      "they change outside the session.");
}

/* Appends what goes on, as it may write to files that were put back. */
static void put_running(struct buf *out, const struct restore_report *report)
{
	if (report->processes == 0 && report->active.count == 0)
		return;
	buf_puts(out, "\nThe cells left running: ");
	if (report->processes > 0)
		buf_putf(out, "%zu %s", report->processes,
			 report->processes == 1 ? "process" : "processes");
	if (report->active.count > 0)
		buf_putf(out, "%sthreads, timers or connections in %s",
			 report->processes > 0 ? ", " : "", buf_str(&report->active.text));
	buf_puts(out, ". These go on, and may still write to the session's files.");
	if (report->holds)
		buf_putf(out,
			 " %s may reach hosts and write in shared folders, as far as the session "
			 "may.",
			 report->outside ? "They" : "From now on they");
}

/* Appends advice after a replay that stopped, or whose variables had to be given up. */
static void put_help(struct buf *out, const struct restore_report *report)
{
	if (report->stopped == NULL && report->problem == NULL)
		return;
	if (report->stopped != NULL && report->holds && !report->outside)
		buf_puts(out, "\nCells that run again change no file outside the session. If the "
			      "cell failed for that reason, and all cells may reach hosts and "
			      "write in shared folders once more, use action restore_outside.");
	if (report->problem != NULL)
		buf_putf(
			out,
			"\nrestore_run may fail again in this way. To run single cells, read their "
			"code in session://%s/script.",
			report->session_id);
	if (report->saved_cell > 0)
		buf_putf(out,
			 "\nAction restore_values brings the variables back that were saved after "
			 "cell %" PRIu64 ".",
			 report->saved_cell);
}

char *restore_report_text(const struct restore_report *report)
{
	struct buf out;

	buf_init(&out, BUF_UNBOUNDED);
	put_head(&out, report);
	put_files(&out, report);
	put_scratch(&out, report);
	put_list(
		&out,
		"Interpreters that ended while cells ran again, with the variables that they had then: ",
		&report->gone, ".");
	put_list(
		&out,
		"These interpreters did not end by themselves; files that they were writing may be cut off: ",
		&report->cut, ".");
	put_list(&out, "Not run: ", &report->skipped, ".");
	put_list(&out,
		 "Failed then, so not run, though names may have changed before: ", &report->failed,
		 ".");
	put_list(&out, "State was lost then before ", &report->lost,
		 ": this time it was not, so cells from there on may have found names that were "
		 "missing then.");
	put_list(&out, "Files that cells did not find, or may not have found, as they were then: ",
		 &report->inputs, ".");
	if (report->problem == NULL) /* else lists end early, and no cell has a file open */
		put_open_files(&out, report);
	put_outside(&out, report);
	put_running(&out, report);
	if (report->missing_cells > 0)
		buf_putf(&out, "\n%zu %s not in the record.", report->missing_cells,
			 report->missing_cells == 1 ? "cell is" : "cells are");
	if (report->generation > 0)
		buf_putf(&out,
			 "\nInterpreters that ran before were ended with their background "
			 "processes: this is generation %" PRIu64 ".",
			 report->generation);
	put_help(&out, report);
	return buf_steal(&out);
}
