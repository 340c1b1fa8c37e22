/* SPDX-License-Identifier: MIT */
/*
 * session_keep.c - exports the results of cells, and inputs, one export at a time. An answer waits
 * for the export of its cell. If that is large, or waits for a large one, the answer waits WAIT_MS
 * and says that the results are being saved. The export then goes on behind the answers, and a
 * notice reports its end.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "journal/journal.h"
#include "session/session_internal.h"
#include "workspace/beside.h"
#include "workspace/keeper.h"
#include "workspace/keeptext.h"

enum {
	FILES_PER_COPY = 1000, /* paths for one helper; the next one gets the rest */
	WAIT_MS = 200,
	SMALL_BYTES = 64 << 20, /* an answer waits for so many to the end */
};

static void on_kept(struct keeper *keeper, const struct keep_result *result);

/* ---- results of a cell ---- */

static void choose_results(struct session *s, struct execution *exec)
{
	if (exec->keeps == NULL)
		exec->keeps = beside_choose(s->keeper, exec->cell->changes,
					    exec->cell->change_count, &exec->keep_left);
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

/*
 * Exports the next of a cell's results, and retries failed exports of earlier cells. Returns false
 * when nothing is left.
 */
static bool copy_more(struct session *s, struct execution *exec)
{
	const struct cell *cell = exec->cell;
	const char **paths = xcalloc(FILES_PER_COPY, sizeof(*paths));
	const char *owed;
	size_t count = 0;
	bool any;

	for (; exec->kept_to < cell->change_count && count < FILES_PER_COPY; exec->kept_to++)
		if (exec->keeps[exec->kept_to])
			paths[count++] = cell->changes[exec->kept_to].file.path;
	any = count > 0 || (!exec->kept_owed && keeper_count_due(s->keeper, &owed) > 0);
	if (any) {
		exec->kept_owed = true;
		s->keeping = exec;
		keeper_copy(s->keeper, paths, count, on_kept);
		wait_for(s, exec);
	}
	free(paths);
	return any;
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

/* Adds the results whose export has not begun. They are due, should the session end before it. */
static void add_paths(struct session *s, struct execution *exec)
{
	const struct cell *cell = exec->cell;

	for (; exec->kept_to < cell->change_count; exec->kept_to++) {
		const char *path = cell->changes[exec->kept_to].file.path;

		if (!exec->keeps[exec->kept_to])
			continue;
		keeper_mark_due(s->keeper, path);
		s->behind.paths =
			xrealloc(s->behind.paths, (s->behind.count + 1) * sizeof(*s->behind.paths));
		s->behind.paths[s->behind.count++] = xstrdup(path);
	}
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

static void report_end(struct session *s)
{
	cleanup_free char *text = NULL;

	if (s->behind.problem != NULL)
		text = xasprintf("Results were not saved for the user: %s", s->behind.problem);
	else
		text = xasprintf("The results that were still being saved are saved in '%s' now.",
				 keeper_planned(s->keeper));
	session_add_notice(s, text);
	s->behind.announced = false;
}

static void on_behind_kept(struct session *s, const struct keep_result *result)
{
	const char *path;

	s->behind.running = false;
	if (s->behind.problem == NULL && s->behind.announced && result->error != NULL)
		s->behind.problem = xstrdup(result->error);
	if (result->renamed != NULL)
		session_add_notice(s, result->renamed);
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

static void on_kept(struct keeper *keeper, const struct keep_result *result)
{
	struct session *s = keeper_data(keeper);
	struct execution *exec = s->keeping;

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

static void hold_input(struct session *s, const char *path)
{
	s->inputs = xrealloc(s->inputs, (s->input_count + 1) * sizeof(*s->inputs));
	s->inputs[s->input_count++] = xstrdup(path);
}

static void mark_input(struct session *s, const char *path)
{
	struct stat st;

	keeper_mark_input(s->keeper, path);
	if (fstatat(keeper_data_fd(s->keeper), path, &st, AT_SYMLINK_NOFOLLOW) == 0)
		s->behind.bytes += (uint64_t)st.st_size;
}

/* Exports inputs now, unless an export runs: the next one takes them along. */
static void copy_inputs(struct session *s)
{
	if (s->keeping == NULL && !s->behind.running)
		copy_behind(s);
}

void session_keep_input(struct session *s, const char *path)
{
	if (!session_keeps_notebook(s))
		return;
	if (!journal_has_run(s->journal)) {
		hold_input(s, path);
		return;
	}
	mark_input(s, path);
	copy_inputs(s);
}

static void forget_inputs(struct session *s)
{
	for (size_t i = 0; i < s->input_count; i++)
		free(s->inputs[i]);
	mem_cleanup(&s->inputs);
	s->input_count = 0;
}

void session_keep_first_inputs(struct session *s)
{
	if (s->input_count == 0)
		return;
	for (size_t i = 0; i < s->input_count; i++)
		mark_input(s, s->inputs[i]);
	forget_inputs(s);
	copy_inputs(s);
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

void session_keep_end(struct session *s)
{
	loop_timer_stop(&s->behind.wait);
	mem_cleanup(&s->behind.problem);
	forget_paths(s);
	forget_inputs(s);
}

const char *session_keep_folder(const struct session *s)
{
	return keeper_folder(s->keeper);
}
