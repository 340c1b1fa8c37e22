/* SPDX-License-Identifier: MIT */
/*
 * session.c - makes sessions and their runners. The sandbox is opened with the first cell, so that
 * limits which hold for a whole sandbox can be set before. When a sandbox dies, the folder lives on
 * in another one, which is opened once all runners are IDLE.
 */
#include "session/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "journal/journal.h"
#include "pool/pool.h"
#include "pool/slot.h"
#include "pool/zygote.h"
#include "proc/sandbox.h"
#include "proxy/proxy.h"
#include "runner/session_programs.h"
#include "runtime/python/packages.h"
#include "session/asking.h"
#include "session/refuser.h"
#include "session/session_internal.h"
#include "session/session_values.h"
#include "session/watchdog.h"
#include "transfer/uploads.h"
#include "workspace/aside.h"
#include "workspace/keeper.h"
#include "workspace/lostcells.h"
#include "workspace/scan.h"

/* ---- the sandbox ---- */

/* Starts the proxy, or gives its listener to `refuser`. Hosts hold for the session's life. */
static void on_listener(void *data, int listener_own)
{
	struct session *s = data;
	const struct settings *settings = s->host->settings;
	const uint64_t net_max = s->limits.net_max;
	const struct proxy_spec spec = { .helper = s->host->proxy_helper,
					 .hosts = settings->hosts,
					 .allow_private = settings->allow_private_hosts,
					 .bytes_max = s->net_bytes < net_max
							      ? net_max - s->net_bytes
							      : 0,
					 .environment = settings->environment };

	if (s->refuser != NULL)
		refuser_listen(s->refuser, listener_own);
	else
		s->proxy = proxy_new(s->host->loop, &spec, listener_own);
}

static void watch_listener(struct session *s)
{
	if (confinement_facts(s->host->confinement).reaches_hosts)
		sandbox_watch_listener(s->sandbox, on_listener, s);
}

/* Opens a sandbox, within the zygote sandbox of these descriptors unless they are NULL. */
static void open_sandbox(struct session *s, const int *zygote_sandbox_fds)
{
	s->sandbox = confinement_open(s->host->confinement, s->workspace, &s->limits,
				      zygote_sandbox_fds);
	session_programs_write(s->host->confinement, s->workspace);
	watch_listener(s);
	if (s->refuser != NULL)
		sandbox_seal(s->sandbox);
}

void session_hold_outside(struct session *s)
{
	s->refuser = refuser_new(s->host->loop);
}

bool session_allow_outside(struct session *s, void (*done)(void *data), void *data)
{
	int listener = s->refuser != NULL ? refuser_take_listener(s->refuser) : -1;
	bool held = s->refuser != NULL;

	refuser_free(s->refuser);
	s->refuser = NULL;
	if (listener >= 0)
		on_listener(s, listener);
	return held && s->sandbox != NULL && sandbox_lift_seal(s->sandbox, done, data);
}

/* Frees the proxy. Its bytes count for the next one. */
static void drop_proxy(struct session *s)
{
	const struct proxy_row *row;

	for (size_t i = 0; s->proxy != NULL && (row = proxy_row(s->proxy, i)) != NULL; i++)
		s->net_bytes += row->sent + row->received;
	proxy_free(s->proxy);
	s->proxy = NULL;
}

/*
 * Opens a new sandbox after the old one died with all its processes. It is not nested in the zygote
 * sandbox, whose death may be the reason. Only first interpreters are forked.
 */
static void renew_sandbox(struct session *s)
{
	for (size_t i = 0; i < s->language_count; i++)
		if (runner_state(s->languages[i].runner) != RUNNER_IDLE)
			return; /* its end is still to be reported; then on_moved is called */
	drop_proxy(s);
	sandbox_close(s->sandbox, NULL, NULL);
	open_sandbox(s, NULL);
	watchdog_move(s->watchdog);
	for (size_t i = 0; i < s->language_count; i++)
		runner_move(s->languages[i].runner, s->sandbox);
}

/* ---- runner handlers ---- */

void session_report_state(struct session *s)
{
	s->host->state_changed(s->host->owner, s);
	pool_defer_work(s->host->pool);
}

static uint64_t next_number(struct runner *runner)
{
	return session_take_number(runner_owner(runner));
}

static char *refusal(struct runner *runner)
{
	const struct session *s = runner_owner(runner);

	return s->host->refusal != NULL ? s->host->refusal(s->host->owner) : NULL;
}

static void on_starting(struct runner *runner)
{
	struct session *s = runner_owner(runner);
	struct execution *exec = runner_current(runner);

	exec->generation = s->generation;
	session_touch(s);
	session_report_state(s);
	watchdog_wake(s->watchdog);
	s->host->cell_began(s->host->owner, s, runner_cell(runner));
}

static void on_install(struct runner *runner, const char *of, const char *packages)
{
	struct session *s = runner_owner(runner);

	s->host->install(s->host->owner, s, runner_language(runner), runner_cell_number(runner), of,
			 packages);
}

static char *on_killed(struct runner *runner)
{
	struct session *s = runner_owner(runner);

	return watchdog_explain_kill(s->watchdog);
}

static void on_needs_sandbox(struct runner *runner)
{
	renew_sandbox(runner_owner(runner));
}

/* Wakes all runners when one becomes IDLE: in a dead sandbox the others waited for that. */
static void on_moved(struct runner *runner)
{
	const struct session *s = runner_owner(runner);

	for (size_t i = 0; runner_state(runner) == RUNNER_IDLE && i < s->language_count; i++)
		runner_wake(s->languages[i].runner);
}

const struct runner_handlers session_handlers = {
	.ended = session_on_ended,
	.lost = session_on_lost,
	.next_number = next_number,
	.refusal = refusal,
	.starting = on_starting,
	.waits = session_on_waits,
	.resumed = session_on_resumed,
	.unanswered = session_on_unanswered,
	.stuck = session_on_stuck,
	.overdue = session_on_overdue,
	.typed = session_on_typed,
	.late = session_on_late,
	.wrote = session_on_wrote,
	.install = on_install,
	.killed = on_killed,
	.needs_sandbox = on_needs_sandbox,
	.moved = on_moved,
};

void session_drop_slot(struct session *s)
{
	slot_free(s->slot);
	s->slot = NULL;
}

struct sandbox *session_unused_sandbox(struct session *s)
{
	cleanup_fd int listener = -1;
	uint64_t cpu_ms = 0;

	return s->slot != NULL ? slot_take_sandbox(s->slot, &listener, &cpu_ms) : NULL;
}

/* Returns NULL for a session with less memory than a forked interpreter needs. */
static const struct zygote *zygote_of(const struct session *s)
{
	return s->limits.memory_max >= SLOT_PRELOAD_MEMORY_MIN ? pool_zygote(s->host->pool) : NULL;
}

/* Opens the sandbox with the first interpreter: until then its limits may be set. */
static struct sandbox *sandbox_of(struct session *s)
{
	int listener = -1;
	uint64_t cpu_ms = 0;

	if (s->sandbox != NULL)
		return s->sandbox;
	if (s->slot != NULL)
		s->sandbox = slot_take_sandbox(s->slot, &listener, &cpu_ms);
	if (s->sandbox == NULL)
		open_sandbox(s, zygote_sandbox(zygote_of(s)));
	else if (listener >= 0)
		on_listener(s, listener);
	else
		watch_listener(s);
	s->watchdog = watchdog_new(s, cpu_ms);
	return s->sandbox;
}

/*
 * Returns true if the session has a package that the interpreter has itself in another version. An
 * interpreter that was prepared may have imported that version.
 */
static bool replaces_imported(const struct session *s, const struct language *language)
{
	struct interpreter_path path;
	struct err err;
	bool replaces;

	if (!language->preloads ||
	    confinement_locate(s->host->confinement, language, &path, &err) < 0)
		return false;
	replaces = python_packages_replace(path.path, workspace_packages_fd(s->workspace),
					   language->name);
	locate_release(&path);
	return replaces;
}

/* Takes the prestarted runner, if it is for this language and `prepared` ones may be used. */
static struct runner *runner_of(struct session *s, const struct runner_context *context,
				bool prepared)
{
	struct runner *runner = NULL;

	if (s->slot != NULL && prepared)
		runner = slot_take_runner(s->slot, context);
	session_drop_slot(s);
	return runner != NULL ? runner : runner_new(context);
}

struct session_language *session_language_of(struct session *s, const struct runner *runner)
{
	size_t i = 0;

	while (s->languages[i].runner != runner)
		i++;
	return &s->languages[i];
}

/*
 * Returns the context of a new runner. Its interpreter is forked only in the session's first
 * sandbox, because later ones are not nested in the zygote's, and only if it may be `prepared`
 * ahead.
 */
static struct runner_context context_of(struct session *s, const struct language *language,
					bool prepared)
{
	struct sandbox *sandbox = sandbox_of(s);

	return (struct runner_context){
		.loop = s->host->loop,
		.sandbox = sandbox,
		.workspace = s->workspace,
		.language = language,
		.confinement = s->host->confinement,
		.home = s->host->home,
		.handlers = s->handlers,
		.owner = s,
		.user_env = &s->host->settings->user_env,
		.redact = s->host->settings->redact,
		.holder = s->holder,
		.rules = s->host->code_rules,
		.zygote = language->preloads && prepared && !s->renewed
				  ? zygote_interpreter(zygote_of(s))
				  : NULL,
		.runs_again = session_restore_changes_files(s),
		.stop_grace_ms = s->host->settings->stop_grace * 1000,
		.memory_max = s->limits.memory_max,
		.processes_max = s->limits.processes_max,
		.spool_max = s->limits.spool_max,
		.output_chars = s->limits.output_chars,
	};
}

struct session_language *session_language_for(struct session *s, const struct language *language)
{
	struct session_language *lang;
	struct runner_context context;
	bool prepared;

	for (size_t i = 0; i < s->language_count; i++)
		if (runner_language(s->languages[i].runner) == language)
			return &s->languages[i];
	assert(s->language_count < LANGUAGES_MAX);
	prepared = !replaces_imported(s, language);
	context = context_of(s, language, prepared);
	lang = &s->languages[s->language_count++];
	lang->session = s;
	lang->runner = runner_of(s, &context, prepared);
	lang->last.language = language->name;
	list_init(&lang->observers);
	list_init(&lang->unreported);
	list_init(&lang->answered);
	pool_want(s->host->pool, language);
	return lang;
}

void session_restart(struct session *s)
{
	const struct language *languages[LANGUAGES_MAX] = { NULL };
	const size_t count = s->language_count;
	bool had_state = false;

	session_drop_slot(s);
	if (s->sandbox == NULL)
		return;
	for (size_t i = 0; i < count; i++) {
		had_state = had_state || runner_state(s->languages[i].runner) != RUNNER_IDLE;
		languages[i] = runner_language(s->languages[i].runner);
		runner_free(s->languages[i].runner);
		s->languages[i].runner = NULL;
	}
	s->generation += had_state ? 1 : 0;
	s->renewed = true;
	drop_proxy(s);
	sandbox_close(s->sandbox, NULL, NULL);
	open_sandbox(s, NULL);
	watchdog_move(s->watchdog);
	for (size_t i = 0; i < count; i++) {
		const struct runner_context context =
			context_of(s, languages[i], !replaces_imported(s, languages[i]));

		s->languages[i].runner = runner_new(&context);
	}
}

void session_handle_by(struct session *s, const struct runner_handlers *handlers)
{
	s->handlers = handlers;
	for (size_t i = 0; i < s->language_count; i++)
		runner_set_handlers(s->languages[i].runner, handlers);
}

struct runner_query *session_query_variables(struct session *s, size_t index, unsigned limit,
					     query_done_fn *done, void *data)
{
	if (index >= s->language_count)
		return NULL;
	return runner_query_variables(s->languages[index].runner, limit, done, data);
}

int session_set_limits(struct session *s, const struct session_limits *limits, struct err *err)
{
	bool changed;
	uint64_t now = 0;
	const char *key = settings_fixed_difference(&s->limits, limits, &now);

	if (s->sandbox != NULL && key != NULL)
		return err_set(err, ERR_INVALID,
			       "%s holds for a session from its first cell on; this one has %ju",
			       key, (uintmax_t)now);
	if (key != NULL)
		session_drop_slot(s);
	changed = memcmp(&s->limits, limits, sizeof(*limits)) != 0;
	s->limits = *limits;
	keeper_set_quota(s->keeper, limits->keep_max);
	session_uploads_limit(s);
	journal_set_max(s->journal, limits->journal_max);
	session_record_use(s, changed);
	for (size_t i = 0; i < s->language_count; i++)
		runner_set_limits(s->languages[i].runner, s->limits.spool_max,
				  s->limits.output_chars);
	return 0;
}

static struct runner *find_runner(const struct session *s, const struct language *language)
{
	for (size_t i = 0; i < s->language_count; i++)
		if (runner_language(s->languages[i].runner) == language)
			return s->languages[i].runner;
	return NULL;
}

void session_installed(struct session *s, const struct language *language, uint64_t cell, bool ok,
		       const char *text, const char *packages)
{
	struct runner *runner = find_runner(s, language);

	if (runner != NULL)
		runner_installed(runner, cell, ok, text, packages);
}

struct runner_query *session_query_imported(struct session *s, const struct language *language,
					    const char *packages, query_done_fn *done, void *data)
{
	struct runner *runner = find_runner(s, language);

	return runner != NULL ? runner_query_imported(runner, packages, done, data) : NULL;
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
	s->counted = done;
	s->counted_data = data;
	s->counts_awaited = 0;
	s->child_count = 0;
	for (size_t i = 0; i < s->language_count; i++)
		if (!runner_in_grace(s->languages[i].runner) &&
		    runner_count_children(s->languages[i].runner, on_counted))
			s->counts_awaited++;
	if (s->counts_awaited == 0)
		done(s, 0, data);
}

/* ---- life ---- */

static struct workspace *new_workspace(const struct session_host *host, struct err *err)
{
	struct workspace *workspace = workspace_new(host->home, err);

	if (workspace == NULL || confinement_adopt(host->confinement, workspace, err) == 0)
		return workspace;
	workspace_discard(workspace);
	return NULL;
}

static struct session *allocate(const struct session_host *host, const char *id,
				uint64_t generation)
{
	struct session *s = xcalloc(1, sizeof(*s));

	s->host = host;
	s->id = xstrdup(id);
	s->generation = generation;
	s->limits = host->settings->limits;
	s->handlers = &session_handlers;
	s->next_cell = 1;
	s->first_cell = 1;
	s->unreported_due = true;
	s->created_ms = loop_now(host->loop);
	s->used_ms = s->created_ms;
	list_init(&s->execs);
	list_init(&s->listings);
	list_init(&s->walks);
	list_init(&s->placed);
	return s;
}

/* Begins with the folder and the journal. */
static void begin(struct session *s)
{
	s->holder = holdings_join(s->host->holdings);
	s->scan = scan_new(s->host->loop, s->workspace, s);
	s->keeper = session_keeper_new(s);
	keeper_set_quota(s->keeper, s->limits.keep_max);
	session_uploads_new(s);
	session_ask_new(s);
	session_report_event(s, &(struct session_event){ .kind = SESSION_MADE });
	session_inspection_new(s);
	s->values = session_values_new(s);
	session_scan_first(s);
}

struct session *session_new(const struct session_host *host, const char *id, uint64_t generation,
			    char *notice_own, const struct language *first, struct err *err)
{
	struct session *s = allocate(host, id, generation);

	if (notice_own != NULL)
		notices_add(&s->notices, notice_own);
	free(notice_own);
	s->slot = pool_take(host->pool, first);
	s->workspace = s->slot != NULL ? slot_take_workspace(s->slot) : new_workspace(host, err);
	if (first != NULL)
		pool_want(host->pool, first);
	if (s->workspace == NULL) {
		notices_release(&s->notices);
		free(s->id);
		free(s);
		return NULL;
	}
	s->journal = journal_new(workspace_journal_fd(s->workspace), s->id, s->limits.journal_max,
				 host->settings->record_output, host->settings->redact);
	if (host->settings->record == RECORD_OFF)
		journal_turn_off(s->journal);
	begin(s);
	return s;
}

struct session *session_resume(const struct session_host *host, const char *id,
			       const struct session_earlier *earlier)
{
	struct session *s = allocate(host, id, earlier->generation + 1);
	struct lostcells *lost;

	s->workspace = earlier->workspace_own;
	s->next_cell = earlier->next_cell;
	s->resumed = true;
	s->verifies = !earlier->exported;
	if (earlier->limits != NULL)
		session_resume_limits(s, earlier->limits);
	session_resume_journal(s);
	s->first_cell = s->next_cell;
	session_record(s);
	lost = lostcells_take(workspace_journal_fd(s->workspace));
	begin(s);
	session_keep_earlier_outputs(s);
	session_report_lost(s, lost);
	(void)aside_remove_spent(host->loop, s->workspace, host->files_helper, NULL, NULL);
	return s;
}
