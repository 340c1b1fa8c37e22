/* SPDX-License-Identifier: MIT */
/* session_files.c - what comes after a cell: the scan, keeping results; lists of files. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "session/session_internal.h"
#include "workspace/keeper.h"
#include "workspace/scan.h"

enum { FILES_PER_COPY = 1000 /* paths handed to one helper; more follow in another */ };

/* ---- keeping results ---- */

bool session_is_result(const struct change *change)
{
	return change->kind != CHANGE_DELETED && !change->file.is_link &&
	       strncmp(change->file.path, "output/", 7) == 0;
}

static void on_kept(struct keeper *keeper, const struct keep_result *result);

/* Copies the next of a cell's results; false when there are none left. */
static bool copy_more(struct session *s, struct exec *exec)
{
	const struct cell *cell = exec->cell;
	const char **paths;
	size_t count = 0;

	if (s->host->settings->keep == NULL)
		return false;
	paths = xcalloc(FILES_PER_COPY, sizeof(*paths));
	for (; exec->kept_to < cell->change_count && count < FILES_PER_COPY; exec->kept_to++)
		if (session_is_result(&cell->changes[exec->kept_to]))
			paths[count++] = cell->changes[exec->kept_to].file.path;
	if (count > 0) {
		s->keeping = exec;
		keeper_copy(s->keeper, paths, count, on_kept);
	}
	free(paths);
	return count > 0;
}

static void keep_next(struct session *s)
{
	while (s->keeping == NULL && !list_empty(&s->to_keep)) {
		struct exec *exec = list_entry(s->to_keep.next, struct exec, node);

		if (!copy_more(s, exec))
			session_exec_kept(exec);
	}
}

static void on_kept(struct keeper *keeper, const struct keep_result *result)
{
	struct session *s = keeper_data(keeper);
	struct exec *exec = s->keeping;

	s->keeping = NULL;
	exec->kept_count += result->copied;
	if (exec->keep_problem == NULL && result->error != NULL)
		exec->keep_problem = xstrdup(result->error);
	keep_next(s); /* it is still the first of to_keep */
}

/* ---- looking at files ---- */

static void on_work(struct loop_defer *defer);

static void release_runner(struct exec *exec)
{
	struct runner *runner = exec->runner;

	exec->runner = NULL;
	if (runner != NULL)
		runner_next(runner);
}

static void on_scanned(struct scan *scan)
{
	struct session *s = scan_data(scan);
	struct list *node;
	struct list *next;
	size_t count;
	const struct change *changes = scan_changes(scan, &count);

	if (!list_empty(&s->to_scan)) {
		struct exec *exec = list_entry(s->to_scan.next, struct exec, node);

		cell_set_changes(exec->cell, changes, count);
		exec->cell->scan_capped = scan_capped(scan);
		list_remove(&exec->node);
		list_append(&s->to_keep, &exec->node);
		session_upload(exec);
		release_runner(exec);
	}
	list_for_each (node, next, &s->listings) {
		struct listing *listing = list_entry(node, struct listing, node);

		list_remove(&listing->node);
		listing->done(listing->data, scan);
		free(listing);
	}
	/* Others that ended meanwhile get a scan of their own. */
	if (!list_empty(&s->to_scan))
		loop_defer_start(s->host->loop, &s->work, on_work);
	keep_next(s);
}

void session_scan_first(struct session *s)
{
	scan_start(s->scan, on_scanned);
}

void session_scan_next(struct session *s)
{
	if (scan_running(s->scan) || (list_empty(&s->to_scan) && list_empty(&s->listings)))
		return;
	scan_start(s->scan, on_scanned);
}

static void on_work(struct loop_defer *defer)
{
	session_scan_next(container_of(defer, struct session, work));
}

void session_list_files(struct session *s, void (*done)(void *data, const struct scan *scan),
			void *data)
{
	struct listing *listing = xcalloc(1, sizeof(*listing));

	list_init(&listing->node);
	listing->done = done;
	listing->data = data;
	list_append(&s->listings, &listing->node);
	loop_defer_start(s->host->loop, &s->work, on_work);
}

static void on_touched_scanned(void *data, const struct scan *scan)
{
	(void)data;
	(void)scan; /* it is now what the next cell is compared with */
}

void session_files_touched(struct session *s)
{
	session_list_files(s, on_touched_scanned, s);
}

void session_list_files_cancel(struct session *s, void *data)
{
	struct list *node;
	struct list *next;

	list_for_each (node, next, &s->listings) {
		struct listing *listing = list_entry(node, struct listing, node);

		if (listing->data != data)
			continue;
		list_remove(&listing->node);
		free(listing);
	}
}

void session_end_listings(struct session *s)
{
	struct list *node;
	struct list *next;

	list_for_each (node, next, &s->listings) {
		struct listing *listing = list_entry(node, struct listing, node);

		list_remove(&listing->node);
		listing->done(listing->data, NULL);
		free(listing);
	}
}
