/* SPDX-License-Identifier: MIT */
/*
 * session_keep.c - exports the results of cells, and inputs, one export at a time. An answer waits
 * for the export of its cell. If that is large, or waits for a large one, the answer waits WAIT_MS
 * and says that the results are being saved. The export then goes on behind the answers, and a
 * notice reports its end.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "journal/journal.h"
#include "session/session_internal.h"
#include "text/quotation.h"
#include "text/sanitize.h"
#include "workspace/beside.h"
#include "workspace/keeper.h"
#include "workspace/keeproom.h"
#include "workspace/keeptext.h"
#include "workspace/original.h"
#include "workspace/spool.h"

enum {
	FILES_PER_COPY = 1000, /* paths for one helper; the next one gets the rest */
	WAIT_MS = 200,
	SMALL_BYTES = 64 << 20, /* an answer waits for so many to the end */
};

static void on_kept(struct keeper *keeper, const struct keep_result *result);

/* ---- results of a cell ---- */

/* Says once of a folder that it cannot be looked into. */
static void tell_closed(struct session *s, struct execution *exec)
{
	const char *closed = scan_tell_closed(s->scan);
	cleanup_free char *name = NULL;
	cleanup_free char *text = NULL;

	if (closed == NULL)
		return;
	name = quotation_of_path(closed[0] != '\0' ? closed : ".");
	text = xasprintf("what is new in %s, as its permissions forbid reading that folder.", name);
	keeptext_add(&exec->keep_left, text);
}

static void choose_results(struct session *s, struct execution *exec)
{
	if (exec->keeps != NULL)
		return;
	exec->keeps = beside_choose(s->keeper, exec->cell->changes, exec->cell->change_count,
				    &exec->keep_left);
	tell_closed(s, exec);
}

static uint64_t results_bytes(const struct execution *exec)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < exec->cell->change_count; i++)
		if (exec->keeps[i])
			bytes += exec->cell->changes[i].file.size;
	return bytes;
}

/* Returns true if the export of a result has not begun. */
static bool has_results(const struct execution *exec)
{
	for (size_t i = exec->kept_to; i < exec->cell->change_count; i++)
		if (exec->keeps[i])
			return true;
	return false;
}

static void on_wait_over(struct loop_timer *timer);

/* Limits the wait of the answer, unless all that it waits for is small. */
static void wait_for(struct session *s, const struct execution *exec)
{
	if (s->behind.bytes + results_bytes(exec) > SMALL_BYTES &&
	    !loop_timer_active(&s->behind.wait))
		loop_timer_start(s->host->loop, &s->behind.wait, loop_now(s->host->loop) + WAIT_MS,
				 on_wait_over);
}

/* Returns whether failed exports of earlier cells must be retried with the cell's results. */
static bool has_owed(const struct session *s, const struct execution *exec)
{
	const char *owed;

	return !exec->kept_owed && keeper_count_due(s->keeper, &owed) > 0;
}

/*
 * Exports the next of a cell's results, and retries failed exports of earlier cells. Returns false
 * when nothing is left.
 */
static bool copy_more(struct session *s, struct execution *exec)
{
	const struct cell *cell = exec->cell;
	const char **paths;
	size_t count = 0;

	if (!has_results(exec) && !has_owed(s, exec))
		return false;
	paths = xcalloc(FILES_PER_COPY, sizeof(*paths));
	for (; exec->kept_to < cell->change_count && count < FILES_PER_COPY; exec->kept_to++)
		if (exec->keeps[exec->kept_to])
			paths[count++] = cell->changes[exec->kept_to].file.path;
	exec->kept_owed = true;
	s->keeping = exec;
	keeper_copy(s->keeper, paths, count, on_kept);
	wait_for(s, exec);
	free(paths);
	return true;
}

static void end_keeping(struct session *s, struct execution *exec)
{
	loop_timer_stop(&s->behind.wait);
	session_exec_kept(exec);
}

/* Returns false if the execution waits. */
static bool keep_more(struct session *s, struct execution *exec)
{
	if (s->host->settings->keep == NULL) {
		end_keeping(s, exec);
		return true;
	}
	choose_results(s, exec);
	if (s->behind.running && has_results(exec)) {
		wait_for(s, exec);
		return false;
	}
	if (s->behind.running || !copy_more(s, exec))
		end_keeping(s, exec);
	return true;
}

void session_keep_next(struct session *s)
{
	struct execution *exec;

	while (s->keeping == NULL && (exec = session_exec_in_state(s, EXEC_SAVING, NULL)) != NULL)
		if (!keep_more(s, exec))
			return;
}

/* ---- what no answer waits for ---- */

static void copy_behind(struct session *s)
{
	const char **paths = xcalloc(FILES_PER_COPY, sizeof(*paths));
	size_t count = 0;

	while (s->behind.at < s->behind.count && count < FILES_PER_COPY)
		paths[count++] = s->behind.paths[s->behind.at++];
	s->behind.running = true;
	keeper_copy(s->keeper, paths, count, on_kept);
	free(paths);
}

static void forget_paths(struct session *s)
{
	for (size_t i = 0; i < s->behind.count; i++)
		free(s->behind.paths[i]);
	mem_cleanup(&s->behind.paths);
	s->behind.count = 0;
	s->behind.at = 0;
}

/* Adds a result. It is due, should the session end before its export. */
static void add_path(struct session *s, const char *path)
{
	keeper_mark_due(s->keeper, path);
	s->behind.paths =
		xrealloc(s->behind.paths, (s->behind.count + 1) * sizeof(*s->behind.paths));
	s->behind.paths[s->behind.count++] = xstrdup(path);
}

/* Adds the results whose export has not begun. */
static void add_paths(struct session *s, struct execution *exec)
{
	const struct cell *cell = exec->cell;

	for (; exec->kept_to < cell->change_count; exec->kept_to++)
		if (exec->keeps[exec->kept_to])
			add_path(s, cell->changes[exec->kept_to].file.path);
}

/* Answers for a cell whose export takes longer. */
static void on_wait_over(struct loop_timer *timer)
{
	struct session *s = container_of(timer, struct session, behind.wait);
	struct execution *exec =
		s->keeping != NULL ? s->keeping : session_exec_in_state(s, EXEC_SAVING, NULL);

	if (exec == NULL)
		return;
	if (exec == s->keeping)
		s->behind.running = true;
	s->keeping = NULL;
	s->behind.bytes += results_bytes(exec);
	add_paths(s, exec);
	exec->saving = true;
	s->behind.announced = true;
	session_exec_kept(exec);
	session_keep_next(s);
}

static void report_problem(struct session *s, const char *problem)
{
	cleanup_free char *text = xasprintf("Results were not saved for the user: %s", problem);

	notices_add_sure(&s->notices, text);
}

static void report_left(struct session *s, const char *left)
{
	cleanup_free char *text = xasprintf("Not saved for the user: %s", left);

	notices_add_sure(&s->notices, text);
}

static void report_renamed(struct session *s, const char *renamed)
{
	cleanup_free char *text = xasprintf("Saved under another name: %s", renamed);

	session_add_notice(s, text);
}

static void report_saved(struct session *s)
{
	cleanup_free char *text =
		xasprintf("The results that were still being saved are saved in '%s' now.",
			  keeper_planned(s->keeper));

	notices_add_sure(&s->notices, text);
}

static void report_end(struct session *s)
{
	if (s->behind.problem != NULL)
		report_problem(s, s->behind.problem);
	else
		report_saved(s);
	s->behind.announced = false;
}

static void on_behind_kept(struct session *s, const struct keep_result *result)
{
	const char *path;

	s->behind.running = false;
	if (s->behind.problem == NULL && s->behind.announced && result->error != NULL)
		s->behind.problem = xstrdup(result->error);
	if (result->renamed != NULL)
		report_renamed(s, result->renamed);
	if (result->error != NULL && !s->behind.announced)
		report_problem(s, result->error);
	if (s->behind.at < s->behind.count) {
		copy_behind(s);
		return;
	}
	if (s->behind.announced)
		report_end(s);
	mem_cleanup(&s->behind.problem);
	forget_paths(s);
	if (keeper_count_due(s->keeper, &path) == 0)
		s->behind.bytes = 0;
	session_keep_next(s);
}

static void warn_of_total(struct session *s)
{
	cleanup_free char *text =
		s->host->keeproom == NULL ? NULL : keeproom_take_warning(s->host->keeproom);

	if (text != NULL)
		notices_add_sure(&s->notices, text);
}

static void on_kept(struct keeper *keeper, const struct keep_result *result)
{
	struct session *s = keeper_data(keeper);
	struct execution *exec = s->keeping;

	warn_of_total(s);
	if (exec == NULL) {
		on_behind_kept(s, result);
		return;
	}
	s->keeping = NULL;
	exec->kept_count += result->copied;
	if (exec->keep_problem == NULL && result->error != NULL)
		exec->keep_problem = xstrdup(result->error);
	if (result->renamed != NULL)
		keeptext_add(&exec->keep_renamed, result->renamed);
	session_keep_next(s); /* it is still the first in EXEC_SAVING */
}

/* ---- inputs ---- */

uint64_t session_original_room(const struct session *s)
{
	uint64_t most = s->limits.keep_max / 2;
	cleanup_original_list struct original_list all = { .files = NULL };

	if (journal_is_off(s->journal) ||
	    (!session_keeps_notebook(s) && s->host->settings->resume == 0))
		return 0;
	original_list(workspace_journal_fd(s->workspace), &all);
	return all.bytes < most ? most - all.bytes : 0;
}

void session_miss_original(struct session *s, const char *path, const char *why)
{
	cleanup_free char *name = quotation_of_path(path);
	cleanup_free char *reason = sanitize_quote(why);
	cleanup_free char *text = xasprintf(
		"%s is here, but its second copy could not be made (%s): the kept notebook lacks "
		"it, and cells that run again may find it as later cells left it.",
		name, reason);

	session_add_notice(s, text);
}

/* Exports what is due now, unless an export runs: the next one takes it along. */
static void copy_unless_busy(struct session *s)
{
	if (s->keeping == NULL && !s->behind.running)
		copy_behind(s);
}

void session_keep_new(struct session *s, const struct change *changes, size_t count)
{
	cleanup_free char *left = NULL;
	cleanup_free bool *keeps = NULL;
	const char *due;

	if (s->host->settings->keep == NULL)
		return;
	keeps = beside_choose(s->keeper, changes, count, &left);
	for (size_t i = 0; i < count; i++)
		if (keeps[i])
			add_path(s, changes[i].file.path);
	if (left != NULL)
		report_left(s, left);
	if (keeper_count_due(s->keeper, &due) > 0)
		copy_unless_busy(s);
}

void session_keep_inputs(struct session *s)
{
	cleanup_original_list struct original_list all = { .files = NULL };
	bool any = false;

	if (!s->begun || !session_keeps_notebook(s))
		return;
	original_list(workspace_journal_fd(s->workspace), &all);
	for (size_t i = 0; i < all.count; i++) {
		if (!keeper_mark_input(s->keeper, all.files[i].name))
			continue;
		s->behind.bytes += all.files[i].size;
		any = true;
	}
	if (any)
		copy_unless_busy(s);
}

void session_keep_first_inputs(struct session *s)
{
	if (s->begun)
		return;
	s->begun = true;
	session_keep_inputs(s);
}

/* ---- whole outputs ---- */

/* Marks it as due. Returns its path beside the notebook, or NULL. The caller frees it. */
static char *mark_output(struct session *s, uint64_t number, const char *file, uint64_t bytes)
{
	cleanup_free char *name = xasprintf("cell-%" PRIu64 ".txt", number);
	char *path = keeper_mark_output(s->keeper, file, name, bytes);

	if (path != NULL)
		s->behind.bytes += bytes;
	return path;
}

char *session_keep_output(struct session *s, uint64_t number, const char *language)
{
	cleanup_free char *text = NULL;
	cleanup_free char *file = spool_name(number, language);
	struct stat st;
	char *path = NULL;

	if (!session_keeps_notebook(s))
		return NULL;
	if (fstatat(workspace_spool_fd(s->workspace), file, &st, AT_SYMLINK_NOFOLLOW) == 0)
		path = mark_output(s, number, file, (uint64_t)st.st_size);
	if (path != NULL) {
		copy_unless_busy(s);
		return path;
	}
	text = xasprintf("The whole output of cell %" PRIu64 " is not saved for the user: it would "
			 "take more than half of what PTYCELL_KEEP_MAX leaves. A notebook has its "
			 "beginning.",
			 number);
	session_add_notice(s, text);
	return NULL;
}

static char *keep_earlier_output(void *data, const struct journal_line *line, const char *file,
				 uint64_t bytes)
{
	struct session *s = data;

	return session_keeps_notebook(s) ? mark_output(s, line->number, file, bytes) : NULL;
}

void session_keep_earlier_outputs(struct session *s)
{
	journal_export_outputs(s->journal, &(struct journal_outputs){ .name = spool_name,
								      .export = keep_earlier_output,
								      .data = s });
}

/* ---- the end of the session ---- */

void session_owe_results(struct session *s)
{
	struct execution *exec = NULL;

	while ((exec = session_exec_in_state(s, EXEC_SAVING, exec)) != NULL) {
		choose_results(s, exec);
		for (size_t i = exec->kept_to; i < exec->cell->change_count; i++)
			if (exec->keeps[i])
				keeper_mark_due(s->keeper, exec->cell->changes[i].file.path);
	}
}

void session_keep_now(struct session *s)
{
	const char *path;

	loop_timer_stop(&s->behind.wait);
	s->behind.running = s->behind.running || s->keeping != NULL;
	s->keeping = NULL; /* its execution is over */
	if (!s->behind.running && keeper_count_due(s->keeper, &path) > 0)
		copy_behind(s);
}

void session_keep_end(struct session *s)
{
	loop_timer_stop(&s->behind.wait);
	mem_cleanup(&s->behind.problem);
	forget_paths(s);
}

const char *session_keep_folder(const struct session *s)
{
	return keeper_folder(s->keeper);
}

const char *session_saving_folder(const struct session *s)
{
	return s->keeping != NULL || s->behind.running ? keeper_planned(s->keeper) : NULL;
}
