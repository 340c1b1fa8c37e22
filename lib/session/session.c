/* SPDX-License-Identifier: MIT */
#include "session/session.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "event/loop.h"
#include "proc/sandbox_client.h"
#include "sandbox/policy.h"
#include "workspace/keeper.h"
#include "workspace/scan.h"

enum {
	LANGUAGES_MAX = 8,
	FILES_PER_COPY = 1000, /* paths handed to one helper; more follow in another */
};

/* A call from its submission to its answer. */
struct exec {
	struct list node;
	struct session *session;
	struct run *run;       /* NULL once the cell has ended */
	struct cell *cell;     /* then */
	struct runner *runner; /* held until the scan is done; else NULL */
	exec_done_fn *done;
	void *data;
	bool abandoned;
	size_t kept_to; /* changes before this one are kept, or no results */
	size_t kept_count;
	char *keep_problem; /* the first one */
};

/* Somebody who waits for a list of files. */
struct listing {
	struct list node;
	void (*done)(void *data, const struct scan *scan);
	void *data;
};

struct session {
	const struct session_host *host;
	char *id;
	uint64_t generation;
	char *notice;
	struct session_limits limits;
	struct workspace *workspace;
	struct sandbox *sandbox;
	struct scan *scan;
	struct keeper *keeper;
	struct runner *runners[LANGUAGES_MAX];
	size_t runner_count;
	uint64_t next_cell;
	uint64_t created_ms;
	uint64_t used_ms;

	struct list execs;    /* submitted: queued or running */
	struct list to_scan;  /* ended, their files not looked at */
	struct list to_keep;  /* looked at, their results not kept */
	struct exec *keeping; /* its copy is under way */
	struct list listings;
	struct loop_defer work; /* the next scan or copy */

	int counts_awaited; /* of session_count_children */
	int child_count;
	void (*counted)(struct session *session, int count, void *data);
	void *counted_data;
};

/* ---- ids ---- */

int session_id_check(const char *id, struct err *err)
{
	static const char rule[] = "session_id must be 1 to 64 characters of A-Z a-z 0-9 . _ -, "
				   "beginning with a letter or digit";
	size_t len = strlen(id);

	if (len == 0 || len > SESSION_ID_MAX || !isascii(id[0]) || !isalnum((unsigned char)id[0]))
		return err_set(err, ERR_INVALID, "%s", rule);
	for (size_t i = 0; i < len; i++)
		if (!isascii(id[i]) ||
		    (!isalnum((unsigned char)id[i]) && strchr("._-", id[i]) == NULL))
			return err_set(err, ERR_INVALID, "%s", rule);
	return 0;
}

/* ---- accessors ---- */

const char *session_id(const struct session *s)
{
	return s->id;
}

uint64_t session_generation(const struct session *s)
{
	return s->generation;
}

const struct workspace *session_workspace(const struct session *s)
{
	return s->workspace;
}

const char *session_keep_folder(const struct session *s)
{
	return keeper_folder(s->keeper);
}

const struct session_limits *session_limits(const struct session *s)
{
	return &s->limits;
}

uint64_t session_age_ms(const struct session *s)
{
	return loop_now(s->host->loop) - s->created_ms;
}

uint64_t session_idle_ms(const struct session *s)
{
	return session_busy(s) ? 0 : loop_now(s->host->loop) - s->used_ms;
}

void session_touch(struct session *s)
{
	s->used_ms = loop_now(s->host->loop);
}

const struct runner *session_runner(const struct session *s, size_t index)
{
	return index < s->runner_count ? s->runners[index] : NULL;
}

bool session_busy(const struct session *s)
{
	for (size_t i = 0; i < s->runner_count; i++)
		if (runner_busy(s->runners[i]))
			return true;
	return !list_empty(&s->execs) || !list_empty(&s->to_scan) || !list_empty(&s->to_keep) ||
	       s->keeping != NULL;
}

const char *session_state(const struct session *s)
{
	bool starting = false;

	for (size_t i = 0; i < s->runner_count; i++) {
		if (runner_state(s->runners[i]) == RUNNER_BUSY)
			return "running";
		starting = starting || runner_state(s->runners[i]) == RUNNER_STARTING;
	}
	return starting ? "starting" : "idle";
}

char *session_take_notice(struct session *s)
{
	return mem_steal(&s->notice);
}

static void add_notice(struct session *s, const char *text)
{
	char *joined = s->notice != NULL ? xasprintf("%s\n%s", s->notice, text) : xstrdup(text);

	free(s->notice);
	s->notice = joined;
}

/* ---- answers ---- */

static void exec_free(struct exec *exec)
{
	list_remove(&exec->node);
	cell_free(exec->cell);
	free(exec->keep_problem);
	free(exec);
}

static void answer(struct session *s, struct exec *exec)
{
	cleanup_free char *notice = NULL;
	struct exec_result result = { .session = s, .cell = exec->cell };

	session_touch(s);
	list_remove(&exec->node);
	if (!exec->abandoned) {
		notice = session_take_notice(s);
		result.notice = notice;
		result.keep_problem = exec->keep_problem;
		result.saved = exec->kept_count > 0 ? keeper_folder(s->keeper) : NULL;
		exec->done(exec, &result, exec->data);
	}
	exec_free(exec);
}

/* ---- keeping results ---- */

static bool is_result(const struct change *change)
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
		if (is_result(&cell->changes[exec->kept_to]))
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
			answer(s, exec);
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

static void scan_next(struct session *s)
{
	if (scan_running(s->scan) || (list_empty(&s->to_scan) && list_empty(&s->listings)))
		return;
	scan_start(s->scan, on_scanned);
}

static void on_work(struct loop_defer *defer)
{
	scan_next(container_of(defer, struct session, work));
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

/* ---- what runners tell ---- */

static void on_ended(struct runner *runner, struct cell *cell_own, void *data)
{
	struct session *s = runner_owner(runner);
	struct exec *exec = data;

	if (exec == NULL) { /* cancelled: its files are looked at all the same */
		exec = xcalloc(1, sizeof(*exec));
		list_init(&exec->node);
		exec->session = s;
		exec->abandoned = true;
	}
	exec->run = NULL;
	exec->cell = cell_own;
	exec->runner = runner;
	list_remove(&exec->node);
	list_append(&s->to_scan, &exec->node);
	scan_next(s);
}

static void on_lost(struct runner *runner, const char *why, bool told)
{
	struct session *s = runner_owner(runner);
	cleanup_free char *text = NULL;

	s->generation++;
	if (told)
		return;
	text = xasprintf("The %s state of session '%s' was lost: %s. Variables and imports are "
			 "gone, files are not; this is generation %ju.",
			 runner_language(runner)->name, s->id, why, (uintmax_t)s->generation);
	add_notice(s, text);
}

static uint64_t next_number(struct runner *runner)
{
	struct session *s = runner_owner(runner);

	return s->next_cell++;
}

static void on_starting(struct runner *runner)
{
	session_touch(runner_owner(runner));
}

static const struct runner_handlers runner_handlers = {
	.ended = on_ended,
	.lost = on_lost,
	.next_number = next_number,
	.starting = on_starting,
};

/* Opened late: the limits that hold for a whole sandbox may be set until its first interpreter. */
static struct sandbox *sandbox_of(struct session *s)
{
	struct policy policy;

	if (s->sandbox == NULL) {
		policy_init(&policy);
		policy.memory_max = s->limits.memory_max;
		s->sandbox =
			sandbox_open(s->host->launcher, &policy, workspace_data_fd(s->workspace));
	}
	return s->sandbox;
}

static struct runner *runner_for(struct session *s, const struct language *language)
{
	struct runner_context context = {
		.loop = s->host->loop,
		.sandbox = sandbox_of(s),
		.workspace = s->workspace,
		.language = language,
		.environment = s->host->settings->environment,
		.handlers = &runner_handlers,
		.owner = s,
		.spool_max = s->limits.spool_max,
		.output_chars = s->limits.output_chars,
	};

	for (size_t i = 0; i < s->runner_count; i++)
		if (runner_language(s->runners[i]) == language)
			return s->runners[i];
	assert(s->runner_count < LANGUAGES_MAX);
	s->runners[s->runner_count] = runner_new(&context);
	return s->runners[s->runner_count++];
}

struct query *session_query_variables(struct session *s, query_done_fn *done, void *data)
{
	return runner_query_variables(runner_for(s, language_find("python")), done, data);
}

int session_set_limits(struct session *s, const struct session_limits *limits, struct err *err)
{
	uint64_t now = 0;
	const char *key = settings_fixed_difference(&s->limits, limits, &now);

	if (s->sandbox != NULL && key != NULL)
		return err_set(err, ERR_INVALID,
			       "%s holds for a session from its first cell on; this one has %ju",
			       key, (uintmax_t)now);
	s->limits = *limits;
	keeper_set_quota(s->keeper, limits->keep_max);
	for (size_t i = 0; i < s->runner_count; i++)
		runner_set_limits(s->runners[i], s->limits.spool_max, s->limits.output_chars);
	return 0;
}

static void on_counted(struct runner *runner, int count)
{
	struct session *s = runner_owner(runner);

	s->child_count += count;
	if (--s->counts_awaited == 0)
		s->counted(s, s->child_count, s->counted_data);
}

void session_count_children(struct session *s,
			    void (*done)(struct session *session, int count, void *data),
			    void *data)
{
	if (s->counts_awaited > 0)
		return;
	s->counted = done;
	s->counted_data = data;
	s->child_count = 0;
	for (size_t i = 0; i < s->runner_count; i++)
		if (runner_count_children(s->runners[i], on_counted))
			s->counts_awaited++;
	if (s->counts_awaited == 0)
		done(s, 0, data);
}

/* ---- calls ---- */

struct exec *session_exec(struct session *s, const struct exec_request *request, exec_done_fn *done,
			  void *data, struct err *err)
{
	struct exec *exec = xcalloc(1, sizeof(*exec));
	uint64_t timeout_ms =
		request->timeout_ms > 0 ? request->timeout_ms : s->limits.exec_timeout * 1000;

	session_touch(s);
	list_init(&exec->node);
	list_append(&s->execs, &exec->node);
	exec->session = s;
	exec->done = done;
	exec->data = data;
	exec->run = runner_submit(runner_for(s, request->language), request->code,
				  request->code_len, timeout_ms, exec, err);
	if (exec->run == NULL) {
		exec_free(exec);
		return NULL;
	}
	return exec;
}

void session_exec_cancel(struct exec *exec)
{
	if (exec->run != NULL) {
		struct run *run = exec->run;

		exec_free(exec);
		runner_cancel(run);
		return;
	}
	exec->abandoned = true; /* it has run: only its files remain to be looked at */
}

/* ---- life ---- */

struct session *session_new(const struct session_host *host, const char *id, uint64_t generation,
			    char *notice_own, struct err *err)
{
	struct session *s = xcalloc(1, sizeof(*s));

	s->host = host;
	s->id = xstrdup(id);
	s->generation = generation;
	s->notice = notice_own;
	s->limits = host->settings->limits;
	s->next_cell = 1;
	s->created_ms = loop_now(host->loop);
	s->used_ms = s->created_ms;
	list_init(&s->execs);
	list_init(&s->to_scan);
	list_init(&s->to_keep);
	list_init(&s->listings);
	s->workspace = workspace_new(host->home, err);
	if (s->workspace == NULL) {
		free(s->notice);
		free(s->id);
		free(s);
		return NULL;
	}
	s->scan = scan_new(host->loop, s->workspace, s);
	s->keeper = keeper_new(host->loop, s->workspace, host->files_helper, host->settings->keep,
			       s->id, s);
	keeper_set_quota(s->keeper, s->limits.keep_max);
	scan_start(s->scan, on_scanned); /* an empty folder: the start of all comparing */
	return s;
}

/* A call that can no longer run to its end is answered with what there is. */
static void answer_ended(struct session *s, struct exec *exec, const char *why)
{
	if (exec->cell == NULL) {
		exec->cell = cell_new(s->next_cell++, "");
		exec->cell->state = CELL_NOT_STARTED;
		exec->cell->problem = xstrdup(why);
	}
	answer(s, exec);
}

static void answer_all(struct session *s, struct list *execs, const char *why)
{
	while (!list_empty(execs))
		answer_ended(s, list_entry(execs->next, struct exec, node), why);
}

void session_free(struct session *s, const char *why)
{
	cleanup_free char *reason = NULL;
	struct list *node;
	struct list *next;

	if (s == NULL)
		return;
	reason = xasprintf("the session ended because %s", why);
	for (size_t i = 0; i < s->runner_count; i++) {
		runner_end(s->runners[i], reason);
		runner_free(s->runners[i]);
	}
	s->runner_count = 0;
	answer_all(s, &s->execs, reason);
	answer_all(s, &s->to_scan, reason);
	answer_all(s, &s->to_keep, reason);
	list_for_each (node, next, &s->listings) {
		struct listing *listing = list_entry(node, struct listing, node);

		list_remove(&listing->node);
		listing->done(listing->data, NULL);
		free(listing);
	}
	loop_defer_stop(&s->work);
	keeper_free(s->keeper);
	scan_free(s->scan);
	s->host->retire(s->host->owner, s->sandbox, workspace_name(s->workspace));
	workspace_free(s->workspace);
	free(s->notice);
	free(s->id);
	free(s);
}
