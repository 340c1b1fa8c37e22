/* SPDX-License-Identifier: MIT */
/*
 * session_files.c - scans the folder after a cell, and lists files. One scan runs at a time. It
 * compares with the one before. Its changes belong to a cell only if that had ended when the scan
 * began, and no other code runs; otherwise they are disowned, so that the next scan finds them
 * again.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "session/session_internal.h"
#include "session/watchdog.h"
#include "text/sanitize.h"
#include "workspace/beneath.h"
#include "workspace/beside.h"
#include "workspace/keeper.h"
#include "workspace/scan.h"

enum {
	LOOKS_PART = 20, /* part of the time that scans for background writes may take */
	CELLS_PART = 16, /* part of disk_max that is reserved for cells */
};

/* ---- scans ---- */

static void on_scan_due(struct loop_defer *defer);

/* A file as the server stored it; `seen`: the current scan began later. */
struct placed {
	struct list node;
	struct file_info file;
	bool seen;
};

static bool is_placed(const struct session *s, const struct file_info *file)
{
	list_for_each (const struct placed, placed, &s->placed, node)
		if (placed->file.size == file->size && placed->file.mtime_ns == file->mtime_ns &&
		    str_eq(placed->file.path, file->path))
			return true;
	return false;
}

static void placed_free(struct placed *placed)
{
	list_remove(&placed->node);
	free(placed->file.path);
	free(placed);
}

/* Forgets files that a finished scan has seen: later scans are compared with that one. */
static void forget_placed(struct session *s)
{
	list_for_each (struct placed, placed, &s->placed, node)
		if (placed->seen)
			placed_free(placed);
}

static void start_scan(struct session *s, void (*done)(struct scan *scan))
{
	s->scanning_for_cell = session_exec_in_state(s, EXEC_SCANNING, NULL) != NULL;
	list_for_each (struct placed, placed, &s->placed, node)
		placed->seen = true;
	scan_start(s->scan, done);
}

/* Copies a scan's changes, without the files that the server stored. */
static void set_changes(const struct session *s, struct cell *cell, const struct scan *scan)
{
	size_t count;
	const struct change *changes = scan_changes(scan, &count);
	struct change *others;
	size_t kept = 0;

	if (list_empty(&s->placed)) {
		cell_set_changes(cell, changes, count);
		return;
	}
	others = xcalloc(count + 1, sizeof(*others));
	for (size_t i = 0; i < count; i++)
		if (changes[i].kind == CHANGE_DELETED || !is_placed(s, &changes[i].file))
			others[kept++] = changes[i];
	cell_set_changes(cell, others, kept);
	free(others);
}

static bool code_runs(const struct session *s)
{
	if (session_restore_changes_files(s))
		return true;
	for (size_t i = 0; i < s->language_count; i++)
		if (runner_state(s->languages[i].runner) == RUNNER_BUSY)
			return true;
	return false;
}

static void release_runner(struct execution *exec)
{
	struct runner *runner = exec->runner;

	exec->runner = NULL;
	if (runner != NULL)
		runner_next(runner);
}

static void on_walk(struct loop_defer *defer)
{
	struct session *s = container_of(defer, struct session, walk);
	struct listing *listing;

	if (list_empty(&s->walks)) {
		session_scan_next(s);
		return;
	}
	loop_defer_start(s->host->loop, &s->walk, on_walk);
	listing = list_entry(s->walks.next, struct listing, node);
	if (listing->step(listing->data, s->scan))
		return;
	list_remove(&listing->node);
	free(listing);
}

/* Answers all listings, with NULL when there is no list. */
static void answer_listings(struct session *s, const struct scan *scan)
{
	list_for_each (struct listing, listing, &s->listings, node) {
		list_remove(&listing->node);
		if (listing->step != NULL) {
			list_append(&s->walks, &listing->node);
			loop_defer_start(s->host->loop, &s->walk, on_walk);
			continue;
		}
		listing->done(listing->data, scan);
		free(listing);
	}
}

static void end_walks(struct session *s)
{
	loop_defer_stop(&s->walk);
	list_for_each (struct listing, listing, &s->walks, node) {
		list_remove(&listing->node);
		(void)listing->step(listing->data, NULL);
		free(listing);
	}
}

/* Adds changes by background processes to the exports that are due. */
static void owe_changes(struct session *s)
{
	size_t count;
	const struct change *changes = scan_changes(s->scan, &count);
	cleanup_free char *left = NULL;
	cleanup_free bool *keeps = beside_choose(s->keeper, changes, count, &left);

	for (size_t i = 0; i < count; i++)
		if (keeps[i] && !is_placed(s, &changes[i].file))
			keeper_mark_due(s->keeper, changes[i].file.path);
}

/* Reports changes by processes while no cell ran. */
static void report_changes(struct session *s, const struct scan *scan)
{
	size_t count;
	const struct change *changes = scan_changes(scan, &count);

	if (s->host->files_changed != NULL && count > 0)
		s->host->files_changed(s->host->owner, s, changes, count);
}

static void on_scanned(struct scan *scan)
{
	struct session *s = scan_data(scan);
	struct execution *exec = session_exec_in_state(s, EXEC_SCANNING, NULL);
	bool for_cell = s->scanning_for_cell && exec != NULL;
	bool counts = scan_error(scan) == 0 && (for_cell || (!code_runs(s) && exec == NULL));

	/*
	 * Changes of a cell that runs, or ended after this scan began, must be found again. So must
	 * changes that an error hid.
	 */
	if (!counts)
		scan_disown(scan);
	if (for_cell) {
		set_changes(s, exec->cell, scan);
		exec->cell->scan_capped = scan_capped(scan);
		exec->cell->scan_error = scan_error(scan);
		watchdog_take_scan(s->watchdog, scan_disk_bytes(scan));
		session_exec_set_state(exec, EXEC_SAVING);
		session_upload(exec);
		release_runner(exec);
	}
	session_find_missing(s);
	if (counts && !for_cell && s->restore == NULL) {
		owe_changes(s);
		report_changes(s, scan);
	}
	if (counts)
		forget_placed(s);
	if (!session_uploads_hold(s))
		answer_listings(s, scan);
	/* Cells that ended meanwhile get a scan of their own. */
	if (session_exec_in_state(s, EXEC_SCANNING, NULL) != NULL)
		session_scan_soon(s);
	session_keep_next(s);
}

void session_keep_last(struct session *s)
{
	if (s->displaced)
		keeper_forget_due(s->keeper);
	if (s->displaced || s->language_count == 0 || s->host->settings->keep == NULL)
		return;
	scan_finish(s->scan);
	session_owe_results(s);
	if (!scan_running(s->scan))
		start_scan(s, NULL);
	scan_finish(s->scan);
	if (scan_error(s->scan) != 0)
		log_warn("session", "'%s': not all results could be looked at: %s", s->id,
			 strerrordesc_np(scan_error(s->scan)));
	owe_changes(s);
}

void session_scan_first(struct session *s)
{
	start_scan(s, on_scanned);
}

void session_scan_next(struct session *s)
{
	bool wanted = session_exec_in_state(s, EXEC_SCANNING, NULL) != NULL ||
		      (!list_empty(&s->listings) && !session_uploads_hold(s));

	if (scan_running(s->scan) || !list_empty(&s->walks) || !wanted)
		return;
	start_scan(s, on_scanned);
}

static void on_scan_due(struct loop_defer *defer)
{
	session_scan_next(container_of(defer, struct session, work));
}

void session_scan_soon(struct session *s)
{
	loop_defer_start(s->host->loop, &s->work, on_scan_due);
}

static struct listing *add_listing(struct session *s, void *data)
{
	struct listing *listing = xcalloc(1, sizeof(*listing));

	list_init(&listing->node);
	listing->data = data;
	list_append(&s->listings, &listing->node);
	return listing;
}

void session_known_files(struct session *s, void (*done)(void *data, const struct scan *scan),
			 void *data)
{
	if (scan_running(s->scan))
		add_listing(s, data)->done = done;
	else
		done(data, s->scan);
}

void session_list_files(struct session *s, void (*done)(void *data, const struct scan *scan),
			void *data)
{
	session_uploads_renew(s);
	add_listing(s, data)->done = done;
	session_scan_soon(s);
}

void session_walk_files(struct session *s, bool (*step)(void *data, const struct scan *scan),
			void *data)
{
	session_uploads_renew(s);
	add_listing(s, data)->step = step;
	session_scan_soon(s);
}

static void on_placed_scanned(void *data, const struct scan *scan)
{
	(void)data;
	(void)scan; /* unless code runs, the next cell is compared with this scan */
}

static void on_files_looked(void *data, const struct scan *scan)
{
	struct session *s = data;
	uint64_t now = loop_now(s->host->loop);

	(void)scan;
	s->background_scan_ms = now + (now - s->background_scan_ms) * LOOKS_PART;
	s->background_scan = false;
}

void session_scan_in_background(struct session *s)
{
	uint64_t now = loop_now(s->host->loop);

	if (s->background_scan || now < s->background_scan_ms || code_runs(s) ||
	    s->host->files_watched == NULL || !s->host->files_watched(s->host->owner, s))
		return;
	s->background_scan_ms = now;
	s->background_scan = true;
	session_list_files(s, on_files_looked, s);
}

void session_file_placed(struct session *s, const char *path)
{
	cleanup_fd int fd = beneath_open(workspace_data_fd(s->workspace), path, O_PATH, 0);
	struct placed *placed;
	struct stat st;

	session_record(s);
	if (fd >= 0 && fstat(fd, &st) == 0) {
		placed = xcalloc(1, sizeof(*placed));
		list_init(&placed->node);
		placed->file.path = xstrdup(path);
		placed->file.size = (uint64_t)st.st_size;
		placed->file.mtime_ns =
			(uint64_t)st.st_mtim.tv_sec * 1000000000U + (uint64_t)st.st_mtim.tv_nsec;
		list_append(&s->placed, &placed->node);
	}
	session_list_files(s, on_placed_scanned, s);
}

uint64_t session_disk_room(const struct session *s)
{
	uint64_t max = s->limits.disk_max - s->limits.disk_max / CELLS_PART;
	uint64_t used = scan_disk_bytes(s->scan);

	return used < max ? max - used : 0;
}

static void drop_listings(struct list *listings, const void *data)
{
	list_for_each (struct listing, listing, listings, node) {
		if (listing->data != data)
			continue;
		list_remove(&listing->node);
		free(listing);
	}
}

void session_list_files_cancel(struct session *s, void *data)
{
	drop_listings(&s->listings, data);
	drop_listings(&s->walks, data);
}

void session_end_listings(struct session *s)
{
	loop_timer_stop(&s->renewal);
	while (!list_empty(&s->placed))
		placed_free(list_entry(s->placed.next, struct placed, node));
	answer_listings(s, NULL);
	end_walks(s);
}

char *session_unkept(const struct session *s)
{
	const char *path = NULL;
	size_t count = keeper_count_due(s->keeper, &path);
	cleanup_free char *name = NULL;

	if (count == 0)
		return NULL;
	name = sanitize_quote(path);
	return count == 1 ? xasprintf("'%s'", name)
			  : xasprintf("'%s' and %zu more", name, count - 1);
}
